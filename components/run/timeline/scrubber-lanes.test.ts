import { expect, test } from "vitest";
import type { RunEvent } from "@/server/domain/run/events";
import { approvalRun } from "../run-example";
import { spansOf } from "./scrubber-lanes";

test("each activation spans its part of the log, and consecutive activations share a lane", () => {
  const { spans, lanes } = spansOf(approvalRun);
  expect(lanes).toBe(1);
  expect(spans.map(({ id, from, to, end }) => [id, from, to, end])).toEqual([
    ["start#1", 5, 6, "completed"],
    ["get#1", 9, 19, "completed"],
    ["router#1", 22, 24, "completed"],
    ["yes#1", 29, 30, "completed"],
  ]);
});

test("concurrent activations have separate lanes, and running ones are open-ended", () => {
  const started = (seq: number, node_id: string): RunEvent => ({
    type: "node_started",
    node_id,
    activation_id: `${node_id}#1`,
    payload: { attempt: 1, input: {} },
    seq,
    ts: seq,
  });
  const { spans, lanes } = spansOf([started(1, "a"), started(2, "b")]);
  expect(lanes).toBe(2);
  expect(spans.map(({ lane, to, end }) => [lane, to, end])).toEqual([
    [0, null, "running"],
    [1, null, "running"],
  ]);
});
