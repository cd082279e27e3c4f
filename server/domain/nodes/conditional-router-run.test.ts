import { describe, expect, test } from "vitest";
import { executeNode, type World } from "./testing/execute-node";

const BUILT_IN = "approval_status_router";
const decide = (config: object, world: World = {}) => executeNode("conditional_router", config, world);
const when = (label: string, text = `state.${label}`) => ({ label, when: text });
const cel = { description: "", language: "cel" as const, source: "state.a" };
const js = { description: "", language: "javascript" as const, source: "return state.a;" };

describe("which ways a router takes", () => {
  const rules = { mine: cel, code: js };
  const gave = (labels: string[], why?: object) => ({ output: {}, labels, ...(why ? { why } : {}) });
  test.each<[string, object, World, object]>([
    [
      "a built-in rule says one",
      { router_function_name: BUILT_IN },
      { state: { approval_status: " Approved " } },
      gave(["approved"]),
    ],
    [
      "a built-in rule says another",
      { router_function_name: BUILT_IN },
      { state: { approval_status: "REJECTED" } },
      gave(["rejected"]),
    ],
    [
      "a built-in rule says what leads nowhere of any other text",
      { router_function_name: BUILT_IN },
      { state: { approval_status: "so" } },
      gave(["error_unknown_status"]),
    ],
    [
      "a built-in rule says what leads nowhere of what is no text",
      { router_function_name: BUILT_IN },
      { state: { approval_status: 3 } },
      gave(["error_unknown_status"]),
    ],
    [
      "a rule of one's own says one",
      { router_function_name: "mine" },
      { rules, state: { a: "x" } },
      gave(["x"]),
    ],
    [
      "a rule of one's own says several",
      { router_function_name: "mine" },
      { rules, state: { a: ["x", "y"] } },
      gave(["x", "y"]),
    ],
    ["a value is its text", { kind: "value", value: "state.a" }, { state: { a: "x" } }, gave(["x"])],
    ["a number is written out", { kind: "value", value: "state.a" }, { state: { a: 3 } }, gave(["3"])],
    [
      "a list gives several, without what is null",
      { kind: "value", value: "state.a" },
      { state: { a: ["x", null, true] } },
      gave(["x", "true"]),
    ],
    ["null takes none", { kind: "value", value: "state.a" }, { state: { a: null } }, gave([])],
    ["no value takes none", { kind: "value" }, {}, gave([])],
    [
      "the first condition that holds, and no later one is looked at",
      { kind: "expression", conditions: [when("a"), when("b"), when("c")] },
      { state: { a: false, b: true, c: true } },
      gave(["b"], {
        evaluations: [
          { ...when("a"), value: false },
          { ...when("b"), value: true },
        ],
      }),
    ],
    [
      "all conditions that hold, with a note where a value was missing",
      { kind: "expression", mode: "all", conditions: [when("a"), when("b"), when("c")] },
      { state: { a: true, c: true } },
      gave(["a", "c"], {
        evaluations: [
          { ...when("a"), value: true },
          { ...when("b"), value: false, note: '"b" doesn\'t exist yet, so this counts as false.' },
          { ...when("c"), value: true },
        ],
      }),
    ],
  ])("%s", (_what, config, world, expected) => {
    expect(decide(config, world)).toEqual({ asked: [], gave: expected });
  });
  test("a rule in JavaScript runs with the state as its input", () => {
    expect(decide({ router_function_name: "code" }, { rules, state: { a: 1 }, answer: "x" })).toEqual({
      asked: [["code", "const state = input; return state.a;", { a: 1 }]],
      gave: gave(["x"]),
    });
  });
  test.each([
    [{}, "Unknown rule “”. Define it or choose another."],
    [{ router_function_name: "unknown" }, "Unknown rule “unknown”. Define it or choose another."],
    [
      { router_function_name: "mine" },
      'Rule “mine” returned ["x",1]. It must return a route name or a list of route names.',
    ],
    [
      { router_function_name: "code" },
      `Rule “code” returned {"long":"${"y".repeat(191)}. It must return a route name or a list of route names.`,
    ],
  ])("with %j it fails: %s", (config, message) => {
    const { failed } = decide(config, { rules, state: { a: ["x", 1] }, answer: { long: "y".repeat(300) } });
    expect(failed).toEqual({ code: "ROUTER_FAILED", message, retryable: false, user_action: "edit_graph" });
  });
});

describe("a model that chooses the way", () => {
  const answer = { label: "b", reason: "since", confidence: 0.5 };
  const exits = [
    { label: "a", description: "to A" },
    { label: null, description: "nowhere" },
    { label: "b", description: "to B" },
    { label: "a", description: "to A, too" },
    { label: "", description: "unnamed" },
    { label: "Else", description: "otherwise" },
  ];
  const [a, b, other] = [exits[0], exits[2], exits[5]];
  test.each<[string, object, typeof exits, object]>([
    [
      "is told each way once, and not the one for anything else",
      { instruction: "Choose" },
      exits,
      { instruction: "Choose", labels: [a, b] },
    ],
    [
      "is told the way for anything else where there is no other",
      {},
      [exits[5]!],
      { instruction: "", labels: [other] },
    ],
    [
      "is asked of the provider that is set",
      { llm_config: { model: "m" } },
      exits,
      { instruction: "", labels: [a, b], llm_config: { model: "m" } },
    ],
  ])("%s", (_what, config, offered, request) => {
    const { asked, gave } = decide({ kind: "llm", ...config }, { exits: offered, answer });
    expect(asked).toEqual([["choose", request]]);
    expect(gave).toEqual({ output: {}, labels: ["b"], why: { reason: "since", confidence: 0.5 } });
  });
});
