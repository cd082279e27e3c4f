import { expect, test } from "vitest";
import { guardrailNote } from "@/server/domain/agent/unchecked";
import { validatePattern } from "./pattern-validation";

const note = (spec: string) => guardrailNote({ kind: "regex", spec });

test.each([
  "^[A-Z]",
  "hum",
  "^\\d{4}-\\d{2}-\\d{2}$",
  "^(?:[\\w-]+\\.)+[a-z]{2,}$",
  "(?:yes|no)*",
  "\\[(?:insert|your)[^\\]]{0,80}\\]",
  "(a+)+$",
  "^(\\w*)*x",
  "[[(]+x]",
])("%s is accepted and checked in linear time", (pattern) => {
  expect([validatePattern(pattern), note(pattern)]).toEqual([null, null]);
});

test.each([
  ["(?<year>\\d+)-(?=x)", "it has a lookahead or lookbehind"],
  ["(a+)\\1", "it has a backreference"],
])("%s is accepted with a note that it runs in the sandbox", (pattern, why) => {
  expect(validatePattern(pattern)).toBeNull();
  expect(note(pattern)).toBe(`Runs in the sandbox, one pattern at a time, with a timeout of 1 s: ${why}.`);
});

test("an invalid pattern is rejected with the reason", () => {
  expect(validatePattern("(a")).toBe("Invalid pattern: a group is not closed.");
  expect(validatePattern("(?<=a)b(")).toBe("Invalid pattern: unterminated group.");
  expect(validatePattern("(?<=a)[b-a]")).toBe("Invalid pattern: range out of order in character class.");
  expect(validatePattern("")).toBe("Enter a pattern, for example ^[A-Z].");
});

test("a pattern may be as long as the limit, but not longer", () => {
  expect(validatePattern("x".repeat(1000))).toBeNull();
  expect(validatePattern("x".repeat(1001))).toBe("A pattern can have at most 1000 characters.");
});
