import { expect, test } from "vitest";
import { matchesSafely } from "./matches";

const signal = new AbortController().signal;
const freezing = `${"a".repeat(60)}!`;

test("a catastrophic pattern is matched at once without waiting for the sandbox", async () => {
  const busy = AbortSignal.abort();
  expect(await matchesSafely("^(a+)+$", freezing, busy)).toBe("It does not match ^(a+)+$.");
  expect(await matchesSafely("^(a+)+!$", freezing, busy)).toBeNull();
});

test("a backtracking pattern runs in the sandbox and is stopped there", { timeout: 30_000 }, async () => {
  expect(await matchesSafely("(?<=a)!", freezing, signal)).toBeNull();
  expect(await matchesSafely("(a)\\1b", freezing, signal)).toBe("It does not match (a)\\1b.");
  expect(await matchesSafely("^(?:(a+)+\\1)+$", freezing, signal)).toMatch(
    /^The pattern could not be tried: /,
  );
});

test("an invalid pattern is rejected with the reason", async () => {
  expect(await matchesSafely("(a", "a", signal)).toBe(
    "The pattern could not be tried: a group is not closed.",
  );
});
