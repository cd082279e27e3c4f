import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { WORK_LIMITS, Work } from "@/server/domain/base/work-budget";
import { find, findAll, replaceText } from "./text-search";

const spent = (work: Work) => WORK_LIMITS.units - work.remaining;

describe("search in repetitive text", () => {
  // Of two letters, so that nearly every place begins like the needle.
  const text = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 7, maxLength: 60 });
  const cut = fc.tuple(text, fc.nat(60), fc.integer({ min: 7, max: 20 }), fc.nat(60));

  test("a search finds the same places as JavaScript", () => {
    fc.assert(
      fc.property(cut, ([within, start, length, from]) => {
        const needle = within.slice(start % (within.length - 6)).slice(0, length);
        expect(find(new Work(), within, needle, from)).toBe(within.indexOf(needle, from));
        expect(replaceText(new Work(), within, needle, "-", Number.POSITIVE_INFINITY)).toBe(
          within.replaceAll(needle, "-"),
        );
      }),
    );
  });

  test("matches don't overlap and are limited to the maximum", () => {
    const places = (most: number) => findAll(new Work(), "aaaaaaaa".repeat(3), "aaaaaaaa", most);
    expect([places(9), places(3), places(2), places(0)]).toEqual([[0, 8, 16], [0, 8, 16], [0, 8], []]);
    expect(findAll(new Work(), "abababab-abababab", "abababab", 9)).toEqual([0, 9]);
    expect(findAll(new Work(), "short", "much longer", 9)).toEqual([]);
    expect(findAll(new Work(), "needle7", "needle7", 9)).toEqual([0]);
  });
});

test.each([
  ["banana", "an", "-", 9, "b--a"],
  ["banana", "an", "-", 1, "b-ana"],
  ["banana", "an", "-", 0, "banana"],
  ["banana", "x", "-", 9, "banana"],
  ["banana", "banana", "", 9, ""],
  ["ab", "", "-", 9, "-a-b-"],
  ["ab", "", "-", 3, "-a-b-"],
  ["ab", "", "-", 2, "-a-b"],
  ["ab", "", "-", 1, "-ab"],
  ["", "", "-", 9, "-"],
])("in %j, replacing %j with %j at most %i times gives %5$j", (text, from, to, most, expected) => {
  expect(replaceText(new Work(), text, from, to, most)).toBe(expected);
});

test.each<[string, (work: Work) => unknown]>([
  ["after the end of the text", (work) => find(work, "x".repeat(160), "y", 200)],
  ["for a needle longer than the text", (work) => find(work, "x".repeat(16), "y".repeat(17))],
  ["for all matches in a text that is too short", (work) => findAll(work, "x", "xx", 99)],
])("a search %s takes no work", (_, search) => {
  const work = new Work();
  search(work);
  expect(spent(work)).toBe(0);
});

test.each<[string, (work: Work) => unknown, number]>([
  ["a short needle reads the rest of the text", (work) => find(work, "x".repeat(160), "y", 80), 5],
  ["a long needle is preprocessed first", (work) => find(work, "x".repeat(160), "y".repeat(32)), 44],
  [
    "only the text before a match is searched",
    (work) => find(work, `${"x".repeat(160)}${"y".repeat(32)}${"x".repeat(4096)}`, "y".repeat(32)),
    48,
  ],
  ["a long text is counted during the search", (work) => find(work, "x".repeat(4096), "y".repeat(32)), 540],
  ["all matches of a short needle", (work) => findAll(work, "x".repeat(32), "xx", 99), 18],
  ["all matches of a long needle", (work) => findAll(work, "x".repeat(32), "x".repeat(16), 99), 26],
  ["the replaced text is counted", (work) => replaceText(work, "abab".repeat(2), "a", "xxxxxx", 99), 15],
  [
    "insertion between all characters",
    (work) => replaceText(work, "x".repeat(31), "", "y".repeat(5), 99),
    52,
  ],
  [
    "insertion between some characters",
    (work) => replaceText(work, "x".repeat(31), "", "y".repeat(5), 1),
    43,
  ],
])("a search counts work by how much it reads and creates: %s", (_, search, units) => {
  const work = new Work();
  search(work);
  expect(spent(work)).toBeGreaterThan(units / 1.5);
  expect(spent(work)).toBeLessThan(units * 1.5);
});
