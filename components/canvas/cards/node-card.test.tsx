import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Waiting } from "./run-caption";

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
