import { describe, expect, test } from "vitest";
import { getNodeKind } from ".";
import { followsBuiltIn, isDefaultLabel } from "./conditional-router";
import { nodeOf, shownFields, summaryOf } from "./testing/execute-node";

const router = getNodeKind("conditional_router");
const BUILT_IN = "approval_status_router";
const read = (config: object) => nodeOf("conditional_router", config).config;
const when = (label: string, text = `state.${label}`) => ({ label, when: text });
const cel = { language: "cel", source: "state.a" };
const js = { language: "javascript", source: "return state.a;" };

test.each([
  ["else", true],
  ["Default", true],
  ["*", true],
  ["others", false],
  ["", false],
])("%j is a default label: %s", (label, is) => {
  expect(isDefaultLabel(label)).toBe(is);
});

test.each([
  [{ kind: "function" as const, router_function_name: BUILT_IN }, true],
  [{ kind: "function" as const, router_function_name: "mine" }, false],
  [{ kind: "function" as const }, false],
  [{ kind: "llm" as const, router_function_name: BUILT_IN }, false],
])("a router with %j uses a built-in rule: %s", (config, follows) => {
  expect(followsBuiltIn(config)).toBe(follows);
});

test.each([
  [{}, "No rule yet"],
  [{ router_function_name: "mine" }, "mine"],
  [{ kind: "value" }, "No value yet"],
  [{ kind: "value", value: "state.status" }, "By status"],
  [{ kind: "value", value: "state.a.b" }, "By state.a.b"],
  [{ kind: "value", value: "input.a" }, "By input.a"],
  [{ kind: "llm" }, "A model decides"],
  [{ kind: "expression" }, "No conditions yet"],
  [{ kind: "expression", conditions: [when("a")] }, "1 condition"],
  [{ kind: "expression", conditions: [when("a"), when("b")] }, "2 conditions"],
])("a router with %j has the summary %s", (config, summary) => {
  expect(summaryOf("conditional_router", config)).toBe(summary);
});

test.each([
  [{ kind: "function" }, ["router_function_name"]],
  [{ kind: "function", router_function_name: "mine" }, ["router_function_name", "router_function"]],
  [{ kind: "function", router_function_name: BUILT_IN }, ["router_function_name"]],
  [{ kind: "expression", router_function_name: "mine" }, ["mode"]],
  [{ kind: "value" }, ["value"]],
  [{ kind: "llm" }, ["instruction", "llm_config"]],
])("the form of a router with %j shows the fields %j", (config, fields) => {
  const shown = shownFields("conditional_router", config);
  expect(shown.filter((key) => key !== "kind" && key !== "conditions")).toEqual(fields);
});

describe("the routes of a router", () => {
  const exitsOf = (config: object) =>
    router.exits?.(read(config)).map(({ label, isDefault }) => (isDefault ? `${label} (default)` : label));
  const conditions = [when("a"), when("b"), when("a", "true")];
  test.each([
    ["by conditions are their unique labels", { kind: "expression", conditions, ways: ["x"] }, ["a", "b"]],
    [
      "end with the default",
      { kind: "expression", conditions, default_label: "else" },
      ["a", "b", "else (default)"],
    ],
    ["list the default once", { kind: "value", ways: ["a", "b"], default_label: "a" }, ["a (default)", "b"]],
    [
      "by a built-in rule are that rule's routes",
      { router_function_name: BUILT_IN, ways: ["x"] },
      ["approved", "rejected"],
    ],
    ["by a custom rule are the configured routes", { router_function_name: "mine", ways: ["x"] }, ["x"]],
    ["by a custom rule are empty until configured", { router_function_name: "mine", conditions }, []],
    ["by a model are the configured routes", { kind: "llm", ways: ["x", "y"], conditions }, ["x", "y"]],
    ["by a value are empty until configured", { kind: "value", conditions }, []],
  ])("the routes of a router %s", (_what, config, exits) => {
    expect(exitsOf(config)).toEqual(exits);
  });
});

describe("changing how a router decides", () => {
  const follow = (before: object, after: object, labels: string[]) =>
    router.follow?.(read(before), read(after), labels);
  const old = { conditions: [when("a"), when("b")] };
  test.each<[string, object, object, string[], object]>([
    [
      "that keeps its kind changes nothing else",
      { kind: "value", value: "state.a" },
      { kind: "value", value: "state.b" },
      ["x"],
      { kind: "value", value: "state.b" },
    ],
    [
      "that switches from conditions to a value keeps its route names",
      { kind: "expression", ...old },
      { kind: "value", ...old },
      ["b", "a", "drawn"],
      { kind: "value", ...old, ways: ["b", "a", "drawn"] },
    ],
    [
      "that switches to a built-in rule takes that rule's routes",
      { kind: "expression", ...old },
      { kind: "function", router_function_name: BUILT_IN, ...old },
      ["a", "b"],
      { kind: "function", router_function_name: BUILT_IN, ...old },
    ],
    [
      "that leaves a built-in rule restores its earlier route names",
      { kind: "function", router_function_name: BUILT_IN, ways: ["x", "y"] },
      { kind: "llm", ways: ["x", "y"] },
      ["approved", "rejected"],
      { kind: "llm", ways: ["x", "y"] },
    ],
    [
      "that leaves a built-in rule restores the names of its conditions",
      { kind: "function", router_function_name: BUILT_IN, ...old },
      { kind: "llm", ...old },
      ["approved", "rejected"],
      { kind: "llm", ...old, ways: ["a", "b"] },
    ],
    [
      "that leaves a built-in rule keeps the rule's routes if it had no others",
      { kind: "function", router_function_name: BUILT_IN },
      { kind: "value" },
      ["approved", "rejected"],
      { kind: "value", ways: ["approved", "rejected"] },
    ],
    [
      "that leaves a custom rule keeps its current routes",
      { kind: "function", router_function_name: "mine", ways: ["x"] },
      { kind: "value", ways: ["x"] },
      ["x", "drawn"],
      { kind: "value", ways: ["x", "drawn"] },
    ],
    [
      "that switches from a value to conditions compares the value with each name",
      { kind: "value", value: "state.s" },
      { kind: "expression", value: "state.s" },
      ["a", 'say "b"'],
      {
        kind: "expression",
        value: "state.s",
        conditions: [when("a", 'state.s == "a"'), when('say "b"', 'state.s == "say \\"b\\""')],
      },
    ],
    [
      "that switches to conditions without a value gets empty conditions",
      { kind: "value" },
      { kind: "expression" },
      ["a"],
      { kind: "expression", conditions: [when("a", "")] },
    ],
    [
      "that switches from a model to conditions ignores a leftover value",
      { kind: "llm", value: "state.s" },
      { kind: "expression", value: "state.s" },
      ["a"],
      { kind: "expression", value: "state.s", conditions: [when("a", "")] },
    ],
    [
      "that switches to conditions keeps earlier conditions of current routes",
      { kind: "value", value: "state.s", ...old },
      { kind: "expression", value: "state.s", ...old },
      ["b", "new"],
      { kind: "expression", value: "state.s", conditions: [when("b"), when("new", 'state.s == "new"')] },
    ],
    [
      "that leaves a built-in rule restores its earlier conditions",
      { kind: "function", router_function_name: BUILT_IN, ...old },
      { kind: "expression", ...old },
      ["approved", "rejected"],
      { kind: "expression", ...old },
    ],
    [
      "that leaves a built-in rule gets an empty condition for each route",
      { kind: "function", router_function_name: BUILT_IN },
      { kind: "expression" },
      ["approved"],
      { kind: "expression", conditions: [when("approved", "")] },
    ],
  ])("a router %s", (_what, before, after, labels, expected) => {
    expect(follow(before, after, labels)).toEqual(read(expected));
  });
});

test.each<[string, object, unknown[]]>([
  ["a missing rule", {}, [["E_UNKNOWN_ROUTER_FUNCTION", "router_function_name"]]],
  ["nothing if another router defines the rule", { router_function_name: "mine" }, []],
  ["nothing if the rule is defined", { router_function_name: "mine", router_function: cel }, []],
  [
    "a custom rule with a built-in name",
    { router_function_name: BUILT_IN, router_function: cel },
    [["E_ROUTER_FUNCTION_TAKEN", "router_function_name"]],
  ],
  [
    "an empty rule",
    { router_function_name: "mine", router_function: { ...cel, source: " " } },
    [["E_ROUTER_FUNCTION_EMPTY", "router_function"]],
  ],
  ["missing conditions", { kind: "expression" }, [["E_ROUTER_NO_CONDITIONS", "conditions"]]],
  [
    "each empty condition",
    { kind: "expression", conditions: [when("a", " "), when("b"), when("c", "")] },
    [
      ["E_BAD_EXPRESSION", "conditions"],
      ["E_BAD_EXPRESSION", "conditions"],
    ],
  ],
  ["a missing value", { kind: "value", conditions: [when("a", "")] }, [["E_BAD_EXPRESSION", "value"]]],
  ["nothing if there is a value", { kind: "value", value: "state.a" }, []],
  ["nothing for a model without an instruction", { kind: "llm" }, []],
])("router diagnostics report %s", (_what, config, diagnostics) => {
  const node = nodeOf("conditional_router", config);
  const found = router.validate?.(node.config, node, () => null) ?? [];
  expect(found.map(({ code, field }) => [code, field])).toEqual(diagnostics);
  expect(found.map(({ severity }) => severity)).toEqual(found.map(() => "error"));
});

test("router messages name the empty condition and the taken rule name", () => {
  const messagesOf = (config: object) => {
    const node = nodeOf("conditional_router", config);
    return router.validate?.(node.config, node, () => null).map(({ message }) => message);
  };
  expect(messagesOf({ kind: "expression", conditions: [when("fine", "")] })).toEqual([
    "Add a condition for “fine”.",
  ]);
  expect(messagesOf({ router_function_name: BUILT_IN, router_function: cel })).toEqual([
    `“${BUILT_IN}” is a built-in rule. Choose another name.`,
  ]);
});

test.each<[object, unknown[], unknown[], unknown[]]>([
  [
    {
      router_function_name: "mine",
      router_function: cel,
      value: "state.v",
      instruction: "Choose",
      conditions: [when("a")],
    },
    [],
    [{ field: "router_function.source", expression: "state.a" }],
    [],
  ],
  [{ router_function_name: "mine", router_function: js }, [{ kind: "code", source: js.source }], [], []],
  [
    {
      kind: "expression",
      router_function: js,
      value: "state.v",
      instruction: "Choose",
      conditions: [when("a", " "), when("b")],
    },
    [],
    [{ field: "conditions.1", expression: "state.b", result: "bool" }],
    [],
  ],
  [
    { kind: "value", value: "state.v", router_function: cel },
    [],
    [{ field: "value", expression: "state.v", result: "any" }],
    [],
  ],
  [{ kind: "value" }, [], [], []],
  [
    { kind: "llm", value: "state.v", instruction: "Select {{a}}" },
    [],
    [],
    [{ field: "instruction", template: "Select {{a}}" }],
  ],
  [{ kind: "llm" }, [], [], []],
])("a router with %j uses and checks only the active settings", (config, uses, expressions, templates) => {
  const settings = read(config);
  expect(router.uses?.(settings)).toEqual(uses);
  expect(router.expressions?.(settings)).toEqual(expressions);
  expect(router.templates?.(settings)).toEqual(templates);
});
