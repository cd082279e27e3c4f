import { describe, expect, test } from "vitest";
import { executeNode, type World } from "./testing/execute-node";

const BUILT_IN = "approval_status_router";
const decide = (config: object, world: World = {}) => executeNode("conditional_router", config, world);
const when = (label: string, text = `state.${label}`) => ({ label, when: text });
const cel = { description: "", language: "cel" as const, source: "state.a" };
const js = { description: "", language: "javascript" as const, source: "return state.a;" };

describe("the routes that a router takes", () => {
  const rules = { mine: cel, code: js };
  const gave = (labels: string[], why?: object) => ({ output: {}, labels, ...(why ? { why } : {}) });
  test.each<[string, object, World, object]>([
    [
      "a built-in rule takes the approved route",
      { router_function_name: BUILT_IN },
      { state: { approval_status: " Approved " } },
      gave(["approved"]),
    ],
    [
      "a built-in rule takes the rejected route",
      { router_function_name: BUILT_IN },
      { state: { approval_status: "REJECTED" } },
      gave(["rejected"]),
    ],
    [
      "a built-in rule returns an error route for other text",
      { router_function_name: BUILT_IN },
      { state: { approval_status: "so" } },
      gave(["error_unknown_status"]),
    ],
    [
      "a built-in rule returns an error route for a non-text value",
      { router_function_name: BUILT_IN },
      { state: { approval_status: 3 } },
      gave(["error_unknown_status"]),
    ],
    [
      "a custom rule returns a single route",
      { router_function_name: "mine" },
      { rules, state: { a: "x" } },
      gave(["x"]),
    ],
    [
      "a custom rule returns several routes",
      { router_function_name: "mine" },
      { rules, state: { a: ["x", "y"] } },
      gave(["x", "y"]),
    ],
    [
      "a text value is the route name",
      { kind: "value", value: "state.a" },
      { state: { a: "x" } },
      gave(["x"]),
    ],
    [
      "a number value becomes a route name",
      { kind: "value", value: "state.a" },
      { state: { a: 3 } },
      gave(["3"]),
    ],
    [
      "a list value takes several routes and skips null",
      { kind: "value", value: "state.a" },
      { state: { a: ["x", null, true] } },
      gave(["x", "true"]),
    ],
    ["a null value takes no route", { kind: "value", value: "state.a" }, { state: { a: null } }, gave([])],
    ["a router without a value takes no route", { kind: "value" }, {}, gave([])],
    [
      "the first true condition wins, and later conditions aren't evaluated",
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
      "mode all takes every true condition and notes missing values",
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
  test("a JavaScript rule gets the state as its input", () => {
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
  ])("a router with %j fails: %s", (config, message) => {
    const { failed } = decide(config, { rules, state: { a: ["x", 1] }, answer: { long: "y".repeat(300) } });
    expect(failed).toEqual({ code: "ROUTER_FAILED", message, retryable: false, user_action: "edit_graph" });
  });
});

describe("a router decided by a model", () => {
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
      "offers each route once, without the default",
      { instruction: "Choose" },
      exits,
      { instruction: "Choose", labels: [a, b] },
    ],
    ["offers the default if it's the only route", {}, [exits[5]!], { instruction: "", labels: [other] }],
    [
      "passes on its model settings",
      { llm_config: { model: "m" } },
      exits,
      { instruction: "", labels: [a, b], llm_config: { model: "m" } },
    ],
  ])("a router decided by a model %s", (_what, config, offered, request) => {
    const { asked, gave } = decide({ kind: "llm", ...config }, { exits: offered, answer });
    expect(asked).toEqual([["choose", request]]);
    expect(gave).toEqual({ output: {}, labels: ["b"], why: { reason: "since", confidence: 0.5 } });
  });
});
