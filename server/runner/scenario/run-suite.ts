import { setImmediate } from "node:timers/promises";
import { errorMessage } from "@/server/domain/base/guards";
import { Rejection } from "@/server/domain/errors/rejection";
import { type SuiteReport, suiteOf, type TestReport } from "@/server/domain/scenario/report";
import type { ScenarioTest } from "@/server/domain/scenario/scenario-test";
import { newRateLimiter, type RateLimiter } from "@/server/llm/limits/rate-limit";
import type { TestParts } from "./answering";
import type { Tested } from "./run-scenario";
import { notRun, runTest, type TestRun } from "./run-test";
import { SpendingCapReached } from "./spending-cap";

interface Suite extends TestRun {
  tested: Tested;
  tests: readonly ScenarioTest[];
  parts: TestParts;
  /** Called after each test with the milliseconds that it took. */
  onReport?(report: TestReport, took_ms: number): void;
}

/** Runs tests one after another and yields the thread between them. */
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
  return suiteOf(tested.name, reports, how.spendingCap?.spending);
}

/** Runs a test; a crash of the runner and a reached spending cap become a report. */
export async function runSafely(...of: Parameters<typeof runTest>): Promise<TestReport> {
  const [, test, , { aborted, spendingCap } = {}] = of;
  if (spendingCap?.why) return notRun(test, [spendingCap.why]);
  try {
    return await runTest(...of);
  } catch (error) {
    if (aborted?.aborted) throw error;
    if (error instanceof SpendingCapReached) return notRun(test, [error.message]);
    return notRun(test, [`This test could not finish: ${errorMessage(error)}`]);
  }
}

/** Suites that run at once. Real models have their own places because their calls may take long. */
const AT_ONCE = { offline: 2, real: 2 } as const;
/** Suites that wait. */
const WAITING = { offline: 16, real: 4 } as const;

/** Limits how many suites run at once. */
export class TestGates {
  private readonly gates: Record<keyof typeof AT_ONCE, RateLimiter> = {
    offline: newRateLimiter(AT_ONCE.offline),
    real: newRateLimiter(AT_ONCE.real),
  };

  /** Runs `work` in turn. Throws Rejection, and the signal's reason. */
  async through<T>(which: keyof typeof AT_ONCE, signal: AbortSignal | undefined, work: () => Promise<T>) {
    const gate = this.gates[which];
    if (gate.waiting >= WAITING[which])
      throw new Rejection(
        "queue_full",
        `${AT_ONCE[which] + WAITING[which]} test suites are already running or queued. Try again shortly.`,
      );
    const leave = await gate.enter(signal ?? new AbortController().signal);
    try {
      return await work();
    } finally {
      leave();
    }
  }
}
