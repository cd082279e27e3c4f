import { expect, test, vi } from "vitest";
import type { RunEvent } from "@/server/domain/run/events";
import { approvalGraph, approvalRun } from "../run-example";
import { newNames } from "./sentence-parts";
import { newEventFormatter, rowAt, rowOffsets, timelineRows } from "./timeline-rows";

const formatEvent = newEventFormatter(newNames(approvalGraph));
const shown = (options: Parameters<typeof timelineRows>[2]) =>
  timelineRows(approvalRun, formatEvent, options).map((row) =>
    row.kind === "group" ? `[${row.activationId}]` : `${row.isInside ? "  " : ""}${row.event.type}`,
  );

test("events are grouped with their activation", () => {
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

test("events between a node's start and end appear between them, in chronological order", () => {
  const at = (seq: number, type: string, activation_id?: string) =>
    ({
      ...approvalRun.find((event) => event.type === type)!,
      seq,
      ts: seq * 1_000,
      activation_id,
      node_id: activation_id?.split("#")[0] ?? "no",
    }) as RunEvent;
  const events = [
    at(1, "node_ready", "get#1"),
    at(2, "node_ready", "yes#1"),
    at(3, "node_started", "yes#1"),
    at(4, "node_skipped"),
    at(5, "router_decided", "yes#1"),
    at(6, "node_started", "get#1"),
    at(7, "router_decided", "yes#1"),
    at(8, "agent_started", "get#1"),
  ];
  const rows = timelineRows(events, formatEvent, { level: "story" });
  expect(
    rows.map((row) =>
      row.kind === "group" ? `[${row.activationId}]` : `${row.isInside ? "  " : ""}${row.event.seq}`,
    ),
  ).toEqual(["[yes#1]", "4", "5", "[get#1]", "7", "8"]);
  const times = rows.map((row) => (row.kind === "group" ? row.ts : row.event.ts));
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(timelineRows(events, formatEvent, { level: "story", closed: new Set(["yes#1"]) })).toHaveLength(4);
});

test("a long sentence wraps to two lines if it doesn't fit", () => {
  const rows = timelineRows(approvalRun, formatEvent, { level: "story" });
  const [first] = rows;
  const length = first?.kind === "event" ? first.sentence.text.length : 0;
  expect(rowOffsets(rows.slice(0, 1), length)).toEqual([0, 28]);
  expect(rowOffsets(rows.slice(0, 1), length - 1)).toEqual([0, 46]);
});

test("a text filter and collapsed groups narrow down the timeline", () => {
  expect(shown({ level: "all", query: "offline-demo" })).toEqual(["[get#1]", "  llm_call_completed"]);
  expect(shown({ level: "story", query: "chose", closed: new Set(["router#1"]) })).toEqual(["[router#1]"]);
});

test("the row at a scroll offset is found", () => {
  const rows = timelineRows(approvalRun, formatEvent, { level: "story", opened: new Set([2]) });
  const offsets = rowOffsets(rows);
  expect(offsets).toHaveLength(rows.length + 1);
  for (const at of rows.keys()) {
    expect(rowAt(offsets, offsets[at]!)).toBe(at);
    expect(rowAt(offsets, offsets[at + 1]! - 1)).toBe(at);
  }
  expect(rowAt(offsets, 1e9)).toBe(rows.length - 1);
});

test("ten thousand events are laid out with one sentence each", () => {
  const many = Array.from({ length: 10_000 }, (_, at) => ({ ...approvalRun[at % 31]!, seq: at + 1 }));
  const counted = vi.fn(formatEvent);
  timelineRows(many, counted, { level: "all" });
  expect(counted).toHaveBeenCalledTimes(many.length);
});
