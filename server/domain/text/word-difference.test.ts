import fc from "fast-check";
import { expect, test } from "vitest";
import { wordDifference } from "./word-difference";

test("what is other in two texts is told word by word", () => {
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

test("of any two texts, the pieces give both back", () => {
  const words = fc.array(fc.constantFrom("a", "bee", " ", "\n", "owl,", "–"), { maxLength: 40 });
  fc.assert(
    fc.property(words, words, (a, b) => {
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

test("texts that have nothing in common are told as one replaced by the other", () => {
  const many = (word: string) => Array.from({ length: 4_000 }, (_, at) => `${word}${at}`).join(" ");
  expect(wordDifference(many("a"), many("b")).map(({ kind }) => kind)).toEqual(["removed", "added"]);
});
