import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { newRecord } from "@/server/domain/base/json";
import type { Json } from "@/server/domain/base/values";
import { sized } from "@/server/testing/thorough";
import {
  checkExpression,
  ExpressionError,
  evaluateCondition,
  evaluateExpression,
  expressionKeys,
  expressionReads,
} from "./expression";

const state = newRecord<Json>({
  n: 1,
  score: 0.5,
  s: "a",
  list: [1, 2, 3],
  o: { a: null, deep: { x: "y" } },
  yes: true,
});
const evaluate = (text: string, more: Record<string, Json> = {}) =>
  evaluateExpression(text, { state: { ...state, ...more } });
const failure = (text: string, more: Record<string, Json> = {}) => {
  try {
    evaluate(text, more);
  } catch (error) {
    if (error instanceof ExpressionError)
      return { message: error.message, at: text.slice(error.from, error.to) };
    throw error;
  }
  return null;
};

describe("variables", () => {
  test("an expression can read every variable of the scope", () => {
    const scope = {
      state: { a: 1 },
      input: { a: 2 },
      nodes: { x: { output: { a: 3 } } },
      run: { id: "r" },
      output: { a: 4 },
      item: 5,
    };
    expect(evaluateExpression("[state.a, input.a, nodes.x.output.a, run.id, output.a, item]", scope)).toEqual(
      [1, 2, 3, "r", 4, 5],
    );
    expect(evaluateExpression("item", { state: {} })).toBe(null);
    const now = Date.parse("2026-01-31T08:30:00Z");
    expect(evaluateExpression("now", { state: {}, now })).toBe("2026-01-31T08:30:00.000Z");
    expect(evaluateExpression("now - timestamp('2026-01-31') > duration('8h')", { state: {}, now })).toBe(
      true,
    );
    expect(evaluateExpression("now.getHours('Europe/Paris')", { state: {}, now })).toBe(9);
  });
});

describe("conditions", () => {
  test("a condition on a missing value is false, with a note", () => {
    expect(evaluateCondition("state.missing == 1", { state })).toEqual({
      value: false,
      note: '"missing" doesn\'t exist yet, so this counts as false.',
    });
    expect(evaluateCondition("state.o.b == 1", { state })).toEqual({
      value: false,
      note: '"b" doesn\'t exist yet, so this counts as false.',
    });
    expect(evaluateCondition("state.n == 1", { state })).toEqual({ value: true });
    expect(evaluateCondition("state.yes || state.missing", { state })).toEqual({ value: true });
  });

  test("a condition that is neither true nor false throws an error", () => {
    expect(() => evaluateCondition("state.n", { state })).toThrow(
      "A condition must be true or false, but this is the number 1.",
    );
    expect(() => evaluateCondition("state.s > 3", { state })).toThrow("Type mismatch: string > int.");
  });
});

describe("rejected expressions", () => {
  test("optional syntax of other dialects is rejected with a supported alternative", () => {
    const message =
      "Optional entries ({?k: x}, [?x]), ??, optMap and ofNonZeroValue are not supported. Write has(x) ? ... : ... instead.";
    const optional = [
      ["{?'k': state.?n}", "?"],
      ["{'a': 1, ?'k': state.?n}", "?"],
      ["[?state.?n]", "?"],
      ["[1, ?state.?n]", "?"],
      ["state.n ?? 1", "?"],
      ["state.?n.optMap(y, y + 1)", "state.?n.optMap(y, y + 1)"],
      ["state.?n.optFlatMap(y, y)", "state.?n.optFlatMap(y, y)"],
      ["optional.ofNonZeroValue(state.n)", "optional.ofNonZeroValue(state.n)"],
    ];
    expect(optional.map(([text = ""]) => failure(text))).toEqual(optional.map(([, at]) => ({ message, at })));
    // What is refused for another reason says so; what there is stays.
    expect(failure("[1, )")).toEqual({ message: "Unexpected token: RPAREN.", at: ")" });
    expect(failure("? 1 : 2")).toEqual({ message: "Unexpected token: QUESTION.", at: "?" });
    expect(
      evaluate("[state.?none.orValue(2), has(state.none) ? state.none : 3, state.list[?7].orValue(4)]"),
    ).toEqual([2, 3, 4]);
  });

  test("a check finds the same errors before the expression runs", () => {
    expect(checkExpression("state.n >")).toEqual([
      { message: "The expression is incomplete.", from: 9, to: 9 },
    ]);
    expect(checkExpression("state.s.matches('x')")[0]?.message).toMatch(/^matches is not supported/);
    expect(checkExpression("1 + 1", { result: "bool" })).toEqual([
      { message: "This must be true or false, but it is a number.", from: 0, to: 5 },
    ]);
    expect(checkExpression("state.n", { result: "bool" })).toEqual([]);
    // Of a choice it is known where both ways give the same.
    expect(
      ["1 : 2", "true : false", "1 : true", "true : 1"].map((branches) =>
        checkExpression(`state.yes ? ${branches}`, { result: "bool" }).map(({ message }) => message),
      ),
    ).toEqual([["This must be true or false, but it is a number."], [], [], []]);
    expect(checkExpression("state.a > state.b && has(state.c)", { keys: ["a"] })).toEqual([
      { message: 'No node before this one writes "b".', from: 10, to: 17 },
    ]);
  });

  test("an expression that is too long or too deep is rejected", () => {
    expect(failure(`1${" + 1".repeat(600)}`)?.message).toMatch(/at most 2000 characters/);
    expect(failure("(".repeat(1000))?.message).toMatch(/maxDepth/);
    expect(failure(`${"!".repeat(1900)}true`)?.message).toMatch(/maxAstNodes/);
  });

  test("an expression can't reach JavaScript objects", () => {
    for (const name of [
      "constructor",
      "__proto__",
      "prototype",
      "toString",
      "hasOwnProperty",
      "length",
      "valueOf",
    ])
      for (const text of [
        `state.${name}`,
        `state["${name}"]`,
        `state.s.${name}`,
        `state.o.${name}`,
        `state.list.${name}`,
        name,
        `${name}()`,
        `state.${name}()`,
        `state.s.${name}("x")`,
      ])
        expect([text, failure(text)]).not.toEqual([text, null]);
  });
});

describe("keys", () => {
  test("the keys of an expression are listed once, in order, without those that a macro binds", () => {
    expect(expressionKeys('state.a > state["b"] && has(state.c) || state.?d.orValue(state.a)')).toEqual([
      "a",
      "b",
      "c",
      "d",
    ]);
    expect(expressionKeys("state.list.map(state, state.inner)")).toEqual(["list"]);
    expect(expressionKeys("input.x + nodes.y")).toEqual([]);
    expect(expressionKeys("state.a >")).toEqual([]);
    expect(expressionReads("input.x == state.?y")).toEqual([
      { variable: "input", key: "x", optional: false, from: 0, to: 7 },
      { variable: "state", key: "y", optional: true, from: 11, to: 19 },
    ]);
  });
});

describe("arbitrary texts", () => {
  test("any text throws an ExpressionError within its bounds or evaluates to JSON", () => {
    const piece = fc.constantFrom(
      "state.n",
      "state.s",
      "state.list",
      "state",
      ".map(x, ",
      ".filter(y, ",
      "x",
      "(",
      ")",
      "[",
      "]",
      "{",
      "}",
      ":",
      ",",
      " + ",
      " == ",
      " ? ",
      "&&",
      "!",
      "-",
      "1",
      "2.5",
      "'t'",
      "null",
      "true",
      "in ",
      ".?q",
      "has(",
      "size(",
      "é",
      "\n",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const text = pieces.join("");
        for (const { from, to } of checkExpression(text, { result: "bool" })) {
          expect(0 <= from && from <= to && to <= text.length).toBe(true);
        }
        try {
          const value = evaluate(text);
          expect(JSON.parse(JSON.stringify(value))).toEqual(value);
        } catch (error) {
          expect(error).toBeInstanceOf(ExpressionError);
        }
      }),
      { numRuns: sized(1000, 10_000) },
    );
  });

  test("an expression gives the same result again, even from the cache", () => {
    for (let i = 0; i < 1200; i++) expect(evaluate(`state.n + ${i % 700}`)).toBe(1 + (i % 700));
  });
});
