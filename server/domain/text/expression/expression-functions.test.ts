import { expect, test } from "vitest";
import type { Json } from "@/server/domain/base/values";
import { ExpressionError, evaluateExpression } from "./expression";
import { offeredFunctions } from "./expression-functions";

const now = Date.parse("2026-11-22T11:30:00Z");
const state: Record<string, Json> = {
  s: "Hello, World",
  n: 2.5,
  list: [3, 1, 2, 3],
  words: ["b", "a", "c"],
  orders: [
    { id: 1, price: 10.5 },
    { id: 2, price: 4 },
  ],
  at: "2026-11-22",
};

test.each<[string, Json]>([
  // Numbers.
  ["[math.round(2.5), math.round(-2.5), math.round(2.4), math.round(7)]", [3, -3, 2, 7]],
  ["[math.floor(2.7), math.ceil(2.1), math.trunc(-2.7), math.abs(-4), math.sign(-0.5)]", [2, 3, -2, 4, -1]],
  ["[math.greatest(1, state.n, 2), math.least([3, 1.5]), math.max(1, 2), math.min(1, 2)]", [2.5, 1.5, 2, 1]],
  // Lists.
  ["state.list.sum() / state.list.size()", 2.25],
  ["state.orders.map(o, o.price).sum()", 14.5],
  ["state.words.sort().reverse().join('')", "cba"],
  ["state.list.contains(2) && !state.words.contains('z')", true],
  ["state.words.transformList(i, w, i > 0, string(i) + w)", ["1a", "2c"]],
  ["state.words.all(i, w, i < 3 && w.size() == 1)", true],
  ["state.orders.map(o, o.price > 5, o.id)", [1]],
  // Times; now is the one that is given.
  ["int(now) - int(timestamp(state.at))", 41_400],
  ["now - timestamp(state.at) > duration('11h')", true],
  ["timestamp('2026-11-22T13:30:00+02:00') == now", true],
  [
    "[now.getHours('+02:00'), now.getHours('America/New_York'), now.getDayOfWeek(), now.getDayOfYear()]",
    [13, 6, 0, 325],
  ],
  ["string(now + duration('36h'))", "2026-11-23T23:30:00Z"],
  ["string(duration('1.5s') + duration('-250ms'))", "1.25s"],
  ["bytes('{\"a\": [1]}').json().a[0]", 1],
])("evaluates %s", (text, expected) => {
  expect(evaluateExpression(text, { state, now })).toEqual(expected);
});

test("the first item of an empty list is reported as missing", () => {
  const found = (text: string) => {
    try {
      return evaluateExpression(text, { state });
    } catch (error) {
      return error instanceof ExpressionError ? error.missing : error;
    }
  };
  expect(found("[].first()")).toBe("first item");
  expect(found("[].last()")).toBe("last item");
  expect(found("[][0]")).toBe("[][0]");
});

test("every function that the editor offers has a name, a hint and a signature", () => {
  const offered = offeredFunctions();
  expect(offered.length).toBeGreaterThan(40);
  for (const { name, hint, signature } of offered) {
    expect(name).toMatch(/^[a-zA-Z.]+$/);
    expect(hint).not.toBe("");
    expect(signature).toContain(`${name}(`);
  }
});
