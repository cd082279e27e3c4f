import { describe, expect, it } from "vitest";
import { NO_USAGE } from "@/server/domain/agent/outcome";
import { foldRun, type RunState } from "@/server/domain/run";
import type { RunEvent } from "@/server/domain/run/events";
import { checkExpectations } from "./check";
import { Expectation } from "./expectation";

type Made = Pick<RunEvent, "type"> & Partial<Record<"node_id" | "call_id", string>> & { payload: object };

/** Events one after another, from 1. */
const eventsOf = (...made: Made[]) => made.map((one, at) => ({ seq: at + 1, ts: 0, ...one }) as RunEvent);

const called = (call_id: string, tool_name: string, args: object, node_id = "a"): Made => ({
  type: "tool_call_started",
  node_id,
  call_id,
  payload: { tool_name, args },
});
const refused = (call_id: string): Made => ({ type: "tool_call_refused", call_id, payload: {} });
const askedAt = (node_id: string, title: string): Made => ({
  type: "interaction_requested",
  node_id,
  payload: { interaction_id: title, title },
});

/** The verdict, its sentence and its place. */
function looked(events: RunEvent[], expectation: object, totals: Partial<RunState["totals"]> = {}) {
  const empty = foldRun("", []);
  const state = { ...empty, totals: { ...empty.totals, ...totals } };
  const [result] = checkExpectations(events, [Expectation.parse(expectation)], state);
  return [result?.status, result?.sentence, result?.node_id ?? null, result?.seq ?? null];
}

describe("what is expected of tools", () => {
  const events = eventsOf(
    called("1", "search", { query: "rain" }),
    called("2", "search", { query: "sun" }, "b"),
    called("3", "pay", { usd: 5 }),
    refused("3"),
  );

  it("counts calls that were made, also by node and by their arguments", () => {
    const tools = (more: object) => looked(events, { kind: "tools", tool: "search", ...more });
    const args = { type: "object", properties: { query: { const: "sun" } } };
    expect([
      tools({}),
      tools({ called: 2 }),
      tools({ called: 1, node: "b" }),
      tools({ called: 1, args }),
    ]).toEqual([
      ["passed", "search was called twice.", "a", 1],
      ["passed", "search was called twice.", "a", 1],
      ["passed", "search was called once in b.", "b", 2],
      ["passed", "search was called once with such arguments.", "b", 2],
    ]);
    expect([tools({ called: false }), tools({ called: 3 }), tools({ node: "c" })]).toEqual([
      ["failed", "search was never to be called, and was called twice.", "a", 1],
      ["failed", "search was to be called 3 times, and was called twice.", "a", 1],
      ["failed", "search was to be called in c, and was never called.", "c", 4],
    ]);
    expect(tools({ args: { type: "object", required: ["page"] } })).toEqual([
      "failed",
      "search was to be called with such arguments, and was never called. Its other calls had others.",
      "a",
      1,
    ]);
  });

  it("takes what was refused for not called", () => {
    expect(looked(events, { kind: "tools", tool: "pay", called: false })).toEqual([
      "passed",
      "pay was never called.",
      null,
      4,
    ]);
    expect(looked(events, { kind: "tools", tool: "pay" })[0]).toBe("failed");
  });
});

describe("what is expected of questions", () => {
  const events = eventsOf(askedAt("a", "Send it?"), askedAt("b", "Pay it?"), askedAt("a", "Again?"));

  it("is how many there are, or at which nodes in whichever order", () => {
    const questions = (more: object, of = events) => looked(of, { kind: "questions", ...more });
    expect([
      questions({ count: 3 }),
      questions({ nodes: ["b", "a", "a"] }),
      questions({ count: 0 }, []),
    ]).toEqual([
      ["passed", "3 questions were asked.", null, null],
      ["passed", "Those were asked who were to be asked.", null, null],
      ["passed", "Nobody was asked.", null, null],
    ]);
    expect([
      questions({ count: 1 }),
      questions({ count: 4 }),
      questions({ nodes: ["a", "a", "a", "b"] }),
      questions({ nodes: ["a", "a"] }),
      questions({ nodes: ["c"] }),
    ]).toEqual([
      ["failed", "One question was to be asked, and 3 were.", "b", 2],
      ["failed", "4 questions were to be asked, and 3 were.", "a", 3],
      ["failed", "a was to ask a person once more, and did not.", "a", 3],
      ["failed", "b asked a person, which was not expected: Pay it?", "b", 2],
      ["failed", "c was to ask a person, and did not.", "c", 3],
    ]);
  });
});

describe("what is expected of cost and tokens", () => {
  const usage = { ...NO_USAGE, input_tokens: 900, output_tokens: 100 };

  it("is at most so much, that much included", () => {
    const cost = (at_most_usd: number) => looked([], { kind: "cost", at_most_usd }, { cost_usd: 0.5 });
    expect([cost(0.5), cost(0.49)]).toEqual([
      ["passed", "It cost $0.500, at most $0.500.", null, null],
      ["failed", "It was to cost at most $0.490, and cost $0.500.", null, null],
    ]);
    const tokens = (at_most: number) => looked([], { kind: "tokens", at_most }, { usage });
    expect([tokens(1000), tokens(999)]).toEqual([
      ["passed", "It used 1000 tokens, at most 1000.", null, null],
      ["failed", "It was to use at most 999 tokens, and used 1000.", null, null],
    ]);
  });

  it("fails where a price is unknown: unknown is not nothing", () => {
    expect(looked([], { kind: "cost", at_most_usd: 9 }, { cost_usd: 0, unknown_cost_calls: 2 })).toEqual([
      "failed",
      "It was to cost at most $9.000, and the price of 2 calls is unknown.",
      null,
      null,
    ]);
  });
});
