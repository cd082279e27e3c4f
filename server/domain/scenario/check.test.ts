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

describe("the way of a run", () => {
  const events = [began("start"), began("a"), began("a", 2), began("b"), began("a"), finished];
  const seen = ["start", "a", "b", "a"];
  const path = (mode: string, nodes: string[], run: Run = { events }) =>
    looked({ kind: "path", mode, nodes }, run);
  test.each<[string, string, string[], string, object]>([
    ["exactly", "passed", ["start", "a", "b", "a"], "It took exactly this way, of 4 steps.", {}],
    [
      "exactly",
      "failed",
      ["start", "a", "b"],
      "As step 4, nothing more was to run, and First ran.",
      { node_id: "a", seq: 5 },
    ],
    [
      "exactly",
      "failed",
      ["start", "b"],
      "As step 2, b was to run, and First ran.",
      { node_id: "a", seq: 2 },
    ],
    [
      "exactly",
      "failed",
      [...seen, "end"],
      "As step 5, end was to run, and nothing more ran.",
      { node_id: "end", seq: 6 },
    ],
    ["in_order", "passed", ["start", "b", "a"], "start, b and First ran in this order.", {}],
    [
      "in_order",
      "failed",
      ["b", "start"],
      "start was to run after b, and it ran only before.",
      { node_id: "start", seq: 6 },
    ],
    [
      "in_order",
      "failed",
      ["b", "b"],
      "b was to run after b, and it ran only before.",
      { node_id: "b", seq: 6 },
    ],
    ["in_order", "failed", ["end"], "end was to run, and it never ran.", { node_id: "end", seq: 6 }],
    ["visited", "passed", ["b", "start"], "b and start ran.", {}],
    ["visited", "failed", ["b", "end"], "end was to run, and never did.", { node_id: "end", seq: 6 }],
    ["visited", "failed", ["end", "x"], "end and x were to run, and never did.", { node_id: "end", seq: 6 }],
    ["never", "passed", ["end"], "end never ran.", {}],
    ["never", "failed", ["end", "a"], "First was never to run, and it ran.", { node_id: "a", seq: 2 }],
  ])("%s: %s, of %j", (mode, status, nodes, sentence, place) => {
    expect(path(mode, nodes)).toEqual({ status, sentence, expected: nodes, seen, ...place });
  });
  test("of one step is told as one", () => {
    expect(path("exactly", ["a"], { events: [began("a")] })).toEqual({
      status: "passed",
      sentence: "It took exactly this way, of 1 step.",
      expected: ["a"],
      seen: ["a"],
    });
  });
  test("that never began is told at the node alone", () => {
    expect(path("visited", ["a"], {})).toEqual({
      status: "failed",
      sentence: "First was to run, and never did.",
      expected: ["a"],
      seen: [],
      node_id: "a",
    });
  });
  test.each<[object, string, string]>([
    [{ times: 2 }, "passed", "First ran twice."],
    [{ times: 1 }, "failed", "First was to run once, and ran twice."],
    [{ times: 3 }, "failed", "First was to run 3 times, and ran twice."],
    [{ at_least: 2 }, "passed", "First ran twice."],
    [{ at_least: 3 }, "failed", "First was to run at least 3 times, and ran twice."],
    [{ at_most: 2 }, "passed", "First ran twice."],
    [{ at_most: 1 }, "failed", "First was to run at most once, and ran twice."],
    [
      { at_least: 0, at_most: 1 },
      "failed",
      "First was to run at least never and at most once, and ran twice.",
    ],
  ])("goes through a node as often as %j says: %s", (wanted, status, sentence) => {
    expect(looked({ kind: "visits", node: "a", ...wanted }, { events })).toEqual({
      status,
      sentence,
      expected: wanted,
      seen: 2,
      node_id: "a",
      seq: 5,
    });
  });
  test("that leaves a node out is told at the end", () => {
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
  test.each<[object, object, object]>([
    [
      { is: "COMPLETED" },
      {},
      {
        status: "failed",
        sentence: "It was to end as Completed, and it did not end.",
        expected: "COMPLETED",
        seen: null,
        seq: 1,
      },
    ],
    [
      { is: "COMPLETED" },
      { final_status: "COMPLETED" },
      {
        status: "passed",
        sentence: "It ended as Completed.",
        expected: "COMPLETED",
        seen: "COMPLETED",
        seq: 1,
      },
    ],
    [
      { is: "COMPLETED" },
      failed,
      {
        status: "failed",
        sentence: "It was to end as Completed, and ended as Failed (NODE_FAILED). It broke.",
        expected: "COMPLETED",
        seen: "ERROR",
        seq: 1,
        node_id: "a",
      },
    ],
    [
      { is: "ERROR", reason: "NODE_FAILED" },
      { ...failed, error: { ...error, node_id: undefined } },
      {
        status: "passed",
        sentence: "It ended as Failed (NODE_FAILED).",
        expected: { status: "ERROR", reason: "NODE_FAILED" },
        seen: { status: "ERROR", reason: "NODE_FAILED" },
        seq: 1,
      },
    ],
    [
      { is: "ERROR", reason: "OTHER" },
      { final_status: "ERROR" },
      {
        status: "failed",
        sentence: "It was to end as Failed (OTHER), and ended as Failed (no reason).",
        expected: { status: "ERROR", reason: "OTHER" },
        seen: { status: "ERROR", reason: null },
        seq: 1,
      },
    ],
  ])("of which %j is expected, and that was %j", (expectation, run, finding) => {
    expect(looked({ kind: "status", ...expectation }, { run, events: [finished] })).toEqual(finding);
  });
  test("costs what is known, and no less where a price is unknown", () => {
    expect(
      looked({ kind: "cost", at_most_usd: 1 }, { totals: { cost_usd: 0.5, unknown_cost_calls: 1 } }),
    ).toMatchObject({
      status: "failed",
      sentence: "It was to cost at most $1.000, and the price of 1 call is unknown.",
      expected: 1,
    });
  });
});

describe("a condition at the end of a run", () => {
  const events = [wrote("a", "x"), wrote("b", "y"), wrote("a", "z"), finished];
  const state = { x: 1, y: "two" };
  test.each<[string, string, string, object, object]>([
    ["state.x == 1.0", "passed", "state.x == 1.0 holds.", { x: 1 }, { node_id: "a", seq: 1 }],
    [
      "state.y == 'a'",
      "failed",
      "state.y == 'a' was to hold, and does not: y is “two”.",
      { y: "two" },
      { node_id: "b", seq: 2 },
    ],
    [
      "state.x == 1.0 && state.none == 1.0",
      "failed",
      'state.x == 1.0 && state.none == 1.0 was to hold, and does not: x is 1, none is nothing. There is no "none" yet, so this counts as false.',
      { x: 1, none: null },
      { node_id: "a", seq: 1 },
    ],
    ["1 == 2", "failed", "1 == 2 was to hold, and does not.", {}, { seq: 4 }],
    [
      "1 + 1",
      "failed",
      "1 + 1 cannot be told: A condition gives true or false, but this gives the number 2.",
      {},
      { seq: 4 },
    ],
    ["input.given == 1.0 && nodes.a.k == 2.0 && output.done && run.id == 'r'", "passed", "", {}, { seq: 4 }],
  ])("%s: %s", (when, status, sentence, seen, place) => {
    const of = {
      events,
      state,
      input: { given: 1 },
      run: { id: "r", output: { done: true } },
      outputs: { a: { k: 2 } },
    };
    expect(looked({ kind: "state", when }, of)).toEqual({
      status,
      sentence: sentence || `${when} holds.`,
      expected: when,
      seen,
      ...place,
    });
  });
});

describe("a value at the end of a run", () => {
  const events = [wrote("a", "text"), wrote("b", "other"), finished];
  const state = { text: "Rain and sun", list: [1, 2], long: "x".repeat(130) };
  const verdictOn = (more: object, run: object = { output: { text: "given" } }) => {
    const { status, sentence } = looked({ kind: "text", key: "text", ...more }, { events, state, run });
    return [status, sentence];
  };
  const right = ["passed", "text says what it is to say."];
  test.each<[string, object, (string | undefined)[]]>([
    ["is there", { contains: "sun" }, right],
    [
      "does not contain what it should",
      { contains: "snow" },
      ["failed", "text was to contain “snow”, and says “Rain and sun”."],
    ],
    [
      "contains what it should not",
      { excludes: "Rain" },
      ["failed", "text was not to contain “Rain”, and says “Rain and sun”."],
    ],
    ["does not contain what it should not", { excludes: "snow" }, right],
    ["matches", { matches: "^R.*n$" }, right],
    ["does not match", { matches: "^sun" }, ["failed", "text was to match ^sun, and says “Rain and sun”."]],
    ["is the same", { equals: "Rain and sun" }, right],
    ["is another", { equals: ["a"] }, ["failed", 'text was to be ["a"], and is “Rain and sun”.']],
    ["has the shape", { schema: { type: "string" } }, right],
    ["is of the output", { of: "output", equals: "given" }, right],
    ["is looked at as JSON", { key: "list", contains: "[1,2]" }, ["passed", "list says what it is to say."]],
    [
      "is cut where it is long",
      { key: "long", equals: "y" },
      ["failed", `long was to be “y”, and is “${"x".repeat(119)}…”.`],
    ],
    ["is not there", { key: "none", equals: 1 }, ["failed", "none was to be there at the end, and is not."]],
    [
      "is no key that all objects have",
      { key: "toString", contains: "f" },
      ["failed", "toString was to be there at the end, and is not."],
    ],
  ])("%s", (_what, expectation, result) => {
    expect(verdictOn(expectation)).toEqual(result);
  });
  test("is not there where the run gave nothing", () => {
    expect(verdictOn({ of: "output", equals: 1 }, {})).toEqual([
      "failed",
      "text was to be there at the end, and is not.",
    ]);
  });
  test("cannot be held against a pattern that cannot be read, nor have a shape that it has not", () => {
    const [pattern, shape] = [verdictOn({ matches: "(" }), verdictOn({ schema: { type: "number" } })];
    expect(pattern[0]).toBe("failed");
    expect(pattern[1]?.startsWith("text cannot be held against the pattern (: ")).toBe(true);
    expect([shape[0], shape[1]?.startsWith("text does not have the shape: ")]).toEqual(["failed", true]);
  });
  test("shows where it was written last, or at the end", () => {
    const places = ["text", "list"].map((key) =>
      looked({ kind: "text", key, excludes: "z" }, { events, state }),
    );
    expect(places.map(({ seen, node_id, seq }) => [seen, node_id, seq])).toEqual([
      ["Rain and sun", "a", 1],
      [[1, 2], undefined, 3],
    ]);
  });
});

describe("questions and tools", () => {
  const asked = (node_id?: string) => ({
    type: "interaction_requested",
    node_id,
    payload: { title: "Why?" },
  });
  const counted = (count: number, ...events: object[]) => {
    const { sentence, node_id, seq } = looked({ kind: "questions", count }, { events });
    return [sentence, node_id, seq];
  };
  test("are counted in words", () => {
    expect(counted(1, asked("a"))).toEqual(["1 question was asked.", undefined, undefined]);
    expect(counted(2, asked("a"), finished)).toEqual(["2 questions were to be asked, and one was.", "a", 1]);
    expect(counted(1, finished)).toEqual(["One question was to be asked, and none was.", undefined, 1]);
    expect(counted(0, asked("a"), asked("b"))).toEqual(["No question was to be asked, and 2 were.", "a", 1]);
  });
  test("are held against the nodes that asked and called", () => {
    expect(looked({ kind: "questions", nodes: [] }, { events: [asked("a")] })).toEqual({
      status: "failed",
      sentence: "First asked a person, which was not expected: Why?",
      expected: [],
      seen: ["a"],
      node_id: "a",
      seq: 1,
    });
    const call = { type: "tool_call_started", node_id: "a", payload: { tool_name: "t", args: {} } };
    expect(
      looked(
        { kind: "tools", tool: "t", node: "a" },
        { events: [call, { type: "tool_call_refused", payload: {} }] },
      ),
    ).toEqual({
      status: "passed",
      sentence: "t was called once in First.",
      expected: true,
      seen: 1,
      node_id: "a",
      seq: 1,
    });
    expect(looked({ kind: "tools", tool: "t", called: false, node: "a" }, {})).toEqual({
      status: "passed",
      sentence: "t was never called in First.",
      expected: false,
      seen: 0,
      node_id: "a",
    });
  });
  test("what needs the word of a model is not checked", () => {
    expect(looked({ kind: "judge", rubric: "good" })).toEqual({
      status: "not_checked",
      sentence: "This needs the word of a model, and none was asked.",
    });
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

describe("what is expected of tools", () => {
  const events = [
    calledTool("1", "search", { query: "rain" }),
    calledTool("2", "search", { query: "sun" }, "b"),
    calledTool("3", "pay", { usd: 5 }),
    rejectedCall("3"),
  ];

  test("counts calls that were made, also by node and by their arguments", () => {
    const tools = (more: object) => outcomeOf(events, { kind: "tools", tool: "search", ...more });
    const args = { type: "object", properties: { query: { const: "sun" } } };
    expect(tools({})).toEqual(["passed", "search was called twice.", "a", 1]);
    expect(tools({ called: 2 })).toEqual(["passed", "search was called twice.", "a", 1]);
    expect(tools({ called: 1, node: "b" })).toEqual(["passed", "search was called once in b.", "b", 2]);
    expect(tools({ called: 1, args })).toEqual([
      "passed",
      "search was called once with such arguments.",
      "b",
      2,
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

  test("takes what was refused for not called", () => {
    expect(outcomeOf(events, { kind: "tools", tool: "pay", called: false })).toEqual([
      "passed",
      "pay was never called.",
      null,
      4,
    ]);
    expect(outcomeOf(events, { kind: "tools", tool: "pay" })[0]).toBe("failed");
  });
});

describe("what is expected of questions", () => {
  const events = [askedAt("a", "Send it?"), askedAt("b", "Pay it?"), askedAt("a", "Again?")];

  test("is how many there are, or at which nodes in whichever order", () => {
    const questions = (more: object, of = events) => outcomeOf(of, { kind: "questions", ...more });
    expect(questions({ count: 3 })).toEqual(["passed", "3 questions were asked.", null, null]);
    expect(questions({ nodes: ["b", "a", "a"] })).toEqual([
      "passed",
      "Those were asked who were to be asked.",
      null,
      null,
    ]);
    expect(questions({ count: 0 }, [])).toEqual(["passed", "Nobody was asked.", null, null]);
    expect(questions({ count: 1 })).toEqual(["failed", "One question was to be asked, and 3 were.", "b", 2]);
    expect(questions({ count: 4 })).toEqual(["failed", "4 questions were to be asked, and 3 were.", "a", 3]);
    expect(questions({ nodes: ["a", "a", "a", "b"] })).toEqual([
      "failed",
      "First was to ask a person once more, and did not.",
      "a",
      3,
    ]);
    expect(questions({ nodes: ["a", "a"] })).toEqual([
      "failed",
      "b asked a person, which was not expected: Pay it?",
      "b",
      2,
    ]);
    expect(questions({ nodes: ["c"] })).toEqual(["failed", "c was to ask a person, and did not.", "c", 3]);
  });
});

describe("what is expected of cost and tokens", () => {
  const usage = { ...NO_USAGE, input_tokens: 900, output_tokens: 100 };

  test("is at most so much, that much included", () => {
    const cost = (at_most_usd: number) => outcomeOf([], { kind: "cost", at_most_usd }, { cost_usd: 0.5 });
    expect(cost(0.5)).toEqual(["passed", "It cost $0.500, at most $0.500.", null, null]);
    expect(cost(0.49)).toEqual(["failed", "It was to cost at most $0.490, and cost $0.500.", null, null]);
    const tokens = (at_most: number) => outcomeOf([], { kind: "tokens", at_most }, { usage });
    expect(tokens(1000)).toEqual(["passed", "It used 1000 tokens, at most 1000.", null, null]);
    expect(tokens(999)).toEqual(["failed", "It was to use at most 999 tokens, and used 1000.", null, null]);
  });

  test("fails where a price is unknown: unknown is not nothing", () => {
    expect(outcomeOf([], { kind: "cost", at_most_usd: 9 }, { cost_usd: 0, unknown_cost_calls: 2 })).toEqual([
      "failed",
      "It was to cost at most $9.000, and the price of 2 calls is unknown.",
      null,
      null,
    ]);
  });
});
