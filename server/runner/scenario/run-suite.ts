import { setImmediate } from "node:timers/promises";
import { errorMessage } from "@/server/domain/base/guards";
import { type SuiteReport, suiteOf, type TestReport } from "@/server/domain/scenario/report";
import type { ScenarioTest } from "@/server/domain/scenario/scenario-test";
import type { TestParts } from "./answering";
import type { Tested } from "./run-scenario";
import { notRun, runTest, type TestRun } from "./run-test";
import { MoneyGone } from "./spending-cap";

interface Suite extends TestRun {
  tested: Tested;
  tests: readonly ScenarioTest[];
  parts: TestParts;
  /** Told of each test once it has been run, with the milliseconds that it took here. */
  onReport?(report: TestReport, took_ms: number): void;
}

/** Runs tests one after another, and lets others have the thread between them. */
export async function runSuite({ tested, tests, parts, onReport, ...how }: Suite): Promise<SuiteReport> {
  const reports: TestReport[] = [];
  for (const test of tests) {
    how.aborted?.throwIfAborted();
    const began = performance.now();
    const report = await runSafely(tested, test, parts, how);
    onReport?.(report, performance.now() - began);
    reports.push(report);
    await setImmediate();
  }
  return suiteOf(tested.name, reports, how.purse?.spending);
}

/** Runs a test. One that stops whoever runs it is none that passed, and none is run for which there is no money. */
export async function runSafely(...of: Parameters<typeof runTest>): Promise<TestReport> {
  const [, test, , { aborted, purse } = {}] = of;
  if (purse?.why) return notRun(test, [purse.why]);
  try {
    return await runTest(...of);
  } catch (error) {
    if (aborted?.aborted) throw error;
    if (error instanceof MoneyGone) return notRun(test, [error.message]);
    return notRun(test, [`This test could not be run to its end: ${errorMessage(error)}`]);
  }
}
