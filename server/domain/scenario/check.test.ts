import { describe, expect, test } from "vitest";
import { NO_USAGE } from "@/server/domain/agent/outcome";
import { must } from "@/server/domain/base/must";
import { foldRun, type RunState } from "@/server/domain/run";
import type { RunEvent } from "@/server/domain/run/events";
import { draw } from "@/server/domain/testing/drawing";
import { checkExpectations } from "./check";
import { Expectation } from "./expectation";

type Run = {
  events?: object[];
  run?: object;
  state?: RunState["state"];
  input?: RunState["input"];
  outputs?: object;
  totals?: object;
};

const GRAPH = draw("start > a > b > end", { a: { name: "First" } });

/** What becomes of an expectation, without the expectation itself. */
function looked(expectation: object, { events = [], run = {}, totals = {}, ...of }: Run = {}) {
  const log = events.map((one, at) => ({ seq: at + 1, ts: 0, ...one }) as RunEvent);
  const empty = foldRun("r", []);
  const state = {
    ...empty,
    graph: GRAPH,
    ...of,
    run: { ...empty.run, ...run },
    totals: { ...empty.totals, ...totals },
  };
  const results = checkExpectations(log, [Expectation.parse(expectation)], state as RunState);
  const { at: _, expectation: __, ...finding } = must(results, 0);
  return finding;
}
const began = (node_id: string, attempt = 1) => ({ type: "node_started", node_id, payload: { attempt } });
const wrote = (node_id: string, ...keys: string[]) => ({
  type: "state_changed",
  node_id,
  payload: { set: Object.fromEntries(keys.map((key) => [key, 1])) },
});
const finished = { type: "run_finished", payload: {} };

describe("the path of a run", () => {
  const events = [began("start"), began("a"), began("a", 2), began("b"), began("a"), finished];
  const seen = ["start", "a", "b", "a"];
  const path = (mode: string, nodes: string[], run: Run = { events }) =>
    looked({ kind: "path", mode, nodes }, run);
  test.each<[string, string, string[], object]>([
    ["exactly", "passed", ["start", "a", "b", "a"], {}],
    ["exactly", "failed", ["start", "a", "b"], { node_id: "a", seq: 5 }],
    ["exactly", "failed", ["start", "b"], { node_id: "a", seq: 2 }],
    ["exactly", "failed", [...seen, "end"], { node_id: "end", seq: 6 }],
    ["in_order", "passed", ["start", "b", "a"], {}],
    ["in_order", "failed", ["b", "start"], { node_id: "start", seq: 6 }],
    ["in_order", "failed", ["b", "b"], { node_id: "b", seq: 6 }],
    ["in_order", "failed", ["end"], { node_id: "end", seq: 6 }],
    ["visited", "passed", ["b", "start"], {}],
    ["visited", "failed", ["b", "end"], { node_id: "end", seq: 6 }],
    ["visited", "failed", ["end", "x"], { node_id: "end", seq: 6 }],
    ["never", "passed", ["end"], {}],
    ["never", "failed", ["end", "a"], { node_id: "a", seq: 2 }],
  ])("checks a path in the mode %s: %s for %j", (mode, status, nodes, place) => {
    const { sentence, ...finding } = path(mode, nodes);
    expect(finding).toEqual({ status, expected: nodes, seen, ...place });
    expect(sentence).toMatch(/^[A-Za-z].+\.$/);
  });
  test("a path mismatch is reported at its step, with node names", () => {
    expect(path("exactly", ["start", "b"]).sentence).toBe("Step 2: expected b, but First ran.");
    expect(path("in_order", ["b", "start"]).sentence).toBe(
      "Expected start to run after b, but it ran only earlier.",
    );
    expect(path("exactly", ["a"], { events: [began("a")] }).sentence).toBe(
      "The path matched exactly, with 1 step.",
    );
  });
  test("a path expectation on a run without steps is reported at the missing node", () => {
    expect(path("visited", ["a"], {})).toEqual({
      status: "failed",
      sentence: "First should have run, but didn't.",
      expected: ["a"],
      seen: [],
      node_id: "a",
    });
  });
  test.each<[object, string]>([
    [{ times: 2 }, "passed"],
    [{ times: 1 }, "failed"],
    [{ times: 3 }, "failed"],
    [{ at_least: 2 }, "passed"],
    [{ at_least: 3 }, "failed"],
    [{ at_most: 2 }, "passed"],
    [{ at_most: 1 }, "failed"],
    [{ at_least: 0, at_most: 1 }, "failed"],
  ])("counts the visits of a node against %j: %s", (wanted, status) => {
    const { sentence, ...finding } = looked({ kind: "visits", node: "a", ...wanted }, { events });
    expect(finding).toEqual({ status, expected: wanted, seen: 2, node_id: "a", seq: 5 });
    expect(sentence).toContain("ran twice");
  });
  test("an expected absence of a node is reported at the end of the run", () => {
    expect(looked({ kind: "visits", node: "end", times: 0 }, { events })).toEqual({
      status: "passed",
      sentence: "end ran never.",
      expected: { times: 0 },
      seen: 0,
      node_id: "end",
      seq: 6,
    });
  });
});

describe("the end of a run", () => {
  const error = { code: "X", message: "It broke.", node_id: "a" };
  const failed = { final_status: "ERROR", reason_code: "NODE_FAILED", error };
  const status = (is: object, run: object) => {
    const { sentence, seq, ...finding } = looked({ kind: "status", ...is }, { run, events: [finished] });
    expect(sentence).toMatch(/^(Finished as|Expected status) (Completed|Failed)/);
    expect(seq).toBe(1);
    return finding;
  };
  test("a status expectation compares the final status and points to the failed node", () => {
    const expected = "COMPLETED";
    const completed = { is: expected };
    expect(status(completed, {})).toEqual({ status: "failed", expected, seen: null });
    expect(status(completed, { final_status: expected })).toEqual({
      status: "passed",
      expected,
      seen: expected,
    });
    expect(status(completed, failed)).toEqual({ status: "failed", expected, seen: "ERROR", node_id: "a" });
  });
  test("a status expectation also compares the reason if one is given", () => {
    const finding = (reason: string, run: object) => {
      const { status: verdict, seen } = status({ is: "ERROR", reason }, run);
      return [verdict, seen];
    };
    const nowhere = { ...failed, error: { ...error, node_id: undefined } };
    expect(finding("NODE_FAILED", nowhere)).toEqual(["passed", { status: "ERROR", reason: "NODE_FAILED" }]);
    expect(finding("OTHER", { final_status: "ERROR" })).toEqual([
      "failed",
      { status: "ERROR", reason: null },
    ]);
  });
});

describe("a condition at the end of a run", () => {
  const events = [wrote("a", "x"), wrote("b", "y"), wrote("a", "z"), finished];
  const state = { x: 1, y: "two" };
  test.each<[string, string, object, object]>([
    ["state.x == 1.0", "passed", { x: 1 }, { node_id: "a", seq: 1 }],
    ["state.y == 'a'", "failed", { y: "two" }, { node_id: "b", seq: 2 }],
    ["state.x == 1.0 && state.none == 1.0", "failed", { x: 1, none: null }, { node_id: "a", seq: 1 }],
    ["1 == 2", "failed", {}, { seq: 4 }],
    ["1 + 1", "failed", {}, { seq: 4 }],
    ["input.given == 1.0 && nodes.a.k == 2.0 && output.done && run.id == 'r'", "passed", {}, { seq: 4 }],
  ])("checks a condition at the end of a run, %s: %s", (when, status, seen, place) => {
    const of = {
      events,
      state,
      input: { given: 1 },
      run: { id: "r", output: { done: true } },
      outputs: { a: { k: 2 } },
    };
    const { sentence, ...finding } = looked({ kind: "state", when }, of);
    expect(finding).toEqual({ status, expected: when, seen, ...place });
    expect(sentence.replace(/^Expected /, "").startsWith(when)).toBe(true);
  });
  test("a false condition is reported with the values that it read", () => {
    const { sentence } = looked({ kind: "state", when: "state.y == 'a'" }, { events, state });
    expect(sentence).toBe("Expected state.y == 'a', but it is false: y is “two”.");
  });
});

describe("a value at the end of a run", () => {
  const events = [wrote("a", "text"), wrote("b", "other"), finished];
  const state = { text: "Rain and sun", list: [1, 2], long: "x".repeat(130) };
  const verdictOn = (more: object, run: object = { output: { text: "given" } }) => {
    const { status, sentence } = looked({ kind: "text", key: "text", ...more }, { events, state, run });
    return [status, sentence];
  };
  test.each<[string, object, string]>([
    ["contains an expected text", { contains: "sun" }, "passed"],
    ["lacks an expected text", { contains: "snow" }, "failed"],
    ["contains an excluded text", { excludes: "Rain" }, "failed"],
    ["lacks an excluded text", { excludes: "snow" }, "passed"],
    ["matches a pattern", { matches: "^R.*n$" }, "passed"],
    ["doesn't match a pattern", { matches: "^sun" }, "failed"],
    ["equals the expected one", { equals: "Rain and sun" }, "passed"],
    ["differs from the expected one", { equals: ["a"] }, "failed"],
    ["matches a schema", { schema: { type: "string" } }, "passed"],
    ["is in the output", { of: "output", equals: "given" }, "passed"],
    ["is compared as JSON", { key: "list", contains: "[1,2]" }, "passed"],
    ["is missing", { key: "none", equals: 1 }, "failed"],
    ["is an inherited property of all objects", { key: "toString", contains: "f" }, "failed"],
  ])("checks a value that %s", (_what, expectation, status) => {
    expect(verdictOn(expectation)[0]).toBe(status);
  });
  test("a value's sentence truncates long values and reports missing ones", () => {
    expect(verdictOn({ key: "long", equals: "y" })[1]).toBe(
      `long should be “y”, but is “${"x".repeat(119)}…”.`,
    );
    const missing = "text is missing at the end.";
    expect(verdictOn({ of: "output", equals: 1 }, {})).toEqual(["failed", missing]);
  });
  test("an invalid pattern or a schema violation fails the expectation", () => {
    const [pattern, shape] = [verdictOn({ matches: "(" }), verdictOn({ schema: { type: "number" } })];
    expect(pattern[0]).toBe("failed");
    expect(pattern[1]?.startsWith("text can't be matched against the pattern (: ")).toBe(true);
    expect([shape[0], shape[1]?.startsWith("text violates the schema: ")]).toEqual(["failed", true]);
  });
  test("a value is reported at its last write, or at the end of the run", () => {
    const places = ["text", "list"].map((key) =>
      looked({ kind: "text", key, excludes: "z" }, { events, state }),
    );
    expect(places.map(({ seen, node_id, seq }) => [seen, node_id, seq])).toEqual([
      ["Rain and sun", "a", 1],
      [[1, 2], undefined, 3],
    ]);
  });
});

test("an expectation that needs a model's verdict is not checked", () => {
  expect(looked({ kind: "judge", rubric: "good" })).toEqual({
    status: "not_checked",
    sentence: "This needs a model's verdict, but no model was called.",
  });
});

const calledTool = (call_id: string, tool_name: string, args: object, node_id = "a") => ({
  type: "tool_call_started",
  node_id,
  call_id,
  payload: { tool_name, args },
});
const rejectedCall = (call_id: string) => ({ type: "tool_call_refused", call_id, payload: {} });
const askedAt = (node_id: string, title: string) => ({
  type: "interaction_requested",
  node_id,
  payload: { interaction_id: title, title },
});

/** The status of an expectation, its sentence and its place. */
function outcomeOf(events: object[], expectation: object, totals: object = {}) {
  const { status, sentence, node_id = null, seq = null } = looked(expectation, { events, totals });
  return [status, sentence, node_id, seq];
}

describe("expectations about tools", () => {
  const events = [
    calledTool("1", "search", { query: "rain" }),
    calledTool("2", "search", { query: "sun" }, "b"),
    calledTool("3", "pay", { usd: 5 }),
    rejectedCall("3"),
  ];

  test("a tool expectation counts executed calls, optionally by node and arguments", () => {
    const tools = (more: object) => outcomeOf(events, { kind: "tools", tool: "search", ...more });
    const args = { type: "object", properties: { query: { const: "sun" } } };
    expect(tools({})).toEqual(["passed", "search was called twice.", "a", 1]);
    expect(tools({ called: 2 })).toEqual(["passed", "search was called twice.", "a", 1]);
    expect(tools({ called: 1, node: "b" })).toEqual(["passed", "search was called once in b.", "b", 2]);
    expect(tools({ called: false, node: "c" })).toEqual(["passed", "search was never called in c.", "c", 4]);
    expect(tools({ called: 1, args })).toEqual([
      "passed",
      "search was called once with matching arguments.",
      "b",
      2,
    ]);
    expect([tools({ called: false }), tools({ called: 3 }), tools({ node: "c" })]).toEqual([
      ["failed", "Expected search not to be called, but it was called twice.", "a", 1],
      ["failed", "Expected search to be called 3 times, but it was called twice.", "a", 1],
      ["failed", "Expected search to be called in c, but it was never called.", "c", 4],
    ]);
    expect(tools({ args: { type: "object", required: ["page"] } })).toEqual([
      "failed",
      "Expected search to be called with matching arguments, but it was never called. Its other calls had different arguments.",
      "a",
      1,
    ]);
  });

  test("a rejected tool call doesn't count as a call", () => {
    expect(outcomeOf(events, { kind: "tools", tool: "pay", called: false })).toEqual([
      "passed",
      "pay was never called.",
      null,
      4,
    ]);
    expect(outcomeOf(events, { kind: "tools", tool: "pay" })[0]).toBe("failed");
  });
});

describe("expectations about questions", () => {
  const events = [askedAt("a", "Send it?"), askedAt("b", "Pay it?"), askedAt("a", "Again?")];

  test("a question expectation compares the count, or the asking nodes in any order", () => {
    const questions = (more: object, of: object[] = events) => outcomeOf(of, { kind: "questions", ...more });
    expect(questions({ count: 3 })).toEqual(["passed", "3 questions were asked.", null, null]);
    expect(questions({ nodes: ["b", "a", "a"] })).toEqual([
      "passed",
      "The expected nodes asked.",
      null,
      null,
    ]);
    expect(questions({ count: 0 }, [])).toEqual(["passed", "No questions, as expected.", null, null]);
    expect(questions({ count: 1 }, [askedAt("a", "Why?")])[1]).toBe("1 question was asked.");
    expect(questions({ count: 1 }, [finished])).toEqual([
      "failed",
      "Expected 1 question, but none was asked.",
      null,
      1,
    ]);
    expect(questions({ count: 0 }, events.slice(0, 2)).slice(1, 3)).toEqual([
      "Expected no questions, but 2 were asked.",
      "a",
    ]);
    expect(questions({ count: 1 })).toEqual(["failed", "Expected 1 question, but 3 were asked.", "b", 2]);
    expect(questions({ count: 4 })).toEqual(["failed", "Expected 4 questions, but 3 were asked.", "a", 3]);
    expect(questions({ nodes: ["a", "a", "a", "b"] })).toEqual([
      "failed",
      "First should have asked a person again, but didn't.",
      "a",
      3,
    ]);
    expect(questions({ nodes: ["a", "a"] })).toEqual([
      "failed",
      "b asked a person unexpectedly: Pay it?",
      "b",
      2,
    ]);
    expect(questions({ nodes: ["c"] })).toEqual([
      "failed",
      "c should have asked a person, but didn't.",
      "c",
      3,
    ]);
  });
});

describe("expectations about cost and tokens", () => {
  const usage = { ...NO_USAGE, input_tokens: 900, output_tokens: 100 };

  test("a cost or token limit is inclusive", () => {
    const cost = (at_most_usd: number) => outcomeOf([], { kind: "cost", at_most_usd }, { cost_usd: 0.5 });
    expect(cost(0.5)).toEqual(["passed", "Cost $0.500, at most $0.500.", null, null]);
    expect(cost(0.49)).toEqual(["failed", "Expected a cost of at most $0.490, got $0.500.", null, null]);
    const tokens = (at_most: number) => outcomeOf([], { kind: "tokens", at_most }, { usage });
    expect(tokens(1000)).toEqual(["passed", "Used 1000 tokens, at most 1000.", null, null]);
    expect(tokens(999)).toEqual(["failed", "Expected at most 999 tokens, got 1000.", null, null]);
  });

  test("a cost limit fails if a price is unknown", () => {
    expect(outcomeOf([], { kind: "cost", at_most_usd: 9 }, { cost_usd: 0, unknown_cost_calls: 2 })).toEqual([
      "failed",
      "Expected a cost of at most $9.000, but the price of 2 calls is unknown.",
      null,
      null,
    ]);
  });
});
