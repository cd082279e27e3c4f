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
])("%s is taken, and checked in time that grows with its text only", (pattern) => {
  expect([validatePattern(pattern), note(pattern)]).toEqual([null, null]);
});

test.each([
  ["(?<year>\\d+)-(?=x)", "it looks ahead or behind"],
  ["(a+)\\1", "it refers back to a group"],
])("%s is taken, and it is said that the sandbox tries it", (pattern, why) => {
  expect(validatePattern(pattern)).toBeNull();
  expect(note(pattern)).toBe(
    `This pattern is tried in the sandbox, where it waits for others and is stopped after a second: ${why}.`,
  );
});

test("what is no pattern says why", () => {
  expect(validatePattern("(a")).toBe("This is no pattern yet: a bracket is not closed.");
  expect(validatePattern("(?<=a)b(")).toBe("This is no pattern yet: unterminated group.");
  expect(validatePattern("(?<=a)[b-a]")).toBe(
    "This is no pattern yet: range out of order in character class.",
  );
  expect(validatePattern("")).toBe("Write a pattern, for example ^[A-Z].");
});

test("a pattern may be as long as the limit, and no longer", () => {
  expect(validatePattern("x".repeat(1000))).toBeNull();
  expect(validatePattern("x".repeat(1001))).toBe("A pattern has at most 1000 characters.");
});
