import { expect, test } from "vitest";
import { describePause, describePendingTools } from "./paused-bar";

const name = (id: string) => ({ review: "Review" })[id] ?? id;
const paused = { by: "run", since: 0, point: "node_start", node_id: "review" } as const;

test.each([
  [
    { ...paused, reason: "breakpoint", breakpoint: { on: "node_start", condition: "state.n == 2" } },
    "Paused at the breakpoint on Review (if state.n == 2)",
  ],
  [{ ...paused, reason: "breakpoint" }, "Paused at the breakpoint on Review"],
  [{ ...paused, reason: "breakpoint", breakpoint: { on: "node_start", once: true } }, "Paused before Review"],
  [{ ...paused, reason: "step" }, "Stepping. Next: Review"],
  [
    { by: "API token ci", since: 0, point: "anywhere", reason: "person" },
    "Paused by API token ci. Next: Review",
  ],
  [
    { ...paused, point: "loop_iteration", iteration: 2, reason: "question" },
    "Paused at iteration 2 of Review: a question needs an answer",
  ],
] as const)("pause %j is described as %s", (at, text) => {
  expect(describePause(at, name, "review")).toBe(text);
});

test("a tool call that is still running in a paused run is listed once", () => {
  const call = (id: string, tool_name: string) => ({
    [id]: {
      id,
      tool_name,
      args: {},
      node_id: "a",
      activation_id: "a#1",
      status: "running" as const,
      started_at: 0,
    },
  });
  const tool_calls = { ...call("1", "write_file"), ...call("2", "write_file"), ...call("3", "calculator") };
  expect(describePendingTools({ calling: new Set(["1", "2"]), tool_calls })).toBe(
    "Waiting for write_file to finish.",
  );
  expect(describePendingTools({ calling: new Set(), tool_calls })).toBe("");
});
