import { expect, test } from "vitest";
import type { Json } from "@/server/domain/base/values";
import { ExpressionError, evaluateExpression } from "./expression";
import { offeredFunctions } from "./expression-functions";

const now = Date.parse("2026-11-22T11:30:00Z");
const state: Record<string, Json> = {
  s: "Hello, World",
  emoji: "a😀b",
  n: 2.5,
  list: [3, 1, 2, 3],
  words: ["b", "a", "c"],
  nested: [[1], [2, [3]]],
  orders: [
    { id: 1, price: 10.5 },
    { id: 2, price: 4 },
  ],
  at: "2026-11-22",
};

test.each<[string, Json]>([
  // Texts; places are counted in characters.
  ["state.s.replace('o', '0')", "Hell0, W0rld"],
  ["state.s.replace('o', '0', 1)", "Hell0, World"],
  ["'ab'.replace('', '-')", "-a-b-"],
  ["state.s.charAt(4)", "o"],
  ["state.emoji.charAt(1) + state.emoji.charAt(2)", "😀b"],
  ["state.emoji.size()", 3],
  ["state.emoji.indexOf('b')", 2],
  ["state.emoji.substring(0, 2)", "a😀"],
  ["state.emoji.reverse()", "b😀a"],
  ["state.s.lastIndexOf('o')", 8],
  ["state.s.lastIndexOf('o', 7)", 4],
  ["state.s.indexOf('o', 5)", 8],
  ["state.s.substring(state.list[0])", "lo, World"],
  ["'a,b,c'.split(',', 2)", ["a", "b,c"]],
  [
    "'a,b'.split(',', 2) + 'a,b'.split(',', 1) + 'a,b'.split(',', 0) + 'a,b'.split(',', -1)",
    ["a", "b", "a,b", "a", "b"],
  ],
  [
    "state.emoji.split('', 2) + state.emoji.split('', 3) + state.emoji.split('')",
    ["a", "😀b", "a", "😀", "b", "a", "😀", "b"],
  ],
  ["'%s is %d years, %.1f m, %x'.format(['Ada', 36, 1.65, 255])", "Ada is 36 years, 1.6 m, ff"],
  ["'%s %s 100%%'.format([[1, 'x'], {'b': true, 'a': null}])", '[1, "x"] {"a": null, "b": true} 100%'],
  ["strings.quote('a \"b\"')", '"a \\"b\\""'],
  // Numbers.
  ["[math.round(2.5), math.round(-2.5), math.round(2.4), math.round(7)]", [3, -3, 2, 7]],
  ["[math.floor(2.7), math.ceil(2.1), math.trunc(-2.7), math.abs(-4), math.sign(-0.5)]", [2, 3, -2, 4, -1]],
  ["[math.greatest(1, state.n, 2), math.least([3, 1.5]), math.max(1, 2), math.min(1, 2)]", [2.5, 1.5, 2, 1]],
  ["math.sqrt(9)", 3],
  ["10 % 4 + state.list[0] % 2", 3],
  ["int('42') + int(3.9)", 45],
  // Lists.
  ["state.list.sum() / state.list.size()", 2.25],
  ["[].sum()", 0],
  ["[1, 0.5].sum()", 1.5],
  ["state.orders.map(o, o.price).sum()", 14.5],
  ["state.list.sort()", [1, 2, 3, 3]],
  ["state.words.sort().reverse().join('')", "cba"],
  ["state.list.slice(1, 3)", [1, 2]],
  ["[state.list.first(), state.list.last()]", [3, 3]],
  ["[1, 1.0, 'a', 'a', [1], [1.0], null, null].distinct()", [1, "a", [1], null]],
  [
    "[state.nested.flatten(), state.nested.flatten(2)]",
    [
      [1, 2, [3]],
      [1, 2, 3],
    ],
  ],
  ["state.list.contains(2) && !state.words.contains('z')", true],
  ["state.list.contains(2.5)", false],
  ["state.words.transformList(i, w, i > 0, string(i) + w)", ["1a", "2c"]],
  ["{'a': 1, 'b': 2}.transformMap(k, v, v * 10)", { a: 10, b: 20 }],
  ["state.words.all(i, w, i < 3 && w.size() == 1)", true],
  ["state.words.existsOne(w, w == 'a')", true],
  ["state.orders.map(o, o.price > 5, o.id)", [1]],
  // Times; now is the one that is given.
  ["string(now)", "2026-11-22T11:30:00Z"],
  ["int(now) - int(timestamp(state.at))", 41_400],
  ["now - timestamp(state.at) > duration('11h')", true],
  ["timestamp('2026-11-22T13:30:00+02:00') == now", true],
  [
    "[now.getHours('+02:00'), now.getHours('America/New_York'), now.getDayOfWeek(), now.getDayOfYear()]",
    [13, 6, 0, 325],
  ],
  ["string(now + duration('36h'))", "2026-11-23T23:30:00Z"],
  ["string(duration('1h30m'))", "5400s"],
  ["string(duration('1.5s') + duration('-250ms'))", "1.25s"],
  ["timestamp(0) < now", true],
  ["bytes('{\"a\": [1]}').json().a[0]", 1],
])("%s", (text, expected) => {
  expect(evaluateExpression(text, { state, now })).toEqual(expected);
});

test.each([
  ["state.s.charAt(99)", "The place 99 is outside of 0 to 12."],
  ["state.s.substring(state.n)", "A whole number is needed here, not 2.5."],
  ["['a', 1].sum()", "sum adds up numbers, and one item is string."],
  ["['a', 1].sort()", "sort puts numbers or texts in order, and here are int and string."],
  ["[1, 2].join(',')", "join puts texts together, and one item is int; write .map(x, string(x)) before it."],
  ["'%d'.format(['x'])", "%d is for numbers, and this is string; use %s."],
  ["'%10s'.format(['x'])", 'format knows %s, %d, %f, %.2f, %e, %x, %o, %b and %%, not "%".'],
  ["'%s %s'.format(['x'])", "format has more places than its list has values (1)."],
  ["math.greatest([])", "An empty list has no greatest and no least value."],
  [
    "now.getHours('Nowhere/Land')",
    'There is no time zone "Nowhere/Land"; write one like Europe/Paris or +02:00.',
  ],
  ["duration('soon')", 'duration() reads lengths like 90s, 15m or 1h30m, not "soon".'],
  ["int('4.5')", 'int() reads whole numbers, not "4.5".'],
  ["bytes('{').json()", "This text is not JSON."],
  ["9223372036854775807 + 1", "The whole number is out of range (64 bits)."],
])("%s is refused in words", (text, message) => {
  expect(() => evaluateExpression(text, { state, now })).toThrow(message);
});

test("the first item of an empty list is a value that is not there", () => {
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

test("what the editor offers has a name and words", () => {
  const offered = offeredFunctions();
  expect(offered.length).toBeGreaterThan(40);
  for (const { name, hint, signature } of offered) {
    expect(name).toMatch(/^[a-zA-Z.]+$/);
    expect(hint).not.toBe("");
    expect(signature).toContain(`${name}(`);
  }
});
