import { expect } from "vitest";
import type { z } from "zod";
import { crewGraph, newScriptedStage, role } from "@/server/conformance/stage";
import { RoleDefinition } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { parseJson } from "@/server/domain/base/json";
import type { Json } from "@/server/domain/base/values";
import type { CrewConfig } from "@/server/domain/crew/crew";
import type { ExecutionPlan } from "@/server/domain/crew/plan";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";
import type { ModelAnswer, ModelRequest, Models } from "@/server/llm/model";
import { newScriptedModels, type ScriptedStep } from "@/server/llm/scripted";

// A crew for each way of working, and a model that lets it come to an end.

export type Answer = (request: ModelRequest) => ScriptedStep;

/** A model that answers from the request alone, so that it is the same before a crash and after it. */
export function modelsOf(answer: Answer): Models & { asked: string[] } {
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

export const roles = ["Lead", "Worker", "Checker"].map((name) => RoleDefinition.parse({ name }));
const agents = [
  { agent_id: "lead", role_name: "Lead" },
  { agent_id: "worker", role_name: "Worker" },
  { agent_id: "checker", role_name: "Checker" },
];

export interface Case {
  crew: Partial<z.input<typeof CrewConfig>>;
  plan?: z.input<typeof ExecutionPlan>;
  answer: Answer;
}

const who = ({ messages }: ModelRequest) => /You are (\w+)/.exec(messages[0]!.content)![1]!;
const last = ({ messages }: ModelRequest) => messages.at(-1)!.content;
const text = (content: string): ScriptedStep => ({ text: content });
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

export const cases: Record<string, Case> = {
  sequential: {
    crew: { process: "sequential" },
    plan,
    answer: (request) => text(`${who(request)} finished`),
  },
  parallel: { crew: { process: "parallel" }, plan, answer: (request) => text(`${who(request)} finished`) },
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
        : text(`${who(request)} finished`),
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
      const came = request.messages.filter(({ content }) => /<reply from=/.test(content)).length;
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
        : text(`${who(request)} finished`),
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
      const isSecond = /The round before, /.test(last(request));
      return json({
        vote: isSecond || who(request) !== "Checker" ? "approve" : "reject",
        reasoning: "because",
        confidence: 0.5,
      });
    },
  },
  "sample and vote": {
    crew: { process: "sample", samples: 3 },
    answer: ({ call_id }) => text(/sample-1/.test(call_id) ? "another answer" : "the answer"),
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
      const isSecond = /task="check">not yet/.test(last(request));
      return json(
        isSecond ? { outcome: "approve", summary: "good" } : { outcome: "reject", summary: "not yet" },
      );
    },
  },
};

/** A workflow of that one crew. */
export const graphOf = ({ crew, plan: given }: Case, node: Record<string, Json> = {}): WorkflowGraph =>
  draw("start > crew > end", {
    crew: {
      node_type: "crew_task",
      output_keys: ["result"],
      config: parseJson(
        JSON.stringify({
          plan_description_template: "the goal",
          crew: { agents, ...crew },
          ...defined({ plan: given }),
        }),
      ),
      ...node,
    },
  });

type Answered = Parameters<ReturnType<typeof newScriptedStage>["host"]["steering"]["answer"]>[3];

/** Runs a crew whose questions a person answers with these, one after the other; then nobody answers. */
export async function runAsked(
  steps: readonly ScriptedStep[],
  crew: z.input<typeof CrewConfig>,
  answers: readonly Omit<Answered, "by">[],
  { plan, keys = ["result"] }: { plan?: z.input<typeof ExecutionPlan>; keys?: readonly string[] } = {},
) {
  const stage = newScriptedStage(steps);
  const graph = crewGraph(crew, plan);
  Object.assign(graph.nodes.crew ?? {}, { output_keys: [...keys] });
  const id = stage.start(graph, {
    roles: [...new Set(crew.agents.map(({ role_name }) => role_name))].map((name) => role(name)),
  });
  const state = () => stage.store.state(id);
  const answered = new Set<string>();
  const open = () =>
    Object.values(state()?.interactions ?? {}).find((one) => one.status === "open" && !answered.has(one.id));
  const asked: { title: string; why: string }[] = [];
  for (const answer of answers) {
    await expect.poll(() => open() !== undefined || stage.store.find(id)?.status === "finished").toBe(true);
    const question = open();
    if (!question) break;
    answered.add(question.id);
    asked.push({ title: question.requested.title, why: question.requested.why });
    stage.host.steering.answer(id, question.id, question.requested.fingerprint, { ...answer, by: "ann" });
  }
  await stage.host.settled(id);
  return {
    state: stage.store.state(id)!,
    events: stage.store.events(id, 0, 1e6),
    models: stage.models,
    asked,
  };
}
