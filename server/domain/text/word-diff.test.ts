import fc from "fast-check";
import { expect, test } from "vitest";
import { newWordDifference, wordDifference } from "./word-diff";

test("a difference is listed word by word", () => {
  expect(wordDifference("The owl is white.", "The barn owl is white.")).toEqual([
    { kind: "same", text: "The " },
    { kind: "added", text: "barn " },
    { kind: "same", text: "owl is white." },
  ]);
  expect(wordDifference("Why bees matter, always", "How owls live, always")).toEqual([
    { kind: "removed", text: "Why bees matter" },
    { kind: "added", text: "How owls live" },
    { kind: "same", text: ", always" },
  ]);
  expect(wordDifference("same", "same")).toEqual([{ kind: "same", text: "same" }]);
  expect(wordDifference("", "")).toEqual([]);
});

test("the pieces of a difference restore both texts", () => {
  const tokens = fc.array(fc.constantFrom("a", "bee", " ", "\n", "owl,", "–"), { maxLength: 40 });
  fc.assert(
    fc.property(tokens, tokens, (a, b) => {
      const [before, after] = [a.join(""), b.join("")];
      const pieces = wordDifference(before, after);
      const without = (kind: string) =>
        pieces
          .filter((piece) => piece.kind !== kind)
          .map(({ text }) => text)
          .join("");
      expect([without("added"), without("removed")]).toEqual([before, after]);
    }),
  );
});

test("texts without common words become one removal and one addition", () => {
  const many = (word: string) => Array.from({ length: 4_000 }, (_, at) => `${word}${at}`).join(" ");
  expect(wordDifference(many("a"), many("b")).map(({ kind }) => kind)).toEqual(["removed", "added"]);
});

test.each([
  ["", "new", "+new"],
  ["old", "", "-old"],
  ["a b c", "a x c", "=a |-b|+x|= c"],
  // Spaces between replaced words belong to the phrase; other things between them, or the end of the text, do not.
  ["one two end", "uno due end", "-one two|+uno due|= end"],
  ["one\ntwo end", "uno\ndue end", "-one|+uno|=\n|-two|+due|= end"],
  ["one two", "uno two", "-one|+uno|= two"],
  ["one ", "uno ", "-one|+uno|= "],
  ["a b end", "b end", "-a |=b end"],
  ["b c d", "a b x d", "+a |=b |-c|+x|= d"],
])("the difference between %j and %j is %j", (before, after, expected) => {
  const sign = { same: "=", removed: "-", added: "+" };
  expect(
    wordDifference(before, after)
      .map(({ kind, text }) => sign[kind] + text)
      .join("|"),
  ).toBe(expected);
});

test("texts over the limit are compared as a whole, even if one is empty", () => {
  const long = "word ".repeat(40_000);
  expect(wordDifference(long, "")).toEqual([{ kind: "removed", text: long }]);
  expect(wordDifference(long, `${long}x`).map(({ kind }) => kind)).toEqual(["removed", "added"]);
  const half = "word ".repeat(20_000).slice(0, -1);
  expect(wordDifference(half, `${half}!`)).toEqual([
    { kind: "same", text: half },
    { kind: "added", text: "!" },
  ]);
});

test("texts of one answer share a budget: what is beyond it is one replacement, and equal texts cost nothing", () => {
  const compare = newWordDifference();
  const many = (word: string) => Array.from({ length: 400 }, (_, at) => `${word}${at}`).join(" ");
  const kinds = (a: string, b: string) => compare(a, b).map(({ kind }) => kind);
  expect(kinds("a b c", "a x c")).toEqual(["same", "removed", "added", "same"]);
  for (let k = 0; k < 9; k++) kinds(many("a"), many("b"));
  expect(kinds("a b c", "a x c")).toEqual(["removed", "added"]);
  expect(kinds("a b c", "a b c")).toEqual(["same"]);
  expect(kinds("", "a b c")).toEqual(["added"]);
});
