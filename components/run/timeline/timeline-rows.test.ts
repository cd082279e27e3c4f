import { expect, test, vi } from "vitest";
import { approvalGraph, approvalRun } from "../run-example";
import { newNames } from "./sentence-words";
import { newTeller, rowAt, rowOffsets, timelineRows } from "./timeline-rows";

const tell = newTeller(newNames(approvalGraph));
const shown = (options: Parameters<typeof timelineRows>[2]) =>
  timelineRows(approvalRun, tell, options).map((row) =>
    row.kind === "group" ? `[${row.activationId}]` : `${row.isInside ? "  " : ""}${row.event.type}`,
  );

test("events stand with the activation they belong to", () => {
  expect(shown({ level: "story" })).toEqual([
    "run_created",
    "run_started",
    "[start#1]",
    "[get#1]",
    "  agent_started",
    "  llm_call_completed",
    "  node_completed",
    "[router#1]",
    "  router_decided",
    "node_skipped",
    "[yes#1]",
    "run_finished",
  ]);
  expect(shown({ level: "all" }).filter((row) => !row.startsWith("["))).toHaveLength(approvalRun.length);
});

test("words and folded groups narrow it down", () => {
  expect(shown({ level: "all", query: "offline-demo" })).toEqual(["[get#1]", "  llm_call_completed"]);
  expect(shown({ level: "story", query: "chose", closed: new Set(["router#1"]) })).toEqual(["[router#1]"]);
});

test("the row at a place is found", () => {
  const rows = timelineRows(approvalRun, tell, { level: "story", opened: new Set([2]) });
  const offsets = rowOffsets(rows);
  expect(offsets).toHaveLength(rows.length + 1);
  for (const [at, row] of rows.entries()) {
    expect(rowAt(offsets, offsets[at]!)).toBe(at);
    expect(rowAt(offsets, offsets[at]! + row.height - 1)).toBe(at);
  }
  expect(rowAt(offsets, 1e9)).toBe(rows.length - 1);
});

test("ten thousand events are laid out with one sentence each", () => {
  const many = Array.from({ length: 10_000 }, (_, at) => ({ ...approvalRun[at % 31]!, seq: at + 1 }));
  const counted = vi.fn(tell);
  timelineRows(many, counted, { level: "all" });
  expect(counted).toHaveBeenCalledTimes(many.length);
});
