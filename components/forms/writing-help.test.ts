import { describe, expect, test } from "vitest";
import { draw } from "@/server/domain/testing/drawing";
import { evaluateCondition, withStateNamed } from "@/server/domain/text/expression/expression";
import { completeExpression, lintExpression, trueWhereMissing } from "./fields/expression-field";
import { completeTemplate } from "./fields/template-field";
import type { FormScope } from "./form-scope";

const scope: FormScope = {
  graph: draw("start > end"),
  node: null,
  keys: [
    { key: "sure", from: [], certain: true },
    { key: "maybe", from: [], certain: false },
  ],
  roles: [],
};
const offered = (text: string) =>
  (completeExpression(text, text.length, scope, [])?.options ?? []).map(({ label }) => label);

describe("expression completion", () => {
  test("completion offers keys, functions and now, and methods after a value", () => {
    expect(offered("state.")).toEqual(["sure", "maybe"]);
    expect(offered("")).toEqual(
      expect.arrayContaining(["state.sure", "has", "now", "size", "math.round", "timestamp"]),
    );
    expect(offered("math.")).toEqual(expect.arrayContaining(["math.round", "math.greatest"]));
    for (const text of ["state.sure.", "state.sure.so", "[1].", "x.split(',')."])
      expect(offered(text)).toEqual(
        expect.arrayContaining(["contains", "replace", "sort", "first", "exists"]),
      );
    expect(new Set(offered("state.sure.")).size).toBe(offered("state.sure.").length);
    expect(offered("2.")).toEqual([]);
  });

  test("an optional key under a negation gets a hint with a fix that handles the missing key", () => {
    const diagnostics = (text: string) =>
      lintExpression(text, "bool", scope).map(({ message, severity }) => [severity, message]);
    expect(diagnostics("!(state.maybe > 1)")).toEqual([
      ["info", "If “maybe” is missing, the condition is false, even when negated with “!”."],
    ]);
    for (const text of [
      "!(state.sure > 1)",
      "state.maybe > 1",
      "!has(state.maybe)",
      "has(state.maybe) && !(state.maybe > 1)",
    ])
      expect([text, diagnostics(text)]).toEqual([text, []]);
    const mended = trueWhereMissing("!(state.maybe > 1)", "maybe");
    expect(diagnostics(mended)).toEqual([]);
    expect(evaluateCondition("!(state.maybe > 1)", { state: {} }).value).toBe(false);
    expect(
      [undefined, 1, 2].map(
        (maybe) => evaluateCondition(mended, { state: maybe === undefined ? {} : { maybe } }).value,
      ),
    ).toEqual([true, true, false]);
  });
});

test("template completion offers filters, and keys also as filter arguments", () => {
  const labels = (text: string) =>
    (completeTemplate(text, text.length, scope)?.options ?? []).map(({ label }) => label);
  expect(labels("{{ sure | ")).toEqual(expect.arrayContaining(["join", "date", "replace", "first"]));
  expect(labels("{{ sure | default: ")).toEqual(["sure", "maybe"]);
  expect(labels("{{ ma")).toEqual(["sure", "maybe"]);
});

test("a bare key in an expression is stored with its state prefix", () => {
  const keys = ["count", "status"];
  expect(withStateNamed('count > 3 && status == "count"', keys)).toBe(
    'state.count > 3 && state.status == "count"',
  );
  expect(withStateNamed("[1, 2].exists(count, count > state.count)", keys)).toBe(
    "[1, 2].exists(count, count > state.count)",
  );
  expect(withStateNamed("has(status) && other", keys)).toBe("has(state.status) && other");
  expect(withStateNamed("count >", keys)).toBe("count >");
});
