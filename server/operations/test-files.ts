import type { Json } from "@/server/domain/base/values";
import type { ScenarioTest } from "@/server/domain/scenario/scenario-test";
import { writtenTests } from "@/server/domain/scenario/test-file";
import { type StoredTest, TestRefused } from "@/server/store/library/scenario-tests";
import { Problem } from "./problem";
import type { Services } from "./services";
import { withoutKeys } from "./tested";

/** What belongs to a test, without when it was kept. */
export const scenarioOf = ({
  revision: _r,
  created_at: _c,
  updated_at: _u,
  ...test
}: StoredTest): ScenarioTest => test;

/** The tests of a workflow, as its file holds them. */
export const testsForFile = ({ scenarios }: Pick<Services, "scenarios">, workflowId: string): Json[] =>
  writtenTests(scenarios.list(workflowId).map(scenarioOf));

/** Keeps the tests of a file: one whose id is there already is replaced, the others stay. */
export function bringTests(
  { scenarios }: Pick<Services, "scenarios">,
  workflowId: string,
  tests: readonly ScenarioTest[],
): void {
  for (const test of tests)
    if (!scenarios.save(workflowId, withoutKeys(test))) createTest({ scenarios }, workflowId, test);
}

/** Adds a test to a workflow. Throws id_taken, too_large. */
export function createTest(
  { scenarios }: Pick<Services, "scenarios">,
  workflowId: string,
  test: ScenarioTest,
): void {
  try {
    scenarios.create(workflowId, withoutKeys(test));
  } catch (error) {
    if (!(error instanceof TestRefused)) throw error;
    throw new Problem(error.why === "taken" ? "id_taken" : "too_large", error.message);
  }
}
