import { setImmediate } from "node:timers/promises";
import { errorMessage } from "@/server/domain/base/guards";
import { type SuiteReport, suiteOf, type TestReport } from "@/server/domain/scenario/report";
import type { ScenarioTest } from "@/server/domain/scenario/scenario-test";
import type { TestParts } from "./answering";
import type { Tested } from "./run-scenario";
import { runTest } from "./run-test";

interface Suite {
  tested: Tested;
  tests: readonly ScenarioTest[];
  parts: TestParts;
  aborted?: AbortSignal | undefined;
  /** Told of each test once it has been run, with the milliseconds that it took here. */
  onReport?(report: TestReport, took_ms: number): void;
}

/** Runs tests one after another, and lets others have the thread between them. */
export async function runSuite({ tested, tests, parts, aborted, onReport }: Suite): Promise<SuiteReport> {
  const reports: TestReport[] = [];
  for (const test of tests) {
    aborted?.throwIfAborted();
    const began = performance.now();
    const report = await runTest(tested, test, parts, aborted).catch((error: unknown) => {
      if (aborted?.aborted) throw error;
      return brokenOff(test, error);
    });
    onReport?.(report, performance.now() - began);
    reports.push(report);
    await setImmediate();
  }
  return suiteOf(tested.name, reports);
}

/** A test that stops whoever runs it is none that passed. */
const brokenOff = ({ id, name }: ScenarioTest, error: unknown): TestReport => ({
  test_id: id,
  name,
  status: "not_run",
  sentence: `This test could not be run to its end: ${errorMessage(error)}`,
  problems: [],
  outcome: null,
  results: [],
  question: null,
  missed: null,
  repeats: null,
});
