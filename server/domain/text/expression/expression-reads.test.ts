import { expect, test } from "vitest";
import type { Json } from "@/server/domain/base/values";
import {
  checkExpression,
  ExpressionError,
  evaluateCondition,
  expressionKeys,
  expressionReads,
  MAX_EXPRESSION_LENGTH,
  withStateNamed,
} from "./expression";

test.each([
  ["state.a", ["state a"]],
  ["state.?a", ["state a?"]],
  ["state['a'] == state[?'b']", ["state a", "state b?"]],
  ["state[input.which]", ["input which"]],
  ["has(state.a)", ["state a?"]],
  ["has(state.a.b)", ["state a"]],
  ["size(state.a)", ["state a"]],
  ["state.a.b.c", ["state a"]],
  ["input.a + nodes.b.output.c + run.id + output.d", ["input a", "nodes b", "run id", "output d"]],
  ["item.a == now", []],
  ["!state.a", ["state a!"]],
  ["!(state.a == 1 && state.b)", ["state a!", "state b!"]],
  ["!has(state.a)", ["state a?!"]],
  ["-state.a", ["state a"]],
  ["state.a ? state.b : state.c", ["state a", "state b", "state c"]],
  ["[state.a, {state.b: state.c}]", ["state a", "state b", "state c"]],
  ["state.list.map(x, x.a + state.b)", ["state list", "state b"]],
  ["state.list.map(state, state.a)", ["state list"]],
  ["state.list.map(x, input.a).exists(input, input.a)", ["state list", "input a"]],
  ["state.list.transformMap(state, input, input.a)", ["state list"]],
  ["state.list.all(state, x, state.a && x.a)", ["state list"]],
  ["state.s.replace(state.a, state.b)", ["state s", "state a", "state b"]],
  ["[1].map(x, x == state.x)", ["state x"]],
])("an expression reads the keys that it names, in order: %s reads %j", (text, expected) => {
  const reads = expressionReads(text).map(
    ({ variable, key, optional, negated }) => `${variable} ${key}${optional ? "?" : ""}${negated ? "!" : ""}`,
  );
  expect(reads).toEqual(expected);
});

test("a call of matches is rejected anywhere, and only one error is reported", () => {
  const message = "matches is not supported. Use contains, startsWith or ==.";
  expect(
    ["matches('a', 'b')", "[matches('a', 'b'), matches('a', 'c')]", "!'a'.matches('b')"].map((text) =>
      checkExpression(text).map((diagnostic) => [
        diagnostic.message,
        text.slice(diagnostic.from, diagnostic.to),
      ]),
    ),
  ).toEqual([
    [[message, "matches('a', 'b')"]],
    // The last is looked at first.
    [[message, "matches('a', 'c')"]],
    [[message, "'a'.matches('b')"]],
  ]);
});

test("keys that no node writes are reported unless they are optional or not in the state", () => {
  const keys = ["a"];
  const diagnosticsOf = (text: string) =>
    checkExpression(text, { keys }).map(({ message, from, to }) => [message, text.slice(from, to)]);
  expect(diagnosticsOf("state.a && input.b && state.?b.orValue(true) && has(state.c) && nodes.d")).toEqual(
    [],
  );
  expect(diagnosticsOf("state.b == state.c")).toEqual([
    ['No node before this one writes "b".', "state.b"],
    ['No node before this one writes "c".', "state.c"],
  ]);
  expect(checkExpression("state.b")).toEqual([]);
  expect(checkExpression("state.b + 'x'", { keys, result: "bool" })).toEqual([
    { message: "This must be true or false, but it is text.", from: 0, to: 13 },
    { message: 'No node before this one writes "b".', from: 0, to: 7 },
  ]);
  expect(checkExpression("1 + 1", { result: "any" })).toEqual([]);
});

test.each<[string, string]>([
  ["1", "the number 1"],
  ["1.5", "the number 1.5"],
  ["null", "nothing (null)"],
  ["[true]", "a list"],
  ["{'a': true}", "an object"],
  ["'true'", 'the text "true"'],
  [`'${"x".repeat(40)}'`, `the text "${"x".repeat(40)}"`],
  [`'${"x".repeat(41)}'`, `the text "${"x".repeat(40)}…"`],
])("a condition that is not a boolean is rejected with its value: %s gives %s", (text, gives) => {
  const error = refusal(() => evaluateCondition(text, { state: {} }));
  expect({ message: error.message, from: error.from, to: error.to, expression: error.expression }).toEqual({
    message: `A condition must be true or false, but this is ${gives}.`,
    from: 0,
    to: text.length,
    expression: text,
  });
});

test.each<[string, Record<string, Json>, unknown]>([
  ["state.a", { a: true }, { value: true }],
  ["state.a", { a: false }, { value: false }],
  ["state.a", {}, { value: false, note: '"a" doesn\'t exist yet, so this counts as false.' }],
  ["!state.a", {}, { value: false, note: '"a" doesn\'t exist yet, so this counts as false.' }],
  [
    "state.a[0]",
    { a: [] },
    { value: false, note: '"state.a[0]" doesn\'t exist yet, so this counts as false.' },
  ],
  ["state.?a.value()", {}, { value: false, note: '"value" doesn\'t exist yet, so this counts as false.' }],
])("a condition may read a value that does not exist yet: %s with %j", (text, state, expected) => {
  expect(evaluateCondition(text, { state })).toEqual(expected);
});

test("an expression may be as long as the limit, but not longer", () => {
  const most = `1${" ".repeat(MAX_EXPRESSION_LENGTH - 1)}`;
  expect(checkExpression(most)).toEqual([]);
  expect(checkExpression(`${most} `)).toEqual([
    { message: "An expression can have at most 2000 characters.", from: 2000, to: 2001 },
  ]);
  expect(checkExpression("  \n ")).toEqual([
    { message: "Enter an expression, for example state.count > 3.", from: 0, to: 4 },
  ]);
  expect(expressionKeys(`state.a + ${most}`)).toEqual([]);
});

test("every bare name of a key is saved as state.key", () => {
  const keys = ["a", "count", "size"];
  expect(
    [
      "count > 3",
      "count > a + count",
      "state.count > other",
      "a.b[count]",
      "[1].map(a, a + count)",
      "size(a)",
      "'count' + a",
      "count >",
      "",
      "   ",
      "count".padEnd(MAX_EXPRESSION_LENGTH),
      "count".padEnd(MAX_EXPRESSION_LENGTH + 1),
    ].map((text) => withStateNamed(text, keys).trimEnd()),
  ).toEqual([
    "state.count > 3",
    "state.count > state.a + state.count",
    "state.count > other",
    "state.a.b[state.count]",
    "[1].map(a, a + state.count)",
    "size(state.a)",
    "'count' + state.a",
    "count >",
    "",
    "",
    "state.count",
    "count",
  ]);
});

function refusal(doing: () => unknown): ExpressionError {
  try {
    doing();
  } catch (error) {
    if (error instanceof ExpressionError) return error;
  }
  throw new Error("It was not refused.");
}
