import { describe, expect, test } from "vitest";
import { draw } from "@/server/domain/testing/drawing";
import { ScenarioFields } from "./scenario-test";
import { testErrorTexts } from "./test-errors";

const GRAPH = {
  ...draw("start > a > end; note > end; note2 > end", {
    start: { output_keys: ["request"] },
    a: { name: "First", output_keys: ["b"] },
    note: { node_type: "note", name: "Look", config: {} },
    note2: { node_type: "note", name: "", config: {} },
    end: { name: "Done" },
  }),
  global_state_schema: { type: "object", properties: { declared: { type: "string" } } },
};
const errorsOf = (test: object) =>
  testErrorTexts(GRAPH, ScenarioFields.parse({ name: "It", input: { request: "x" }, ...test }));
const expected = (...expect: object[]) => errorsOf({ expect });
const isNot = (who: string) => `${who} refers to the node z, which this workflow doesn't have.`;
const neverRuns = (who: string) => `${who} refers to Look, which never runs.`;

test("a test that refers only to existing nodes and keys has no errors", () => {
  expect(
    errorsOf({
      pins: { a: { output: {} } },
      people: [{ answer: "approve" }, { node_id: "a", answer: "approve" }],
      expect: [
        { kind: "path", nodes: ["start", "a", "a", "end"] },
        { kind: "visits", node: "a", times: 1 },
        { kind: "questions", nodes: ["a"] },
        { kind: "questions", count: 0 },
        { kind: "tools", tool: "any" },
        { kind: "tools", tool: "any", node: "a", args: { type: "object" } },
        { kind: "status", is: "COMPLETED" },
        { kind: "cost", at_most_usd: 1 },
        { kind: "tokens", at_most: 1 },
        { kind: "judge", rubric: "good" },
      ],
    }),
  ).toEqual([]);
});

test("an invalid input is reported with its key", () => {
  const graph = draw("start > end", {
    start: {
      output_keys: ["n"],
      config: { input_schema: { type: "object", properties: { n: { type: "number" } } } },
    },
  });
  const [error, ...others] = testErrorTexts(graph, ScenarioFields.parse({ name: "It", input: { n: "x" } }));
  expect([error?.startsWith("The input is invalid: n: "), others]).toEqual([true, []]);
});

test.each([
  ["z", ["Can't pin an output: there is no node z."]],
  ["start", ["start has no output to pin."]],
  ["end", ["Done has no output to pin."]],
  ["a", []],
])("checks a pin on the node %s: %j", (id, errors) => {
  expect(errorsOf({ pins: { [id]: { output: {} } } })).toEqual(errors);
});

test("invalid nodes in people's answers and commands are reported with their number", () => {
  const command = (of: object) => ({ after: [], by: "user", command: of });
  expect(
    errorsOf({
      people: [
        { answer: "approve" },
        { node_id: "z", answer: "approve" },
        { node_id: "note", answer: "approve" },
      ],
      commands: [
        command({ kind: "pause" }),
        command({ kind: "skip_node", activation_id: "z#1", output: {} }),
        command({ kind: "override_next", activation_id: "note#1", to: "z" }),
        command({ kind: "override_next", activation_id: "a#1", to: "end" }),
        command({ kind: "retry_node", activation_id: "a#2" }),
        command({ kind: "inject", target: { node_id: "z" }, text: "go" }),
        command({ kind: "inject", target: { node_id: "a" }, text: "go" }),
      ],
    }),
  ).toEqual([
    isNot("People's answer 2"),
    neverRuns("People's answer 3"),
    isNot("Command 2"),
    neverRuns("Command 3"),
    isNot("Command 3"),
    isNot("Command 6"),
  ]);
});

describe("expectations with invalid references", () => {
  const noKey = "Expectation 1: It refers to the key nowhere, which no node writes.";
  test.each<[string, object, string[]]>([
    [
      "nodes of a path, each once",
      { kind: "path", nodes: ["z", "a", "z", "note"] },
      [isNot("Expectation 1: It"), neverRuns("Expectation 1: It")],
    ],
    [
      "a note without a name",
      { kind: "visits", node: "note2", times: 1 },
      ["Expectation 1: It refers to note2, which never runs."],
    ],
    ["the asking node", { kind: "questions", nodes: ["z"] }, [isNot("Expectation 1: It")]],
    ["the node of a tool call", { kind: "tools", tool: "t", node: "z" }, [isNot("Expectation 1: It")]],
    ["a key that no node writes", { kind: "text", key: "nowhere", equals: 1 }, [noKey]],
    ["a judged key that no node writes", { kind: "judge", rubric: "good", key: "nowhere" }, [noKey]],
  ])("an expectation reports an invalid reference: %s", (_what, expectation, errors) => {
    expect(expected(expectation)).toEqual(errors);
  });
  test.each(["declared", "request", "a", "b", "given", "final_output_a"])(
    "an expectation may refer to the key %s",
    (key) => {
      const expect_ = [
        { kind: "text", key, equals: 1 },
        { kind: "judge", rubric: "good", key },
      ];
      expect(errorsOf({ input: { request: "x", given: 1 }, expect: expect_ })).toEqual([]);
    },
  );
  test("an invalid pattern, schema or condition is reported with its expectation's number", () => {
    const found = expected(
      { kind: "text", key: "a", matches: "fine" },
      { kind: "text", key: "a", matches: "(" },
      { kind: "text", key: "a", schema: { contentEncoding: "odd" } },
      { kind: "tools", tool: "t", args: { contentEncoding: "odd" } },
      { kind: "state", when: "state.a == 'x'" },
      { kind: "state", when: "state.a ==" },
      { kind: "state", when: "1 + 1" },
    );
    expect(found.map((one) => one.split(/(?<=^Expectation \d): /)[0])).toEqual([
      "Expectation 2",
      "Expectation 3",
      "Expectation 4",
      "Expectation 6",
      "Expectation 7",
    ]);
    expect(found[0]?.startsWith("Expectation 2: The pattern ( is invalid: ")).toBe(true);
    expect(found.slice(1, 3).map((one) => one.includes(": Its schema: "))).toEqual([true, true]);
  });
});

describe("recorded answers", () => {
  const answer = (more: object) => ({ request: "0".repeat(64), kind: "model", asked: null, ...more });
  const cassette = (...answers: object[]) => ({
    answers: { format: "troupe.cassette", version: 1, recorded: {}, answers },
  });
  const error = { name: "E", message: "m" };
  test("a recorded answer has a value, an error or neither, but not both", () => {
    expect(errorsOf(cassette(answer({ value: 1 }), answer({ error }), answer({})))).toEqual([]);
    expect(errorsOf(cassette(answer({ value: 1 }), answer({ value: null, error })))).toEqual([
      "Recorded answer 2 has both a value and an error.",
    ]);
  });
  test("recorded answers of a workflow can have up to 4 MiB", () => {
    const around = JSON.stringify(
      ScenarioFields.parse({ name: "It", ...cassette(answer({ value: "" })) }).answers,
    ).length;
    const of = (chars: number) => errorsOf(cassette(answer({ value: "x".repeat(chars - around) })));
    expect(of(4 * 1024 * 1024)).toEqual([]);
    expect(of(4 * 1024 * 1024 + 1)).toEqual([
      "Its recorded answers exceed 4 MiB, the maximum for a workflow.",
    ]);
  });
});
