import { expect, test } from "vitest";
import type { NewEvent, RunEvent } from "../events";
import { agentKey, foldRun, type RunState } from ".";

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

test("only an agent that was told so counts as almost stuck, whatever else happens to it", () => {
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
  const told: NewEvent = {
    ...AGENT,
    type: "stuck_detected",
    payload: { pattern: "same_call", message: "The same call again.", action: "nudge" },
  };
  expect(nudges(fold(STARTED, ...harmless, told, told))).toBe(2);
});

test.each(["holiday_announced", "constructor", "__proto__"])(
  "an event of a newer version (%s) only counts on: a page that is open goes on",
  (type) => {
    const before = fold(STARTED);
    const after = fold(STARTED, { ...AGENT, type, payload: {} } as unknown as NewEvent);
    expect(after).toEqual({ ...before, seq: 2 });
  },
);
