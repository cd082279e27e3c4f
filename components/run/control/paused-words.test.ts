import { expect, test } from "vitest";
import { pausedInWords } from "./paused-words";

const name = (id: string) => ({ review: "Review" })[id] ?? id;
const paused = { by: "run", since: 0, point: "node_start", node_id: "review" } as const;

test.each([
  [
    { ...paused, reason: "breakpoint", breakpoint: { on: "node_start", condition: "state.n == 2" } },
    "Paused before Review: breakpoint if state.n == 2",
  ],
  [{ ...paused, reason: "breakpoint" }, "Paused before Review: breakpoint"],
  [{ ...paused, reason: "step" }, "Paused before Review: one step further"],
  [{ by: "API token ci", since: 0, point: "anywhere", reason: "person" }, "Paused by API token ci"],
  [
    { ...paused, point: "loop_iteration", iteration: 2, reason: "question" },
    "Paused at round 2 of Review: a question waits for an answer",
  ],
] as const)("%j is told as %s", (at, words) => {
  expect(pausedInWords(at, name)).toBe(words);
});
