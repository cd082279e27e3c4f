import { expect, test } from "vitest";
import { describeProgress, progressOf, shownStatus } from "./child-progress";

test("a map says how many of its items are over, and how many of those failed", () => {
  const counts = { total: 10_000, running: 8, done: 3_108, failed: 12 };
  expect(progressOf(counts)).toEqual({ text: "3,120 of 10,000", failed: "12 failed", share: 0.312 });
  expect(describeProgress(counts)).toBe("3,120 of 10,000, 12 failed");
});

test("a map of an empty list is over at once", () => {
  expect(progressOf({ total: 0, running: 0, done: 0, failed: 0 })).toMatchObject({
    text: "0 of 0",
    share: 1,
  });
});

test("a map that completed although items failed has a warning, a run that succeeded when retried has none", () => {
  const counts = { running: 0, done: 2, failed: 1 };
  expect(shownStatus("completed", { ...counts, total: 3 })).toBe("warned");
  expect(shownStatus("running", { ...counts, total: 3 })).toBe("running");
  expect(shownStatus("completed", { ...counts, total: 3, failed: 0 })).toBe("completed");
  expect(shownStatus("completed", counts)).toBe("completed");
});

test("a single run is described by its status, without a bar", () => {
  const texts = [
    { running: 1, done: 0, failed: 0 },
    { running: 0, done: 1, failed: 0 },
    { running: 0, done: 0, failed: 1 },
    // A second attempt after a failed one.
    { running: 1, done: 0, failed: 1 },
  ].map(describeProgress);
  expect(texts).toEqual(["Run in progress", "Run completed", "Run failed", "Run in progress"]);
});
