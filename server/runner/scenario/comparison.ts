import { setImmediate } from "node:timers/promises";
import { defined } from "@/server/domain/base/defined";
import {
  type ComparisonCell,
  type ComparisonReport,
  mean,
  type VariantReport,
  variantReport,
} from "@/server/domain/scenario/comparison";
import type { TestReport } from "@/server/domain/scenario/report";
import type { ScenarioTest } from "@/server/domain/scenario/scenario-test";
import type { TestParts } from "./answering";
import type { Tested } from "./run-scenario";
import { runSafely } from "./run-suite";
import type { TestRun } from "./run-test";

interface Compared extends TestRun {
  name: string;
  variants: readonly { name: string; tested: Tested }[];
  tests: readonly ScenarioTest[];
  repeats: number;
  parts: TestParts;
}

/**
 * Runs the same inputs on several variants of a workflow, input by input, so that each variant has had as many where the
 * money comes to its end.
 */
export async function compare({
  name,
  variants,
  tests,
  repeats,
  parts,
  ...how
}: Compared): Promise<ComparisonReport> {
  const cells = variants.map((): ComparisonCell[] => []);
  for (const test of tests)
    for (const [at, { tested }] of variants.entries()) {
      const reports: TestReport[] = [];
      for (let k = 0; k < repeats; k++) {
        how.aborted?.throwIfAborted();
        const { repeats: _, ...once } = test;
        reports.push(await runSafely(tested, once, parts, how));
        await setImmediate();
      }
      cells[at]?.push(cellOf(test, reports));
    }
  const done = variants.map((variant, at) => variantReport(variant.name, cells[at] ?? []));
  return {
    workflow: name,
    cases: tests.map((test) => ({ case: test.id, name: test.name })),
    variants: done,
    ...defined({ spending: how.spendingCap ? how.spendingCap.spending : undefined }),
    notes: notesOn(done, how),
  };
}

function cellOf(test: ScenarioTest, reports: readonly TestReport[]): ComparisonCell {
  const ran = reports.filter(({ outcome }) => outcome !== null);
  const outcomes = ran.flatMap(({ outcome }) => outcome ?? []);
  const passed = reports.filter(({ status }) => status === "passed").length;
  const shown = reports.find(({ status }) => status !== "passed") ?? reports[0];
  const judges = ran.flatMap(({ results }) => results.flatMap(({ judge }) => judge ?? []));
  const costs = outcomes.flatMap(({ cost_usd }) => cost_usd ?? []);
  const isSimulated = outcomes.some(({ simulated }) => simulated);
  return {
    case: test.id,
    status: shown?.status ?? "not_run",
    sentence: shown?.sentence ?? "",
    runs: ran.length,
    passed,
    judged: mean(judges.map(({ score }) => score)),
    cost_usd: costs.length === outcomes.length ? mean(costs) : null,
    judge_cost_usd: judges.reduce<number | null>(
      (sum, { cost_usd }) => (sum === null || cost_usd === null ? null : sum + cost_usd),
      0,
    ),
    tokens: Math.round(mean(outcomes.map(({ tokens }) => tokens)) ?? 0),
    time_ms: isSimulated ? null : mean(outcomes.map(({ duration_ms }) => Math.round(duration_ms))),
    simulated: isSimulated,
    unanswered: reports.find(({ missed }) => missed !== null)?.missed?.sentence ?? null,
  };
}

function notesOn(variants: readonly VariantReport[], { spendingCap }: TestRun): string[] {
  const all = variants.flatMap(({ cells }) => cells);
  const unanswered = all.filter((cell) => cell.unanswered !== null).length;
  const waiting = all.filter(({ runs }) => runs === 0).length;
  const simulated = variants.some((one) => one.simulated);
  return [
    ...(simulated
      ? [
          "Simulated: the offline demo model answered, so costs, times and quality say nothing about real models.",
        ]
      : []),
    ...(unanswered > 0
      ? [
          spendingCap
            ? `${ofAll(unanswered, all.length)} called an outside tool, which tests don't.`
            : `${ofAll(unanswered, all.length)} made requests that were not recorded. Real models can answer them.`,
        ]
      : []),
    ...(spendingCap && !simulated
      ? ["Tools had no outside effects: results that were not recorded, such as searches, were simulated."]
      : []),
    ...(spendingCap?.why ? [`${spendingCap.why} ${waiting} of ${all.length} did not run.`] : []),
  ];
}

const ofAll = (some: number, all: number) => `${some} of ${all} ${all === 1 ? "run" : "runs"}`;
