import { expect, test } from "vitest";
import { agentKey, foldRun, type RunState } from ".";
import type { NewEvent, RunEvent } from "./events";

const AGENT = { node_id: "a", activation_id: "a#1", agent_id: "writer" };
const STARTED: NewEvent = {
  ...AGENT,
  type: "agent_started",
  payload: { role_name: "writer", output_keys: [], limits: { max_iterations: 3 } },
};

const fold = (...events: NewEvent[]): RunState =>
  foldRun(
    "r",
    events.map((event, at): RunEvent => ({ ...event, seq: at + 1, ts: 0 })),
  );
const nudges = (state: RunState) => state.agents[agentKey("a#1", "writer")]!.nudges;

test("only a stuck warning makes an agent count as almost stuck", () => {
  const harmless: NewEvent[] = [
    { ...AGENT, type: "output_parsed", payload: { ok: true, errors: [], repair: "none", attempt: 1 } },
    { ...AGENT, type: "budget_warning", payload: { metric: "cost_usd", used: 8, limit: 10 } },
    { ...AGENT, type: "budget_exceeded", payload: { metric: "cost_usd", used: 11, limit: 10 } },
    {
      ...AGENT,
      type: "context_condensed",
      payload: { kind: "pruned", from: 1, to: 2, tokens_before: 9, tokens_after: 1 },
    },
  ];
  expect(nudges(fold(STARTED, ...harmless))).toBeUndefined();
  const nudge: NewEvent = {
    ...AGENT,
    type: "stuck_detected",
    payload: { pattern: "same_call", message: "The same call again.", action: "nudge" },
  };
  expect(nudges(fold(STARTED, ...harmless, nudge, nudge))).toBe(2);
});

test.each(["holiday_announced", "constructor", "__proto__"])(
  "an event of a newer version (%s) only advances the sequence, so an open page continues",
  (type) => {
    const before = fold(STARTED);
    const after = fold(STARTED, { ...AGENT, type, payload: {} } as unknown as NewEvent);
    expect(after).toEqual({ ...before, seq: 2 });
  },
);

const CALL = { node_id: "a", activation_id: "a#1", agent_id: "writer" };
const READY: NewEvent[] = [
  {
    type: "node_ready",
    node_id: "a",
    activation_id: "a#1",
    payload: { consumes: [] },
  } as unknown as NewEvent,
];
const usage = (tokens: number) => ({
  input_tokens: tokens,
  output_tokens: 0,
  cached_input_tokens: 0,
  reasoning_tokens: 0,
  requests: 1,
  estimated: false,
});
/** A call that was answered, or that failed after something was spent; null: nobody knows what it cost. */
const answered = (at: number, cost_usd: number | null): NewEvent =>
  ({
    ...CALL,
    type: "llm_call_completed",
    call_id: `call_${at}`,
    payload: { content: "", usage: usage(10), cost_usd, finish_reason: "stop" },
  }) as unknown as NewEvent;
const failed = (at: number, spent: { cost_usd?: number | null } | null): NewEvent =>
  ({
    ...CALL,
    type: "llm_call_failed",
    call_id: `call_${at}`,
    payload: { error: { code: "TRANSIENT", message: "" }, ...(spent ? { usage: usage(1), ...spent } : {}) },
  }) as unknown as NewEvent;

test("calls with unknown cost are counted in the run and the node, and never count as free", () => {
  const state = fold(
    ...READY,
    answered(1, 0.25),
    answered(2, null),
    answered(3, 0),
    failed(4, { cost_usd: 0.5 }),
    failed(5, {}),
    failed(6, null),
  );
  const spent = { cost_usd: 0.75, unknown_cost_calls: 2, usage: { input_tokens: 32, requests: 5 } };
  expect(state.totals).toMatchObject(spent);
  expect(state.activations["a#1"]).toMatchObject(spent);
});
