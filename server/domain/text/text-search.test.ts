import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { WORK_LIMITS, Work } from "@/server/domain/base/work-budget";
import { find, findAll, replaceText } from "./text-search";

const spent = (work: Work) => WORK_LIMITS.units - work.remaining;

describe("a long text that repeats itself", () => {
  // Of two letters, so that nearly every place begins like the needle.
  const text = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 7, maxLength: 60 });
  const cut = fc.tuple(text, fc.nat(60), fc.integer({ min: 7, max: 20 }), fc.nat(60));

  test("is found where the language itself finds it", () => {
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

  test("has its places without overlaps, and no more than are asked for", () => {
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
])("%j with %j as %j, at most %i times, is %5$j", (text, from, to, most, expected) => {
  expect(replaceText(new Work(), text, from, to, most)).toBe(expected);
});

test.each<[string, (work: Work) => unknown, number]>([
  ["a short needle reads what is left of the text", (work) => find(work, "x".repeat(160), "y", 80), 5],
  ["a needle from behind the end reads nothing", (work) => find(work, "x".repeat(160), "y", 200), 0],
  ["a needle that does not fit reads nothing", (work) => find(work, "x".repeat(16), "y".repeat(17)), 0],
  // 16, four times the needle, and twice the text.
  ["a long needle is prepared first", (work) => find(work, "x".repeat(160), "y".repeat(32)), 16 + 8 + 20],
  [
    "what was searched before a hit",
    (work) => find(work, `${"x".repeat(160)}${"y".repeat(32)}x`, "y".repeat(32)),
    16 + 8 + 24,
  ],
  [
    "a text of thousands is counted as it goes",
    (work) => find(work, "x".repeat(4096), "y".repeat(32)),
    16 + 8 + 512,
  ],
  // Once, and one for each place.
  ["short needles, all places", (work) => findAll(work, "x".repeat(32), "xx", 99), 2 + 16],
  ["long needles, all places", (work) => findAll(work, "x".repeat(32), "x".repeat(16), 99), 16 + 4 + 4 + 2],
  ["no place in a text that is too short", (work) => findAll(work, "x", "xx", 99), 0],
  // 4 places; 8 and the 28 characters of what is made.
  [
    "a replacement counts what is made",
    (work) => replaceText(work, "abab".repeat(2), "a", "xxxxxx", 99),
    1 + 4 + 8 + 2,
  ],
  ["between all characters", (work) => replaceText(work, "x".repeat(31), "", "y".repeat(5), 99), 32 + 8 + 12],
  ["between some characters", (work) => replaceText(work, "x".repeat(31), "", "y".repeat(5), 1), 32 + 8 + 3],
])("the work of a search is counted before it is done: %s", (_, search, units) => {
  const work = new Work();
  search(work);
  expect(spent(work)).toBe(units);
});
