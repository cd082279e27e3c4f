import { describe, expect, test } from "vitest";
import type { z } from "zod";
import type { CrewConfig } from "@/server/domain/crew";
import type { ExecutionPlan } from "@/server/domain/plan";
import { RoleDefinition } from "@/server/domain/role";
import type { RunState } from "@/server/domain/run";
import { draw } from "@/server/domain/testing/drawing";
import type { Json } from "@/server/domain/values";
import type { ModelAnswer, ModelRequest, Models } from "@/server/llm/model";
import { newScriptedModels, type ScriptedStep } from "@/server/llm/scripted";
import { cutAt, newStage } from "../testing";

type Answer = (request: ModelRequest) => ScriptedStep;

/** A model that answers from the request alone, so that it is the same before a crash and after it. */
function modelsOf(answer: Answer): Models & { asked: string[] } {
  const asked: string[] = [];
  return {
    ...newScriptedModels(),
    asked,
    complete(request, io): Promise<ModelAnswer> {
      asked.push(JSON.stringify(request.messages));
      return newScriptedModels([answer(request)]).complete(request, io);
    },
  };
}

const roles = ["Lead", "Worker", "Checker"].map((name) => RoleDefinition.parse({ name }));
const agents = [
  { agent_id: "lead", role_name: "Lead" },
  { agent_id: "worker", role_name: "Worker" },
  { agent_id: "checker", role_name: "Checker" },
];

interface Case {
  crew: Partial<z.input<typeof CrewConfig>>;
  plan?: z.input<typeof ExecutionPlan>;
  answer: Answer;
}

const who = ({ messages }: ModelRequest) => /You are (\w+)/.exec(messages[0]!.content)![1]!;
const last = ({ messages }: ModelRequest) => messages.at(-1)!.content;
const text = (words: string): ScriptedStep => ({ text: words });
const json = (value: Json): ScriptedStep => ({ json: value });
const yes = { answer: true, reason: "so" };
const no = { answer: false, reason: "not so" };

const plan: z.input<typeof ExecutionPlan> = {
  tasks: [
    { task_id: "left", description: "do the left part", required_role: "Worker" },
    { task_id: "right", description: "do the right part", required_role: "Checker" },
    {
      task_id: "whole",
      description: "join the parts",
      required_role: "Lead",
      dependencies: ["left", "right"],
    },
  ],
};

const cases: Record<string, Case> = {
  sequential: { crew: { process: "sequential" }, plan, answer: (request) => text(`${who(request)} is done`) },
  parallel: { crew: { process: "parallel" }, plan, answer: (request) => text(`${who(request)} is done`) },
  "parallel, with a plan of its planner": {
    crew: { process: "parallel", planning: true },
    answer: (request) =>
      request.response
        ? json({
            tasks: ["Worker", "Checker"].map((role, at) => ({
              task_id: `part_${at}`,
              description: "a part",
              required_role: role,
              dependencies: at === 0 ? [] : ["part_0"],
              expected_output: "text",
            })),
          })
        : text(`${who(request)} is done`),
  },
  "a task that fails and a new plan": {
    crew: { process: "sequential", on_task_failure: "replan", manager: { agent_id: "lead" } },
    plan: {
      tasks: [
        { task_id: "hard", description: "do what cannot be done", required_role: "Worker" },
        { task_id: "after", description: "go on", required_role: "Checker", dependencies: ["hard"] },
      ],
    },
    answer: (request) => {
      if (request.response)
        return json({
          tasks: [
            {
              task_id: "easy",
              description: "do something else",
              required_role: "Checker",
              dependencies: [],
              expected_output: "text",
            },
          ],
        });
      return who(request) === "Worker" ? { refusal: "no" } : text("done another way");
    },
  },
  hierarchical: {
    crew: { process: "hierarchical", manager: { agent_id: "lead" } },
    answer: (request) => {
      if (!request.response) return text(`${who(request)} replies`);
      const came = request.messages.filter(({ content }) => / replies:\n/.test(content)).length;
      const to = ["worker", "checker", "User"][came]!;
      return json({
        plan: ["ask both", "answer"],
        current_plan_step: `step ${came}`,
        send_to: to,
        message: `message ${came}`,
        ledger: {
          is_request_satisfied: to === "User" ? yes : no,
          is_in_loop: no,
          is_progress_being_made: yes,
        },
        stop: to === "User" ? "Completed" : null,
      });
    },
  },
  swarm: {
    crew: { process: "swarm", entry_agent: "lead" },
    answer: (request) => {
      const to = { Lead: "worker", Worker: "checker" }[who(request)];
      return to === undefined
        ? text("answered at last")
        : {
            tool_calls: [
              {
                id: `call_${to}`,
                tool_name: "handoff",
                args: { destination_agent: to, reason: `for ${to}`, context: { from: who(request) } },
              },
            ],
          };
    },
  },
  delegation: {
    crew: {
      process: "sequential",
      agents: agents.map((agent) => ({ ...agent, allow_delegation: agent.agent_id === "lead" })),
    },
    plan: { tasks: [{ task_id: "whole", description: "do it", required_role: "Lead" }] },
    answer: (request) =>
      who(request) === "Lead" && !request.messages.some(({ role }) => role === "tool")
        ? {
            tool_calls: ["worker", "checker"].map((coworker) => ({
              id: `call_${coworker}`,
              tool_name: "delegate_task",
              args: { coworker, task: "a part" },
            })),
          }
        : text(`${who(request)} is done`),
  },
  consensus: {
    crew: {
      process: "consensus",
      manager: { agent_id: "lead" },
      consensus: { rule: "unanimous", tie: "reject" },
    },
    answer: (request) => {
      if (!/Vote on this proposal/.test(last(request)))
        return json({ decision: "do it", rationale: "why not" });
      const isSecond = /Votes of the round before/.test(last(request));
      return json({
        vote: isSecond || who(request) !== "Checker" ? "approve" : "reject",
        reasoning: "because",
        confidence: 0.5,
      });
    },
  },
  custom: {
    crew: {
      process: "custom",
      collaboration_patterns: [
        {
          name: "cycle",
          type: "custom",
          workflow: [
            { step: "make", agent: "worker", next_on_success: "check" },
            { step: "check", agent: "checker", next_on_approve: "done", next_on_reject: "worker" },
          ],
        },
      ],
    },
    answer: (request) => {
      if (who(request) === "Worker") return json({ outcome: "success", summary: "made" });
      const isSecond = /\bcheck: not yet/.test(last(request));
      return json(
        isSecond ? { outcome: "approve", summary: "good" } : { outcome: "reject", summary: "not yet" },
      );
    },
  },
};

/** What a run came to, without the times at which it did. */
const told = ({ run, state, agents, crews, plans }: RunState) =>
  JSON.parse(
    JSON.stringify({
      status: run.final_status,
      state,
      agents: Object.values(agents)
        .map(({ key, status, messages }) => ({ key, status, messages }))
        .sort((a, b) => (a.key < b.key ? -1 : 1)),
      crews,
      plans,
    }),
    (key, value: unknown) => (/^(?:at|seq|.*_at)$/.test(key) ? undefined : value),
  ) as object;

describe("a crew whose server stops after any turn comes to the same result", () => {
  for (const [name, { crew, plan: given, answer }] of Object.entries(cases))
    test(name, async () => {
      const graph = draw("start > crew > end", {
        crew: {
          node_type: "crew_task",
          output_keys: ["result"],
          config: {
            plan_description_template: "the goal",
            crew: { agents, ...crew },
            ...(given ? { plan: given } : {}),
          },
        } as never,
      });
      const models = modelsOf(answer);
      const whole = newStage({ models });
      const first = await whole.run(graph, { roles });
      expect(first.state.run).toMatchObject({ final_status: "COMPLETED" });
      const turns = whole.store.journal(first.id).turns.length;
      expect(turns).toBeGreaterThan(5);
      for (let cut = 1; cut < turns; cut++) {
        const db = cutAt(whole, first.id, cut);
        const known = newStage({ db })
          .store.events(first.id, 0, 1e6)
          .filter(({ type }) => type === "llm_call_completed").length;
        const again = modelsOf(answer);
        const stage = newStage({ db, models: again });
        stage.host.recover();
        await stage.host.settled(first.id);
        expect({ cut, ...told(stage.store.state(first.id)!) }).toEqual({
          cut,
          ...told(first.state),
        });
        // Answers that were known are not asked for again.
        expect({ cut, asked: again.asked.length }).toEqual({ cut, asked: models.asked.length - known });
      }
    });
});
