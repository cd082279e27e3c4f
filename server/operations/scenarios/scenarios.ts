import { z } from "zod";
import { Rejection } from "@/server/domain/errors/rejection";
import { withLibrary } from "@/server/domain/library/library";
import { CASSETTE_LIMITS, Cassette } from "@/server/domain/scenario/cassette";
import { MutantReport } from "@/server/domain/scenario/mutants";
import { SuiteReport, TestReport, TestStatus } from "@/server/domain/scenario/report";
import { Repeats, ScenarioFields, TestId } from "@/server/domain/scenario/scenario-test";
import { testErrorTexts } from "@/server/domain/scenario/test-errors";
import { MOST_MUTANTS, runMutants } from "@/server/runner/scenario/run-mutants";
import { runSuite } from "@/server/runner/scenario/run-suite";
import { operationsOf } from "../operation";
import { notFound } from "../rejections";
import { workflowOf } from "../workflows/stored-workflow";
import { comparisonOperations } from "./comparisons";
import { judgeOperations } from "./judges";
import { keptRunOperations } from "./kept-runs";
import {
  ByWorkflow,
  ChosenTests,
  createTest,
  fieldsOf,
  freshTestId,
  judgeBookOf,
  refuseUnrunnable,
  scenarioOf,
  spendingCapFor,
  TestView,
  testedOf,
  testIn,
  testsIn,
  viewOf,
  WithRealModels,
  withoutKeys,
} from "./stored-tests";

const { mutation, query } = operationsOf("Tests");

const ByTest = ByWorkflow.extend({ test_id: TestId });

/** The result of one run of a test. */
const TestResult = z.object({
  id: z.int(),
  test_id: z.string(),
  at: z.int().meta({ description: "Unix time in milliseconds" }),
  by: z.string(),
  status: TestStatus,
  revision: z.int().meta({ description: "The workflow's revision at the time of the run" }),
  took_ms: z.int(),
  expected: z.int().meta({ description: "Number of expectations checked" }),
  passed: z.int().meta({ description: "Number of expectations that passed" }),
  simulated: z.boolean().meta({ description: "Whether the offline demo model answered" }),
});

/** A test without its recorded answers. */
const TestSummary = z.object({
  id: z.string(),
  name: z.string(),
  expectations: z.int(),
  recorded_answers: z.int().nullable().meta({ description: "Null if the test has no recorded answers" }),
  people: z.int(),
  pins: z.int(),
  simulated: z.boolean(),
  repeats: Repeats.nullable(),
  revision: z.int(),
  created_at: z.int(),
  updated_at: z.int(),
  problems: z.array(z.string()).meta({ description: "Why the test can't run on the current workflow" }),
  last: TestResult.nullable(),
});

export const scenarioOperations = {
  // These, and `results`, before `get`: its path would match theirs.
  ...judgeOperations,
  ...comparisonOperations,

  list: query({
    name: "listTests",
    summary: "List a workflow's tests",
    about: "In the order they were created, each with its last result.",
    needs: "read",
    input: ByWorkflow,
    output: z.array(TestSummary),
    http: {
      route: "GET /workflows/{id}/tests",
      success: "All tests",
      as: "tests",
    },
    run(services, { workflow_id: id }) {
      const workflow = workflowOf(services, id);
      const graph = withLibrary(workflow.graph, services.library);
      return services.scenarios.list(id).map((test) => ({
        id: test.id,
        name: test.name,
        expectations: test.expect.length,
        recorded_answers: test.answers ? test.answers.answers.length : null,
        people: test.people.length,
        pins: Object.keys(test.pins ?? {}).length,
        simulated: test.simulated === true,
        repeats: test.repeats ?? null,
        revision: test.revision,
        created_at: test.created_at,
        updated_at: test.updated_at,
        problems: testErrorTexts(graph, fieldsOf(test)),
        last: services.scenarios.results(id, test.id, 1)[0] ?? null,
      }));
    },
  }),

  results: query({
    name: "listTestResults",
    summary: "List a workflow's test results",
    about: "Newest first; the last 50 of each test are kept.",
    needs: "read",
    input: ByWorkflow.extend({
      test_id: TestId.optional().meta({ description: "Only results of this test" }),
      limit: z.coerce.number().int().min(1).max(1000).default(200),
    }),
    output: z.array(TestResult),
    http: {
      route: "GET /workflows/{id}/tests/results",
      success: "The results, without reports",
      as: "results",
    },
    run(services, { workflow_id: id, test_id, limit }) {
      workflowOf(services, id);
      return services.scenarios.results(id, test_id, limit);
    },
  }),

  result: query({
    name: "getTestResult",
    summary: "Get a test result with its report",
    needs: "read",
    input: ByWorkflow.extend({ result_id: z.coerce.number().int() }),
    output: TestResult.extend({ report: TestReport }),
    http: {
      route: "GET /workflows/{id}/tests/results/{result_id}",
      success: "The result with its report",
    },
    run(services, { workflow_id: id, result_id }) {
      workflowOf(services, id);
      const result = services.scenarios.result(id, result_id);
      if (!result) throw notFound("result");
      return result;
    },
  }),

  get: query({
    name: "getTest",
    summary: "Get a test",
    needs: "read",
    input: ByTest,
    output: TestView,
    http: {
      route: "GET /workflows/{id}/tests/{test_id}",
      success: "The complete test",
    },
    run: (services, { workflow_id: id, test_id }) =>
      viewOf(services, workflowOf(services, id), testIn(services, id, test_id)),
  }),

  create: mutation({
    name: "createTest",
    summary: "Add a test to a workflow",
    about:
      "Nodes or keys that the workflow doesn't have are kept and listed in `problems`; the test can't run until they are corrected.",
    needs: "author",
    input: ByWorkflow.extend({ ...ScenarioFields.shape, id: TestId.optional() }),
    output: TestView,
    problems: ["not_found", "id_taken", "too_large"],
    http: {
      route: "POST /workflows/{id}/tests",
      status: 201,
      success: "Added",
    },
    run(services, { workflow_id: id, id: wanted, ...fields }) {
      const workflow = workflowOf(services, id);
      const test_id = wanted ?? freshTestId(services, id, fields.name);
      createTest(services, id, { id: test_id, ...fields });
      return viewOf(services, workflow, testIn(services, id, test_id));
    },
  }),

  save: mutation({
    name: "replaceTest",
    summary: "Edit a test",
    needs: "author",
    input: ByTest.extend({
      ...ScenarioFields.shape,
      revision: z
        .int()
        .optional()
        .meta({ description: "The revision of the test that was edited; not checked if omitted" }),
    }),
    output: TestView,
    problems: ["not_found", "changed_meanwhile"],
    http: {
      route: "PUT /workflows/{id}/tests/{test_id}",
      success: "Saved",
    },
    run(services, { workflow_id: id, test_id, revision, ...test }) {
      const workflow = workflowOf(services, id);
      const before = testIn(services, id, test_id);
      if (!services.scenarios.save(id, withoutKeys({ id: test_id, ...test }), revision))
        throw new Rejection("changed_meanwhile", "This test was changed elsewhere. Reload it.", {
          revision: before.revision,
        });
      return viewOf(services, workflow, testIn(services, id, test_id));
    },
  }),

  bringCassette: mutation({
    name: "setTestAnswers",
    summary: "Set a test's recorded answers",
    about:
      "Send the file from `GET /runs/{id}/cassette`, unchanged. It replaces the test's previous answers.",
    needs: ["author", "read"],
    input: ByTest.extend(Cassette.shape),
    output: TestView,
    problems: ["not_found", "too_large"],
    http: {
      route: "PUT /workflows/{id}/tests/{test_id}/cassette",
      success: "Stored in the test",
    },
    run(services, { workflow_id: id, test_id, ...answers }) {
      const workflow = workflowOf(services, id);
      const { simulated: _, ...test } = scenarioOf(testIn(services, id, test_id));
      if (JSON.stringify(answers).length > CASSETTE_LIMITS.chars)
        throw new Rejection("too_large", "These answers are too large for a test: at most 4 MiB.");
      services.scenarios.save(id, withoutKeys({ ...test, answers }));
      return viewOf(services, workflow, testIn(services, id, test_id));
    },
  }),

  remove: mutation({
    name: "deleteTest",
    summary: "Delete a test and its results",
    needs: "author",
    input: ByTest,
    http: {
      route: "DELETE /workflows/{id}/tests/{test_id}",
      success: "Deleted",
    },
    run(services, { workflow_id: id, test_id }) {
      workflowOf(services, id);
      if (!services.scenarios.remove(id, test_id)) throw notFound("test");
    },
  }),

  run: mutation({
    name: "runTests",
    summary: "Run a workflow's tests",
    about:
      "Tests are executed by the same interpreter as runs, on a virtual clock, and the run isn't stored. Recordings, pins or the offline demo model answer in place of models and tools; nothing outside is called, and the same tests on the same workflow always produce the same reports. With `real`, models are called, up to `max_cost_usd` in total; tools still have no outside effects.",
    needs: ["run", "read"],
    input: ByWorkflow.extend({
      tests: ChosenTests,
      repeats: Repeats.optional().meta({
        description: "How many times to run each test, overriding its own setting",
      }),
      ...WithRealModels,
    }),
    output: SuiteReport,
    problems: ["not_found", "bad_request", "workflow_has_problems", "queue_full"],
    http: {
      route: "POST /workflows/{id}/tests/run",
      success: "The result of each test",
    },
    async run(services, { workflow_id: id, tests, repeats, ...money }, { by, signal }) {
      const workflow = workflowOf(services, id);
      const tested = testedOf(services, workflow);
      refuseUnrunnable(tested, workflow);
      const spendingCap = spendingCapFor(money);
      const chosen = testsIn(services, id, tests);
      return services.testGates.through(spendingCap ? "real" : "offline", signal, () =>
        runSuite({
          tested,
          tests: chosen.map((test) => ({ ...scenarioOf(test), ...(repeats ? { repeats } : {}) })),
          parts: services.testParts,
          spendingCap,
          book: judgeBookOf(services, id),
          aborted: signal,
          onReport: (report, took_ms) =>
            services.scenarios.keep(id, { by, revision: workflow.revision, took_ms }, report),
        }),
      );
    },
  }),

  mutants: mutation({
    name: "runMutants",
    summary: "Find small changes to a workflow that its tests don't detect",
    about:
      "Makes one small change at a time (two routes swapped, a condition negated or removed, a step, review, guardrail or limit removed, a role's tools widened, a key renamed) and runs the tests on each. Nothing is saved. All tests must pass on the unchanged workflow; otherwise, `why_not` gives the reason.",
    needs: ["run", "read"],
    input: ByWorkflow.extend({
      tests: ChosenTests,
      most: z.int().min(1).max(MOST_MUTANTS).optional(),
    }),
    output: MutantReport,
    problems: ["not_found", "workflow_has_problems", "queue_full"],
    http: {
      route: "POST /workflows/{id}/tests/mutants",
      success: "Each change with its result",
    },
    run(services, { workflow_id: id, tests, most }, { signal }) {
      const workflow = workflowOf(services, id);
      const tested = testedOf(services, workflow);
      refuseUnrunnable(tested, workflow);
      const chosen = testsIn(services, id, tests);
      return services.testGates.through("offline", signal, () =>
        runMutants({
          tested,
          tests: chosen.map(scenarioOf),
          parts: services.testParts,
          aborted: signal,
          ...(most === undefined ? {} : { most }),
        }),
      );
    },
  }),

  ...keptRunOperations,
};
