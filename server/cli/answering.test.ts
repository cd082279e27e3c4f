import { expect, test } from "vitest";
import type { RunEvent } from "@/server/domain/events";
import { newAnswering } from "./answering";

const asked = {
  seq: 1,
  ts: 0,
  type: "interaction_requested",
  payload: {
    interaction_id: "n#1/1/tool1",
    kind: "tool_confirmation",
    title: "Keeper wants to use file_write",
    why: "Its risk is high.",
    fingerprint: "f",
    expires_at: 1,
  },
} satisfies RunEvent;

test.each([
  ["yes", { answer: "approve", by: "terminal" }],
  ["no", { answer: "reject", message: expect.stringContaining("--yes"), by: "terminal" }],
] as const)("without anybody to ask, the answer is %s for exactly what was asked", (how, answer) => {
  const given: unknown[] = [];
  const answering = newAnswering({ answer: (...all) => given.push(all) > 0 }, "run_1", how);
  answering.events([{ seq: 0, ts: 0, type: "run_started", payload: {} }, asked]);
  expect(given).toEqual([["run_1", "n#1/1/tool1", "f", answer]]);
});
