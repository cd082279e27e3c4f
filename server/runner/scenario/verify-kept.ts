import { notRepeated } from "@/server/domain/run/commands/repeated";
import type { RunEvent } from "@/server/domain/run/events";
import type { Expectation } from "@/server/domain/scenario/expectation";
import type { ScenarioTest } from "@/server/domain/scenario/scenario-test";
import type { TestParts } from "./answering";
import type { Tested } from "./run-scenario";
import { runTest } from "./run-test";

/** A test that was kept from a run, as far as it holds when it is run again, with what was left out of it. */
export interface KeptTest {
  test: ScenarioTest;
  notes: string[];
}

/**
 * Runs a test that was made of a run on that run's own drawing, and leaves out what does not hold the second time: the order
 * in which branches side by side came to their ends.
 */
export async function verifyKept(
  tested: Tested,
  made: ScenarioTest,
  events: readonly RunEvent[],
  parts: TestParts,
): Promise<KeptTest> {
  const notes = changedAt(events);
  const report = await runTest(tested, made, parts);
  if (report.status === "passed") return { test: made, notes };
  if (report.missed || report.question || report.problems.length > 0)
    return { test: made, notes: [...notes, `Run again, it does not pass: ${report.sentence}`] };
  const failed = new Set(report.results.flatMap(({ at, status }) => (status === "failed" ? [at] : [])));
  const expect = made.expect.flatMap((expectation, at): Expectation[] => {
    if (!failed.has(at)) return [expectation];
    if (expectation.kind !== "path") return [];
    return [{ ...expectation, mode: "visited", nodes: [...new Set(expectation.nodes)] }];
  });
  const looser = { ...made, expect };
  const again = await runTest(tested, looser, parts);
  const said = report.results
    .filter(({ status }) => status === "failed")
    .map(({ sentence }) => `Not expected, as it came out otherwise when it was run again: ${sentence}`);
  return again.status === "passed"
    ? { test: looser, notes: [...notes, ...said] }
    : { test: looser, notes: [...notes, ...said, `Run again, it does not pass: ${again.sentence}`] };
}

/** What made the run another one and that a test has no words for. */
function changedAt(events: readonly RunEvent[]): string[] {
  const done = notRepeated(events);
  return done.length === 0 ? [] : [`A test does not repeat that ${done.join(", and that ")}.`];
}
