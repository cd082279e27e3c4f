import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "@/server/domain/base/values";
import { WORK_LIMITS, Work } from "@/server/domain/base/work-budget";
import { sized } from "@/server/testing/thorough";
import { find, findAll } from "../text-search";
import { checkExpression, ExpressionError, evaluateExpression } from "./expression";

/** As much as one request may bring in, in the shapes that cost most. */
const MIB = 1024 * 1024;
const big: Record<string, Json> = {
  text: "a".repeat(2 * MIB - 1000),
  half: "a".repeat(MIB),
  letters: "a".repeat(20_000),
  wide: "ж".repeat(MIB),
  needle: `b${"a".repeat(5000)}`,
  mixed: "ab,cd ef".repeat(MIB / 8),
  numbers: Array.from({ length: 300_000 }, (_, i) => i),
  names: Array.from({ length: 100_000 }, (_, i) => `name ${i}`),
  objects: Array.from({ length: 20_000 }, (_, i) => ({ id: i, name: `n${i}`, tags: ["a", "b"] })),
};

/** What an expression came to, and what it spent; a refusal must name the expression. */
function tried(text: string, state: Record<string, Json> = big) {
  const work = new Work();
  try {
    evaluateExpression(text, { state }, work);
    return { outcome: "ok", spent: WORK_LIMITS.units - work.remaining };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    expect(error.expression).toBe(text);
    return { outcome: error.message, spent: WORK_LIMITS.units - work.remaining };
  }
}

describe("expressions over the limits", () => {
  test.each<[string, RegExp]>([
    [
      "state.letters.split('').map(a, state.letters.split('').map(b, 1).size()).size()",
      /^Too much work for one step/,
    ],
    ["state.numbers.all(x, state.numbers.exists(y, x == y + 1))", /^Too much work for one step/],
    [
      "[1].map(a, state.names.map(b, state.names.map(c, state.names.map(d, d))))",
      /^Too much work for one step/,
    ],
    ["state.text + state.half + state.text", /^Result too long: 5,24\d,\d{3} characters/],
    ["[1, 2, 3, 4, 5, 6, 7, 8].map(x, state.half + state.half)", /^Too much work for one step/],
    ["state.names.map(x, state.half)", /^Too much work for one step/],
    ["[1, 2, 3, 4, 5, 6, 7, 8, 9].map(x, state.half)", /^The result exceeds 8,388,608 characters/],
    ["state.text.split('')", /^Result too long: more than 100,000 items/],
    ["state.text.split('', 100001)", /^Result too long: more than 100,000 items/],
    ["state.mixed.split(',')", /^Result too long: more than 100,000 items/],
    ["state.numbers + state.numbers", /^Result too long: more than 100,000 items/],
    ["state.half.replace('a', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')", /^Result too long: /],
    ["'aaaa'.replace('', state.half + 'a')", /^Result too long: [\d,]+ characters/],
    ["[state.text, state.text, state.text].join()", /^Result too long: [\d,]+ characters/],
    [
      "'%s%s%s'.format([state.text, state.text, state.text])",
      /^(Result too long: [\d,]+ characters|Too much work for one step)/,
    ],
    ["state.names.map(x, timestamp('2026-01-01').getHours('Europe/Paris'))", /^Too much work for one step/],
    ["state.numbers.exists(x, x.missing == 1)", /^Too much work for one step/],
    ["state.objects.all(x, state.objects == state.objects.map(y, y))", /^Too much work for one step/],
    ["state.names.map(x, x in state.names).size()", /^Too much work for one step/],
    ["state.names.all(x, state.names.sort().size() > 0)", /^Too much work for one step/],
    ["state.numbers.map(x, 1 / 0 == 1 || true)", /^Too much work for one step/],
    ["'%.200f'.format([1.5])", /^Use at most 20 decimals/],
  ])("an expression over a limit fails with an error that names it: %s", (text, message) => {
    expect(checkExpression(text)).toEqual([]);
    const { outcome, spent } = tried(text);
    expect(outcome).toMatch(message);
    if (/^(Too much work|Result too long)/.test(outcome))
      expect(outcome).toContain(`The expression: ${text.slice(0, 80)}`);
    expect(spent).toBeGreaterThan(0);
  });

  test("ordinary expressions on large values stay within the limits", () => {
    for (const text of [
      "state.text.contains('approved') && !state.text.contains('rejected')",
      "state.text.contains(state.needle)",
      "state.text.size() > 1000",
      "state.wide.upperAscii().size()",
      "state.names.exists(x, x == 'name 30000')",
      "'name 99999' in state.names",
      "state.objects.filter(x, x.id > 19990).map(x, x.name).join(', ')",
      "size(state.numbers)",
      "state.numbers[299999]",
      "state.text.split('', 100000).size()",
    ])
      expect([text, tried(text).outcome]).toEqual([text, "ok"]);
  });

  test("an expression that is too long or too deeply nested is rejected with a message", () => {
    for (const text of [
      "(".repeat(1_000_000),
      `${"!".repeat(1900)}true`,
      "[".repeat(1000) + "]".repeat(1000),
      `state${".a".repeat(900)}`,
      `1${" + 1".repeat(490)}`,
      `${"-".repeat(999)}1`,
      `true${" ? true : true".repeat(140)}`,
    ]) {
      const messages = checkExpression(text).map(({ message }) => message);
      for (const message of messages)
        expect(message).toMatch(/at most 2000 characters|nested too deeply or has too many parts/);
      if (messages.length === 0) expect(tried(text, { a: 1 }).outcome).toBeTypeOf("string");
    }
  });

  test("parsing an expression counts as work every time", () => {
    const text = `${"1 + ".repeat(200)}1`;
    const [first, second] = [tried(text), tried(text)];
    expect(first).toEqual(second);
    expect(first.spent).toBeGreaterThan(text.length);
    const work = new Work();
    const evaluateMany = () => {
      for (let i = 0; i < 3_000; i++)
        evaluateExpression(`state.numbers.size() > ${i} ? ${i} : 0`, { state: big }, work);
    };
    expect(evaluateMany).toThrow(/^Too much work for one step/);
  });

  test("evaluating an expression again counts the same work", () => {
    const text =
      "state.names.filter(x, x.contains('99')).map(x, x.replace('9', '0')).distinct().sort().join(',')";
    const state = { names: (big.names as Json[]).slice(0, 5000) };
    const first = tried(text, state);
    expect(first.outcome).toBe("ok");
    expect(tried(text, state)).toEqual(first);
  });
});

describe("random expressions", () => {
  const leaf = fc.constantFrom(
    "state.text",
    "state.half",
    "state.letters",
    "state.numbers",
    "state.names",
    "state.objects",
    "state.mixed",
    "x",
    "''",
    "'a'",
    "2",
    "1.5",
    "[1, 2, 3]",
    "{'a': 1}",
    "state",
  );
  const { expression } = fc.letrec<{ expression: string }>((tie) => ({
    expression: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      leaf,
      fc
        .tuple(tie("expression"), fc.constantFrom("+", "==", "in", "<", "&&", "%"), tie("expression"))
        .map(([a, op, b]) => `(${a} ${op} ${b})`),
      fc
        .tuple(tie("expression"), fc.constantFrom("map", "filter", "all", "exists"), tie("expression"))
        .map(([a, macro, b]) => `${a}.${macro}(x, ${b})`),
      fc
        .tuple(
          tie("expression"),
          fc.constantFrom("split", "join", "contains", "indexOf", "lastIndexOf", "format", "startsWith"),
          tie("expression"),
        )
        .map(([a, name, b]) => `${a}.${name}(${b})`),
      fc
        .tuple(tie("expression"), tie("expression"), tie("expression"))
        .map(([a, b, c]) => `${a}.replace(${b}, ${c})`),
      fc
        .tuple(
          tie("expression"),
          fc.constantFrom(
            "size()",
            "sort()",
            "distinct()",
            "flatten()",
            "reverse()",
            "upperAscii()",
            "sum()",
            "trim()",
          ),
        )
        .map(([a, call]) => `${a}.${call}`),
      tie("expression").map((a) => `string(${a})`),
      fc.tuple(tie("expression"), tie("expression")).map(([a, b]) => `[${a}, ${b}]`),
    ),
  }));

  test("a random expression never starts more work than allowed, and errors name the expression", () => {
    // One step at most is begun beyond the budget: a step counts itself before it is done.
    const largestStep = WORK_LIMITS.textLength;
    fc.assert(
      fc.property(expression, (text) => {
        const { spent, outcome } = tried(`[1].map(x, ${text})`);
        expect(outcome).not.toBe("");
        expect(spent).toBeLessThanOrEqual(WORK_LIMITS.units + largestStep);
      }),
      { numRuns: sized(100, 1000) },
    );
  });
});

describe("text search", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "ж", "😀"), maxLength: 40 });

  test("a text search finds the same places as JavaScript", () => {
    fc.assert(
      fc.property(
        text,
        fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 12 }),
        fc.nat(45),
        (within, part, from) => {
          expect(find(new Work(), within, part, from)).toBe(within.indexOf(part, from));
          if (part === "") return;
          const places = findAll(new Work(), within, part, Number.POSITIVE_INFINITY);
          expect(within.split(part).length - 1).toBe(places.length);
          for (const at of places) expect(within.startsWith(part, at)).toBe(true);
        },
      ),
    );
  });

  test("a text search takes work in proportion to the lengths, not to their product", () => {
    const spent = (size: number) => {
      const work = new Work();
      find(work, "a".repeat(size), `${"a".repeat(size / 2)}b`);
      return WORK_LIMITS.units - work.remaining;
    };
    expect(spent(200_000)).toBeLessThan(2.1 * spent(100_000));
  });
});
