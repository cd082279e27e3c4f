import { expect, test } from "vitest";
import { z } from "zod";
import { agent, as, call, calls, crewGraph, role, tool } from "@/server/conformance/stage";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { ScenarioTest } from "@/server/domain/scenario/scenario-test";
import { draw } from "@/server/domain/testing/drawing";
import type { ToolQuestion } from "@/server/domain/tool/tool";
import { ModelError, type Models } from "@/server/llm/model";
import { newScriptedModels, type ScriptedStep } from "@/server/llm/scripted";
import type { ToolInterface, ToolScope } from "@/server/tools/define";
import { obstacle } from "../replay/recorded-answers";
import type { Answering } from "../scenario/answering";
import { runScenario } from "../scenario/run-scenario";
import { fakeTools } from "../testing";

/*
 * What becomes of questions that nobody answers until their time is over, days later: in a time of its own, which passes at once.
 */

interface Silent {
  graph: WorkflowGraph;
  roles?: ReturnType<typeof role>[];
  models?: Models;
  tools?: ToolInterface[];
  config?: object;
  serve?: Answering["serve"];
}

/** Carries a run out in which nobody answers; what was asked, how it ended, and what its tools did. */
async function inSilence({ graph, roles = [], models, tools = [], config, serve }: Silent) {
  const host = fakeTools(tools);
  const fields = ScenarioTest.parse({
    id: "silent",
    name: "Silent",
    people: Array.from({ length: 5 }, () => ({ answer: "expired" })),
    ...(config ? { config } : {}),
  });
  const { state } = await runScenario({ name: "Silent", graph, roles }, fields, {
    effects: { models: models ?? newScriptedModels(), tools: host },
    serve: serve ?? (() => undefined),
    unused: () => 0,
  });
  const { run } = state;
  return {
    asked: Object.values(state.interactions).map(({ requested, answered }) => [
      requested.kind,
      answered?.answer,
    ]),
    ended: [run.final_status, run.reason_code],
    message: run.error?.message ?? null,
    calls: host.calls,
    state: state.state,
  };
}

const script = (...steps: ScriptedStep[]) => newScriptedModels(steps);
const work = (more: object = {}) =>
  draw("start > work > end", {
    work: {
      node_type: "agent_task",
      output_keys: ["answer"],
      config: { required_role: "Worker", task_description_template: "Work.", ...more },
    },
  });
const act = draw("start > act > end", {
  act: { node_type: "tool_call", output_keys: ["done"], config: { tool_name: "send", args: { text: "x" } } },
});
const send = tool("send", { risk: "LOW", read_only: false });
const NEVER_ASK = { confirmation: { kind: "never" as const } };

const ledger = (stop: string) => ({
  json: {
    plan: ["answer"],
    current_plan_step: "answer",
    ledger: Object.fromEntries(
      ["is_request_satisfied", "is_in_loop", "is_progress_being_made"].map((key) => [
        key,
        { answer: false, reason: "so" },
      ]),
    ),
    send_to: "User",
    message: "Which owl?",
    stop,
  },
});
const vote = (who: string, choice: string) =>
  as(who, { json: { vote: choice, reasoning: "because", confidence: 0.5 } });

const FOR_WHOM: ToolQuestion = {
  from: "travel",
  message: "For whom?",
  schema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
};
/** A tool that asks a person before it does anything. */
const asking = (): ToolInterface => ({
  ...tool("send", { input: z.object({ text: z.string() }) }),
  async execute(_input: unknown, { answers = [] }: ToolScope) {
    const [answer] = answers;
    return answer
      ? { status_code: 200, output: answer.action }
      : { status_code: 409, error: "It asks.", asks: FOR_WHOM };
  },
});

const dear: Models = {
  ...newScriptedModels(),
  async complete() {
    throw new ModelError({
      code: "BUDGET",
      message: "The next call could exceed the budget.",
      retryable: false,
      user_action: "raise_limit",
      detail: { metric: "total_tokens", used: 0, limit: 10 },
    });
  },
};

const rows: [string, Silent, Record<string, unknown>][] = [
  [
    "an unanswered tie of votes stays a tie and approves nothing",
    {
      graph: crewGraph({
        process: "consensus",
        agents: [agent("ann"), agent("bob")],
        manager: agent("chair"),
        consensus: { rule: "majority", rounds: 1, tie: "human" },
      }),
      roles: ["ann", "bob", "chair"].map((name) => role(name)),
      models: script(
        { json: { decision: "do it", rationale: "why not" } },
        vote("ann", "approve"),
        vote("bob", "reject"),
        vote("chair", "abstain"),
      ),
    },
    {
      asked: [["tie", "expired"]],
      ended: ["COMPLETED", "END_REACHED"],
      state: { result: expect.objectContaining({ outcome: "tie", approved: false }) as unknown },
    },
  ],
  [
    "a mediator with an unanswered question fails and names the question",
    {
      graph: crewGraph({ process: "hierarchical", agents: [agent("Manager"), agent("worker")] }),
      roles: [role("Manager"), role("worker")],
      models: script(ledger("Clarification")),
    },
    {
      asked: [["escalation", "expired"]],
      ended: ["ERROR", "HUMAN_TIMEOUT"],
      message: "crew had an unanswered question: Which owl?",
    },
  ],
  [
    "an agent stuck in a loop is stopped if its question is unanswered",
    {
      graph: work(),
      roles: [role("Worker", ["look"])],
      tools: [tool("look")],
      config: { on_stuck: "nudge_then_escalate" },
      models: script(...Array.from({ length: 30 }, () => calls(call("look", { text: "x" })))),
    },
    {
      asked: [["escalation", "expired"]],
      ended: ["ERROR", "STUCK"],
      calls: Array.from({ length: 5 }, () => 'Worker look {"text":"x"}'),
    },
  ],
  [
    "a tool receives a cancellation if its question is unanswered",
    { graph: act, tools: [asking()], config: NEVER_ASK },
    { asked: [["question", "expired"]], ended: ["COMPLETED", "END_REACHED"], state: { done: "cancel" } },
  ],
  [
    "a fork without approval doesn't repeat a call and keeps the recorded answer",
    {
      graph: act,
      tools: [send],
      config: NEVER_ASK,
      serve: () => ({
        result: {
          ok: false,
          error: obstacle({
            why: "done_before",
            run: "run_a",
            value: { status_code: 200, output: "sent then" },
          }),
        },
        order: 1,
      }),
    },
    {
      asked: [["tool_confirmation", "expired"]],
      ended: ["COMPLETED", "END_REACHED"],
      calls: [],
      state: { done: "sent then" },
    },
  ],
  [
    "a lenient replay without approval makes no unrecorded call and reports the missing answer",
    {
      graph: act,
      tools: [send],
      config: NEVER_ASK,
      serve: () => ({
        result: {
          ok: false,
          error: obstacle({ why: "not_recorded", run: "run_a", difference: "It is new." }),
        },
        order: 1,
      }),
    },
    {
      asked: [["tool_confirmation", "expired"]],
      ended: ["ERROR", "HUMAN_TIMEOUT"],
      message:
        "No one answered in time whether to make a call that was not recorded, so it was not made. It is new.",
      calls: [],
    },
  ],
  [
    "an agent at its budget stops if its question is unanswered",
    {
      graph: work(),
      roles: [role("Worker")],
      models: dear,
      config: { on_limit: "ask", budget: { max_total_tokens: 10, warn_at: 0.8, mode: "hard" } },
    },
    {
      asked: [["budget", "expired"]],
      ended: ["INCOMPLETE", "BUDGET"],
      message: "The next model call could exceed the budget of 10 tokens. Raise the budget to continue.",
    },
  ],
];

test.each(rows)("%s", async (_what, silent, expected) => {
  const came = await inSilence(silent);
  expect(came).toMatchObject(expected);
});
