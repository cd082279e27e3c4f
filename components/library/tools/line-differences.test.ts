import { expect, test } from "vitest";
import { lineDifferences } from "./line-differences";

const marks = (before: string, after: string) =>
  lineDifferences(before, after).map(
    ({ kind, text }) => ({ same: " ", before: "-", after: "+" })[kind] + text,
  );

test("a diff shows unchanged lines once, and changed lines before and after", () => {
  expect(marks("a\nb\nc", "a\nB\nc\nd")).toEqual([" a", "-b", "+B", " c", "+d"]);
  expect(marks("a", "a")).toEqual([" a"]);
});

test("both texts can always be restored from their diff", () => {
  const long = Array.from({ length: 900 }, (_, at) => `line ${at}`).join("\n");
  for (const [before, after] of [
    ["x\ny\nz", "z\ny\nx"],
    ["", "a\n\nb"],
    [long, `${long}\nmore`],
  ] as const) {
    const lines = lineDifferences(before, after);
    const text = (but: string) =>
      lines
        .filter(({ kind }) => kind !== but)
        .map((line) => line.text)
        .join("\n");
    expect(text("after")).toBe(before);
    expect(text("before")).toBe(after);
  }
});
