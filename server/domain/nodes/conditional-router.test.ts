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
])("%j stands for anything else: %s", (label, is) => {
  expect(isDefaultLabel(label)).toBe(is);
});

test.each([
  [{ kind: "function" as const, router_function_name: BUILT_IN }, true],
  [{ kind: "function" as const, router_function_name: "mine" }, false],
  [{ kind: "function" as const }, false],
  [{ kind: "llm" as const, router_function_name: BUILT_IN }, false],
])("a router with %j follows a built-in rule: %s", (config, follows) => {
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
])("a card with %j says %s", (config, summary) => {
  expect(summaryOf("conditional_router", config)).toBe(summary);
});

test.each([
  [{ kind: "function" }, ["router_function_name"]],
  [{ kind: "function", router_function_name: "mine" }, ["router_function_name", "router_function"]],
  [{ kind: "function", router_function_name: BUILT_IN }, ["router_function_name"]],
  [{ kind: "expression", router_function_name: "mine" }, ["mode"]],
  [{ kind: "value" }, ["value"]],
  [{ kind: "llm" }, ["instruction", "llm_config"]],
])("the form with %j shows, beside how it decides and its ways, %j", (config, fields) => {
  const shown = shownFields("conditional_router", config);
  expect(shown.filter((key) => key !== "kind" && key !== "conditions")).toEqual(fields);
});

describe("the ways out of a router", () => {
  const exitsOf = (config: object) =>
    router.exits?.(read(config)).map(({ label, isDefault }) => (isDefault ? `${label} (default)` : label));
  const conditions = [when("a"), when("b"), when("a", "true")];
  test.each([
    ["by conditions are theirs, each once", { kind: "expression", conditions, ways: ["x"] }, ["a", "b"]],
    [
      "have the one for anything else last",
      { kind: "expression", conditions, default_label: "else" },
      ["a", "b", "else (default)"],
    ],
    [
      "name the one for anything else once",
      { kind: "value", ways: ["a", "b"], default_label: "a" },
      ["a (default)", "b"],
    ],
    [
      "by a built-in rule are the rule's",
      { router_function_name: BUILT_IN, ways: ["x"] },
      ["approved", "rejected"],
    ],
    ["by a rule of one's own are those written down", { router_function_name: "mine", ways: ["x"] }, ["x"]],
    ["by a rule are none before any is written down", { router_function_name: "mine", conditions }, []],
    ["by a model are those written down", { kind: "llm", ways: ["x", "y"], conditions }, ["x", "y"]],
    ["by a value are none before any is written down", { kind: "value", conditions }, []],
  ])("%s", (_what, config, exits) => {
    expect(exitsOf(config)).toEqual(exits);
  });
});

describe("a router that decides in another way from now on", () => {
  const follow = (before: object, after: object, labels: string[]) =>
    router.follow?.(read(before), read(after), labels);
  const old = { conditions: [when("a"), when("b")] };
  test.each<[string, object, object, string[], object]>([
    [
      "changes nothing else where it is the same way",
      { kind: "value", value: "state.a" },
      { kind: "value", value: "state.b" },
      ["x"],
      { kind: "value", value: "state.b" },
    ],
    [
      "keeps all its ways as names where a value decides",
      { kind: "expression", ...old },
      { kind: "value", ...old },
      ["b", "a", "drawn"],
      { kind: "value", ...old, ways: ["b", "a", "drawn"] },
    ],
    [
      "takes on the ways of a built-in rule",
      { kind: "expression", ...old },
      { kind: "function", router_function_name: BUILT_IN, ...old },
      ["a", "b"],
      { kind: "function", router_function_name: BUILT_IN, ...old },
    ],
    [
      "has the names back that it had before a built-in rule",
      { kind: "function", router_function_name: BUILT_IN, ways: ["x", "y"] },
      { kind: "llm", ways: ["x", "y"] },
      ["approved", "rejected"],
      { kind: "llm", ways: ["x", "y"] },
    ],
    [
      "has the names of its conditions back that it had before a built-in rule",
      { kind: "function", router_function_name: BUILT_IN, ...old },
      { kind: "llm", ...old },
      ["approved", "rejected"],
      { kind: "llm", ...old, ways: ["a", "b"] },
    ],
    [
      "keeps the names of a built-in rule where it never had others",
      { kind: "function", router_function_name: BUILT_IN },
      { kind: "value" },
      ["approved", "rejected"],
      { kind: "value", ways: ["approved", "rejected"] },
    ],
    [
      "does not bring names back that a rule of one's own did not have",
      { kind: "function", router_function_name: "mine", ways: ["x"] },
      { kind: "value", ways: ["x"] },
      ["x", "drawn"],
      { kind: "value", ways: ["x", "drawn"] },
    ],
    [
      "compares the value with each name where conditions decide",
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
      "has conditions yet to be written where no value decided",
      { kind: "value" },
      { kind: "expression" },
      ["a"],
      { kind: "expression", conditions: [when("a", "")] },
    ],
    [
      "has conditions yet to be written where a model decided, whatever value is left over",
      { kind: "llm", value: "state.s" },
      { kind: "expression", value: "state.s" },
      ["a"],
      { kind: "expression", value: "state.s", conditions: [when("a", "")] },
    ],
    [
      "keeps the conditions that were there before, of the ways that there are",
      { kind: "value", value: "state.s", ...old },
      { kind: "expression", value: "state.s", ...old },
      ["b", "new"],
      { kind: "expression", value: "state.s", conditions: [when("b"), when("new", 'state.s == "new"')] },
    ],
    [
      "has the conditions back that it had before a built-in rule",
      { kind: "function", router_function_name: BUILT_IN, ...old },
      { kind: "expression", ...old },
      ["approved", "rejected"],
      { kind: "expression", ...old },
    ],
    [
      "has a condition for each way of a built-in rule where it had none before",
      { kind: "function", router_function_name: BUILT_IN },
      { kind: "expression" },
      ["approved"],
      { kind: "expression", conditions: [when("approved", "")] },
    ],
  ])("%s", (_what, before, after, labels, expected) => {
    expect(follow(before, after, labels)).toEqual(read(expected));
  });
});

test.each<[string, object, unknown[]]>([
  ["no rule is named", {}, [["E_UNKNOWN_ROUTER_FUNCTION", "router_function_name"]]],
  ["nothing, where another router says the rule", { router_function_name: "mine" }, []],
  ["nothing, where the rule is here", { router_function_name: "mine", router_function: cel }, []],
  [
    "a rule under a built-in name",
    { router_function_name: BUILT_IN, router_function: cel },
    [["E_ROUTER_FUNCTION_TAKEN", "router_function_name"]],
  ],
  [
    "a rule that says nothing",
    { router_function_name: "mine", router_function: { ...cel, source: " " } },
    [["E_ROUTER_FUNCTION_EMPTY", "router_function"]],
  ],
  ["no conditions", { kind: "expression" }, [["E_ROUTER_NO_CONDITIONS", "conditions"]]],
  [
    "conditions that say nothing, each of them",
    { kind: "expression", conditions: [when("a", " "), when("b"), when("c", "")] },
    [
      ["E_BAD_EXPRESSION", "conditions"],
      ["E_BAD_EXPRESSION", "conditions"],
    ],
  ],
  ["no value", { kind: "value", conditions: [when("a", "")] }, [["E_BAD_EXPRESSION", "value"]]],
  ["nothing, where a value is named", { kind: "value", value: "state.a" }, []],
  ["nothing of a model without words", { kind: "llm" }, []],
])("what is wrong with a router by itself: %s", (_what, config, diagnostics) => {
  const node = nodeOf("conditional_router", config);
  const found = router.validate?.(node.config, node, () => null) ?? [];
  expect(found.map(({ code, field }) => [code, field])).toEqual(diagnostics);
  expect(found.map(({ severity }) => severity)).toEqual(found.map(() => "error"));
});

test("what is missing of a condition, and what is wrong with a name, is told with that name", () => {
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
])("of %j, only what decides is used and checked", (config, uses, expressions, templates) => {
  const settings = read(config);
  expect(router.uses?.(settings)).toEqual(uses);
  expect(router.expressions?.(settings)).toEqual(expressions);
  expect(router.templates?.(settings)).toEqual(templates);
});
