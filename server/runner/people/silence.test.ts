import { expect, test } from "vitest";
import { agent, call, calls, crewGraph, role, tool } from "@/server/conformance/stage";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { RunState } from "@/server/domain/run";
import { draw } from "@/server/domain/testing/drawing";
import { newScriptedModels, type ScriptedStep } from "@/server/llm/scripted";
import { fakeTools, newStage } from "../testing";

/*
 * Nobody answers. Whatever asks, whatever is to follow, and whoever waits meanwhile: it comes to a yes only where a person
 * has set that it shall.
 */

const ON_TIMEOUT = [undefined, "reject", "approve", "default", "fail", "escalate", "continue"] as const;
const MODES = [undefined, "sync", "async", "advisory"] as const;
type OnTimeout = (typeof ON_TIMEOUT)[number];
interface Terms {
  on_timeout?: OnTimeout;
  mode?: (typeof MODES)[number];
}

/** Terms with what they need beside them. */
const settings = ({ on_timeout, mode }: Terms, default_response: Json): JsonObject => ({
  ...(on_timeout ? { on_timeout } : {}),
  ...(mode ? { mode } : {}),
  ...(on_timeout === "default" || mode === "advisory" ? { default_response } : {}),
  ...(on_timeout === "escalate" ? { escalation: [{ after_s: 3600, to: "the lead" }] } : {}),
});

interface Silent {
  graph: WorkflowGraph;
  roles?: ReturnType<typeof role>[];
  steps?: ScriptedStep[];
  config?: object;
  /** Whether what the question was about has happened. */
  hasHappened: (state: RunState, calls: readonly string[]) => boolean;
}

/** Carries a run out in which nobody ever answers. */
async function inSilence({
  graph,
  roles = [],
  steps = [],
  config = {},
  hasHappened,
}: Silent): Promise<boolean> {
  const tools = fakeTools([tool("risky", { risk: "HIGH", read_only: false })]);
  const stage = newStage({
    models: newScriptedModels(steps),
    tools,
    people: { answer_within_ms: 20 },
  });
  const id = stage.start(graph, { roles, config });
  await expect.poll(() => stage.store.find(id)!.status, { timeout: 30_000 }).toBe("finished");
  await stage.host.settled(id);
  const state = stage.store.state(id)!;
  if (Object.keys(state.interactions).length === 0) throw new Error("No questions, as expected.");
  return hasHappened(state, tools.calls);
}

const reached = (state: RunState, node: string) => state.nodes[node]?.status === "completed";

const gate = (terms: Terms): Silent => ({
  graph: draw("start > gate; gate approved> good; gate rejected> bad; gate timeout> late", {
    gate: {
      node_type: "approval_gate",
      config: { title: "Go on?", options: ["approved", "rejected"], ...settings(terms, "rejected") },
    },
    good: { node_type: "end" },
    bad: { node_type: "end" },
    late: { node_type: "end" },
  }),
  hasHappened: (state) => reached(state, "good"),
});

const form = (terms: Terms): Silent => ({
  graph: draw("start > form > end", {
    form: {
      node_type: "user_input",
      output_keys: ["name"],
      config: {
        title: "Who?",
        schema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
        ...settings(terms, { name: "nobody" }),
      },
    },
  }),
  hasHappened: ({ state }) => state.name !== undefined && state.name !== null && state.name !== "nobody",
});

/** A crew whose one task is asked about, by this plan. */
const crew =
  (plan: object, steps: ScriptedStep[], more: object = {}) =>
  ({ on_timeout, mode }: Terms): Silent => ({
    graph: crewGraph(
      {
        process: "sequential",
        agents: [agent("ann")],
        questions: {
          ...(on_timeout ? { on_timeout } : {}),
          ...(mode ? { mode } : {}),
          ...(on_timeout === "escalate" ? { escalation: [{ after_s: 3600, to: "the lead" }] } : {}),
        } as never,
        ...more,
      },
      { tasks: [{ task_id: "t", description: "do t", assigned_agent: "ann" }], ...plan },
    ),
    roles: [role("ann")],
    steps,
    hasHappened: (state) => reached(state, "end"),
  });

const rows = (terms: readonly Terms[]) =>
  terms.map((one) => [one.on_timeout ?? "Default", one.mode ?? "Default", one] as const);
const all = rows(ON_TIMEOUT.flatMap((on_timeout) => MODES.map((mode) => ({ on_timeout, mode }))));
const ofCrews = rows(
  ([undefined, "reject", "approve", "fail", "escalate"] as const).flatMap((on_timeout) =>
    ([undefined, "sync", "async"] as const).map((mode) => ({ on_timeout, mode })),
  ),
);

/** Carries all of them out at the same time; the terms under which it came to a yes. */
async function yesUnder(of: (terms: Terms) => Silent, table: typeof all): Promise<string[]> {
  const outcomes = await Promise.all(
    table.map(async ([on_timeout, mode, terms]) =>
      (await inSilence(of(terms))) ? `${on_timeout}, ${mode}` : "",
    ),
  );
  return outcomes.filter(Boolean);
}
const onlyWhereSet = (modes: readonly string[]) => modes.map((mode) => `approve, ${mode}`);

test("an unanswered gate lets a run through only if its timeout is set to approve", async () => {
  expect(await yesUnder(gate, all)).toEqual(onlyWhereSet(["Default", "sync", "async"]));
});

test("an unanswered form is never filled in except with configured defaults", async () => {
  expect(await yesUnder(form, all)).toEqual([]);
});

test.each([
  ["the start of a task", { execution_mode: "step" }, [{ text: "done" }], {}],
  [
    "the review of a result",
    { tasks: [{ task_id: "t", description: "do t", assigned_agent: "ann", human_review: true }] },
    [{ text: "done" }],
    {},
  ],
  ["a failed task", {}, [], { on_task_failure: "escalate" }],
])(
  "an unanswered crew question is approved only if its timeout is set to approve: %s",
  async (_what, plan, steps, more) => {
    expect(await yesUnder(crew(plan, steps, more), ofCrews)).toEqual(
      onlyWhereSet(["Default", "sync", "async"]),
    );
  },
);

const worker = (tools: string[], more: object = {}) => ({
  graph: draw("start > work > end", {
    work: {
      node_type: "agent_task",
      output_keys: ["answer"],
      config: { required_role: "Worker", task_description_template: "Work." },
    },
  }),
  roles: [role("Worker", tools, more as never)],
});
const outputsOf = (state: RunState) => Object.values(state.tool_calls).map(({ output }) => output);

const others: Record<string, Silent> = {
  "a tool that an agent calls": {
    ...worker(["risky"]),
    steps: [calls(call("risky", { text: "x" })), { text: "done" }],
    hasHappened: (_state, made) => made.length > 0,
  },
  "several calls in one": {
    ...worker(["risky"]),
    steps: [calls(call("risky", { text: "x" }), call("risky", { text: "y" })), { text: "done" }],
    hasHappened: (_state, made) => made.length > 0,
  },
  "a tool that a node calls": {
    graph: draw("start > act > end", {
      act: { node_type: "tool_call", config: { tool_name: "risky", args: { text: "x" } } },
    }),
    hasHappened: (_state, made) => made.length > 0,
  },
  "an approval that an agent asks for": {
    ...worker(["request_approval"]),
    steps: [calls(call("request_approval", { action: "go" })), { text: "done" }],
    hasHappened: (state) =>
      outputsOf(state).some((output) => (output as { approved?: boolean }).approved === true),
  },
  "an approval that others are asked for, too": {
    ...worker(["approval_gateway"]),
    steps: [calls(call("approval_gateway", { action: "go" })), { text: "done" }],
    hasHappened: (state) =>
      outputsOf(state).some((output) => (output as { approved?: boolean }).approved === true),
  },
  "what an agent puts to a person": {
    ...worker(["escalate_to_human"]),
    steps: [calls(call("escalate_to_human", { issue: "?", urgency: "high" })), { text: "done" }],
    hasHappened: (state) => outputsOf(state).some((output) => (output as { go_on?: boolean }).go_on === true),
  },
  feedback: {
    ...worker(["request_feedback"]),
    steps: [calls(call("request_feedback", { artifact: "a", questions: ["good?"] })), { text: "done" }],
    hasHappened: (state) =>
      outputsOf(state).some((output) => (output as { status?: string }).status === "answered"),
  },
  "a rule that does not hold": {
    ...worker([], {
      guardrails: [{ name: "short", kind: "expression", spec: "false", on_fail: "escalate" }],
    }),
    steps: [{ text: "done" }],
    hasHappened: (state) => reached(state, "work"),
  },
  "a limit of the run": {
    graph: draw("start > a > b > end"),
    config: { max_steps: 2, on_limit: "ask" },
    hasHappened: (state) => reached(state, "b"),
  },
};

test.each(Object.entries(others))("%s: silence is a no", async (_what, silent) => {
  expect(await inSilence(silent)).toBe(false);
});
