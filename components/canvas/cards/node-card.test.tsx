import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { draw } from "@/server/domain/testing/drawing";
import { RunCaption, Waiting } from "./run-caption";

test("a waiting node shows when it resumes, or that its run is quarantined", () => {
  const run = {
    status: "waiting",
    count: 1,
    waiting: { for: "timer", until: Date.now() + 600_000 },
  } as const;
  expect(renderToStaticMarkup(<Waiting run={run} />)).toMatch(/Resumes in (10:00|9:\d\d) min/);
  expect(renderToStaticMarkup(<Waiting run={{ ...run, isHeld: true }} />)).toContain(
    "Quarantined: retry or cancel the run",
  );
});

test("a finished map names its failed items first, and below an open card only how far it is", () => {
  const node = draw("start > m > end", { m: { node_type: "map", config: { items: "[1]" } } }).nodes.m!;
  const run = {
    status: "completed",
    count: 1,
    durationMs: 2_000,
    summary: "One, two",
    children: { total: 24, running: 0, done: 21, failed: 3 },
  } as const;
  const text = (markup: string) => markup.replace(/<[^>]+>/g, "");
  expect(text(renderToStaticMarkup(<RunCaption node={node} run={run} />))).toBe(
    "24 of 24  ·  3 failedOne, two2.0 s",
  );
  expect(text(renderToStaticMarkup(<RunCaption node={node} run={run} isBrief />))).toBe(
    "24 of 24  ·  3 failed",
  );
});
