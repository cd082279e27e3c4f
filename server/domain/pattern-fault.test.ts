import { expect, test } from "vitest";
import { patternFault } from "./pattern-fault";

test.each([
  "^[A-Z]",
  "hum",
  "^\\d{4}-\\d{2}-\\d{2}$",
  "^(?:[\\w-]+\\.)+[a-z]{2,}$",
  "^\\w+(?:, \\w+)*$",
  "(?:yes|no)*",
  "\\[(?:insert|your)[^\\]]{0,80}\\]",
  "(?<year>\\d+)-(?=x)",
  "a{2,5}b+",
  "(?:a{2})+",
  "^(?:\\w+\\s+)*end$",
  "[[(]+x]",
])("%s is taken", (pattern) => {
  expect(patternFault(pattern)).toBeNull();
});

test.each([
  "(a+)+$",
  "^(\\w*)*x",
  "(?:\\s*\\w+)*!",
  "(a|a)*b",
  "(\\d|\\w)+z",
  "((ab?)+c?)+d",
  "(a{1,30}){2,40}x",
  "(?=(x+)+y)",
])("%s is refused, because it might never end", (pattern) => {
  expect(patternFault(pattern)).toMatch(/^Refused: /);
});

test("what is no pattern says why", () => {
  expect(patternFault("(a")).toBe("This is no pattern yet: unterminated group.");
  expect(patternFault("")).toMatch(/^Write a pattern/);
});
