import { z } from "zod";
import { toId } from "@/server/domain/base/ids";
import type { Json } from "@/server/domain/base/values";
import { Rejection } from "@/server/domain/errors/rejection";
import { EMPTY_LIBRARY, withLibrary } from "@/server/domain/library/library";
import { findProblems } from "@/server/domain/problems/problems";
import { type ScenarioFields, ScenarioTest, TestId } from "@/server/domain/scenario/scenario-test";
import { testErrorTexts } from "@/server/domain/scenario/test-errors";
import { writtenTests } from "@/server/domain/scenario/test-file";
import { calledBy, foreignText } from "@/server/runner/lifecycle/launch";
import type { JudgeBook } from "@/server/runner/scenario/judging";
import type { Tested } from "@/server/runner/scenario/run-scenario";
import { SpendingCap } from "@/server/runner/scenario/spending-cap";
import { redact, redactJson } from "@/server/secrets/redact";
import { type StoredTest, TestRejected } from "@/server/store/library/scenario-tests";
import type { StoredWorkflow } from "@/server/store/workflows";
import { notFound } from "../rejections";
import type { Services } from "../services";

/** A test without its revision and timestamps. */
export const scenarioOf = ({
  revision: _r,
  created_at: _c,
  updated_at: _u,
  ...test
}: StoredTest): ScenarioTest => test;

/** The tests of a workflow for its file. */
export const testsForFile = ({ scenarios }: Pick<Services, "scenarios">, workflowId: string): Json[] =>
  writtenTests(scenarios.list(workflowId).map(scenarioOf));

/** Saves the tests of a file: replaces those with the same id and keeps the others. */
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
    if (!(error instanceof TestRejected)) throw error;
    throw new Rejection(error.why === "taken" ? "id_taken" : "too_large", error.message);
  }
}

/** `problems`: why it cannot be run on the current workflow. */
export const TestView = ScenarioTest.extend({
  revision: z.int(),
  created_at: z.int(),
  updated_at: z.int(),
  problems: z.array(z.string()),
});

export const viewOf = (
  services: Services,
  workflow: StoredWorkflow,
  test: StoredTest,
): z.input<typeof TestView> => ({
  ...test,
  problems: testErrorTexts(withLibrary(workflow.graph, services.library), fieldsOf(test)),
});

export const fieldsOf = (test: StoredTest): ScenarioFields => {
  const { id: _, ...fields } = scenarioOf(test);
  return fields;
};

/** A free id for a test of that name. */
export function freshTestId(services: Services, workflowId: string, name: string): string {
  const base = toId(name).toLowerCase().slice(0, 50) || "test";
  for (let n = 1; ; n++) {
    const id = n === 1 ? base : `${base}_${n}`;
    if (TestId.safeParse(id).success && !services.scenarios.find(workflowId, id)) return id;
  }
}

export const ByWorkflow = z.object({ workflow_id: z.string() });

export const ChosenTests = z
  .array(TestId)
  .max(500)
  .optional()
  .meta({ description: "IDs of the tests; if omitted, all tests" });

export const WithRealModels = {
  real: z
    .literal(true)
    .optional()
    .meta({ description: "Use real models to answer and judge; requires `max_cost_usd`" }),
  max_cost_usd: z
    .number()
    .positive()
    .max(10_000)
    .optional()
    .meta({ description: "Maximum total cost of real models, in US dollars" }),
};

/** The workflow with everything that it refers to in the library. */
export function testedOf(services: Services, { id, name, graph: drawn, withheld }: StoredWorkflow): Tested {
  const graph = withLibrary(drawn, services.library);
  const roles = services.roles.all();
  return {
    ...{ name, graph, roles },
    ...foreignText(services, { graph, roles }, withheld),
    ...calledBy({ ...services, workflows: services.called }, graph, [id]),
    variables: services.variables.valuesFor(id),
    installation: services.installation,
  };
}

/** Throws workflow_has_problems. */
export function refuseUnrunnable(tested: Tested, { withheld }: Pick<StoredWorkflow, "withheld">): void {
  const problems = findProblems(tested.graph, [...tested.roles], undefined, {
    library: EMPTY_LIBRARY,
    withheld,
  }).filter(({ severity }) => severity === "error");
  const [first] = problems;
  if (first)
    throw new Rejection("workflow_has_problems", `This workflow can't be tested yet: ${first.message}`, {
      problems: problems.map(({ code, message, at }) => ({ code, message, at })),
    });
}

/** Throws not_found. */
export function testIn(services: Services, id: string, test_id: string): StoredTest {
  const test = services.scenarios.find(id, test_id);
  if (!test) throw notFound("test");
  return test;
}

/** The named tests of a workflow, or all. Throws not_found. */
export const testsIn = (
  services: Services,
  id: string,
  tests: readonly string[] | undefined,
): StoredTest[] =>
  tests ? tests.map((test_id) => testIn(services, id, test_id)) : services.scenarios.list(id);

/** The cap for real models; undefined without them. Throws bad_request. */
export function spendingCapFor({
  real,
  max_cost_usd,
}: {
  real?: true | undefined;
  max_cost_usd?: number | undefined;
}): SpendingCap | undefined {
  if (!real) return undefined;
  if (max_cost_usd === undefined)
    throw new Rejection(
      "bad_request",
      "Real models cost money. Set a maximum in US dollars in max_cost_usd.",
    );
  return new SpendingCap(max_cost_usd);
}

/** The stored verdicts of a workflow's judges. Secrets are redacted before they are stored. */
export const judgeBookOf = ({ scenarios }: Pick<Services, "scenarios">, id: string): JudgeBook => ({
  find: (judge, item) => scenarios.judges.verdict(id, judge, item),
  keep: ({ text, ...about }, { reason, score }) =>
    scenarios.judges.keepVerdict(id, { ...about, score, text: redact(text), reason: redact(reason) }),
});

/** A test with secrets redacted. Hashes of requests stay: they are not secret, and answers are found by them. */
export const withoutKeys = <T extends { answers?: { answers: readonly { request: string }[] } }>(
  test: T,
): T => {
  const hidden = redactJson(test);
  const { answers } = test;
  if (!answers || !hidden.answers) return hidden;
  const kept = hidden.answers.answers.map((one, at) => ({
    ...one,
    request: answers.answers[at]?.request ?? one.request,
  }));
  return { ...hidden, answers: { ...hidden.answers, answers: kept } };
};
