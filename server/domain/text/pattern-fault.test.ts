import { expect, test } from "vitest";
import { guardrailNote } from "@/server/domain/agent/unchecked";
import { patternFault } from "./pattern-fault";

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
  expect([patternFault(pattern), note(pattern)]).toEqual([null, null]);
});

test.each([
  ["(?<year>\\d+)-(?=x)", "it looks ahead or behind"],
  ["(a+)\\1", "it refers back to a group"],
])("%s is taken, and it is said that the sandbox tries it", (pattern, why) => {
  expect(patternFault(pattern)).toBeNull();
  expect(note(pattern)).toBe(
    `This pattern is tried in the sandbox, where it waits for others and is stopped after a second: ${why}.`,
  );
});

test("what is no pattern says why", () => {
  expect(patternFault("(a")).toBe("This is no pattern yet: a bracket is not closed.");
  expect(patternFault("(?<=a)b(")).toBe("This is no pattern yet: unterminated group.");
  expect(patternFault("")).toMatch(/^Write a pattern/);
});
