import { setImmediate } from "node:timers/promises";
import { EMPTY_LIBRARY } from "@/server/domain/library/library";
import { findProblems } from "@/server/domain/problems/problems";
import {
  type Mutant,
  type MutantReport,
  type MutantResult,
  mutantsOf,
} from "@/server/domain/scenario/mutants";
import type { ScenarioTest } from "@/server/domain/scenario/scenario-test";
import type { TestParts } from "./answering";
import type { Tested } from "./run-scenario";
import { runTest } from "./run-test";

export const MOST_MUTANTS = 200;

interface Asked {
  tested: Tested;
  tests: readonly ScenarioTest[];
  parts: TestParts;
  most?: number;
  aborted?: AbortSignal | undefined;
}

/** Runs the tests on each mutant of the workflow and reports which ones survive. */
export async function runMutants({
  tested,
  tests,
  parts,
  most = MOST_MUTANTS,
  aborted,
}: Asked): Promise<MutantReport> {
  const nothing = (why_not: string): MutantReport => ({
    mutants: [],
    noticed: 0,
    survived: 0,
    left_out: 0,
    why_not,
  });
  if (tests.length === 0) return nothing("The workflow has no tests that could detect changes.");
  for (const test of tests) {
    const report = await runTest(tested, test, parts, { aborted });
    if (report.status !== "passed")
      return nothing(`“${test.name}” doesn't pass on the unchanged workflow: ${report.sentence}`);
  }
  const all = mutantsOf(tested.graph, tested.roles);
  const results: MutantResult[] = [];
  for (const mutant of all.slice(0, most)) {
    aborted?.throwIfAborted();
    results.push(await resultOf(mutant, { tested, tests, parts, aborted }));
    await setImmediate();
  }
  const count = (status: MutantResult["status"]) => results.filter((one) => one.status === status).length;
  return {
    mutants: results,
    noticed: count("noticed"),
    survived: count("survived"),
    left_out: Math.max(0, all.length - most),
    why_not: results.length === 0 ? "No small changes can be made to this workflow." : null,
  };
}

async function resultOf(
  { graph, roles, ...about }: Mutant,
  { tested, tests, parts, aborted }: Asked,
): Promise<MutantResult> {
  const broken = findProblems(graph, [...roles], undefined, { library: EMPTY_LIBRARY }).some(
    ({ severity }) => severity === "error",
  );
  if (broken) return { ...about, status: "not_runnable" };
  for (const test of tests) {
    const report = await runTest({ ...tested, graph, roles }, test, parts, { aborted });
    if (report.status !== "passed")
      return { ...about, status: "noticed", test_id: test.id, noticed_by: report.sentence };
  }
  return { ...about, status: "survived" };
}
