import { knownCost } from "@/server/domain/model/cost";
import { checkExpectations } from "@/server/domain/scenario/check";
import { pathOf } from "@/server/domain/scenario/checks/path";
import type { Expectation } from "@/server/domain/scenario/expectation";
import type { Outcome, TestReport } from "@/server/domain/scenario/report";
import { type ScenarioTest, USUAL_START } from "@/server/domain/scenario/scenario-test";
import { testFaults } from "@/server/domain/scenario/test-faults";
import { type Answering, recordedAnswers, simulatedAnswers, type TestParts } from "./answering";
import { runScenario, type ScenarioRun, type Tested } from "./run-scenario";

/** Runs a test as often as it says. Equal tests of equal workflows give equal reports. */
export async function runTest(
  tested: Tested,
  test: ScenarioTest,
  parts: TestParts,
  aborted?: AbortSignal,
): Promise<TestReport> {
  const problems = testFaults(tested.graph, test);
  if (problems.length > 0) return notRun(test, problems);
  const { times, at_least } = test.repeats ?? { times: 1, at_least: 1 };
  const reports: TestReport[] = [];
  for (let k = 0; k < times; k++) reports.push(await runOnce(tested, test, parts, aborted));
  const passed = reports.filter(({ status }) => status === "passed").length;
  const shown = reports.find(({ status }) => status !== "passed") ?? reports[0];
  if (!shown || !test.repeats) return shown ?? notRun(test, []);
  const isPassed = passed >= at_least;
  return {
    ...shown,
    status: isPassed ? "passed" : shown.status,
    sentence: `It passed ${passed} of ${times} times, at least ${at_least} wanted.${passed < times ? ` ${shown.sentence}` : ""}`,
    repeats: { times, passed, at_least },
  };
}

const notRun = ({ id, name }: ScenarioTest, problems: string[]): TestReport => ({
  test_id: id,
  name,
  status: "not_run",
  sentence:
    problems.length === 1
      ? (problems[0] ?? "")
      : `This test cannot be run: ${problems.length} things stand in its way.`,
  problems,
  outcome: null,
  results: [],
  question: null,
  missed: null,
  repeats: null,
});

/** Who answers in a test that asks no real model. */
export const answeringOf = (
  { answers, simulated, starts_at = USUAL_START }: ScenarioTest,
  parts: TestParts,
): Answering =>
  answers ? recordedAnswers(parts, answers) : simulatedAnswers(parts, simulated === true, () => starts_at);

async function runOnce(
  tested: Tested,
  test: ScenarioTest,
  parts: TestParts,
  aborted?: AbortSignal,
): Promise<TestReport> {
  const run = await runScenario(tested, test, answeringOf(test, parts), aborted);
  return reportOf(test, run);
}

/** What is expected where nothing is said. */
const COMES_TO_AN_END: Expectation[] = [{ kind: "status", is: "COMPLETED" }];

/** What a run of a test comes to. */
export function reportOf(test: ScenarioTest, run: ScenarioRun): TestReport {
  const results = checkExpectations(
    run.events,
    test.expect.length > 0 ? test.expect : COMES_TO_AN_END,
    run.state,
  );
  const failed = results.filter(({ status }) => status === "failed");
  const stopped = run.missed?.sentence ?? run.wrongAnswer ?? unanswered(run);
  const unchecked = results.filter(({ status }) => status === "not_checked").length;
  return {
    test_id: test.id,
    name: test.name,
    // What nothing was held against has not passed.
    status:
      failed.length > 0 || stopped !== null ? "failed" : unchecked === results.length ? "not_run" : "passed",
    sentence:
      stopped ??
      sentenceOf(
        test,
        failed.map(({ sentence }) => sentence),
        unchecked,
      ),
    problems: [],
    outcome: outcomeOf(run),
    results,
    question: run.question,
    missed: run.missed,
    repeats: null,
  };
}

const unanswered = ({ question, state }: ScenarioRun): string | null => {
  if (question)
    return `${state.graph.nodes[question.node_id]?.name || question.node_id} asks a person “${question.title}”, and this test has no answer to that.`;
  return state.run.final_status ? null : "It waits for something that never comes in a test.";
};

function sentenceOf(test: ScenarioTest, failed: readonly string[], unchecked: number): string {
  const [first, ...more] = failed;
  if (first !== undefined) return more.length === 0 ? first : `${first} ${more.length} more failed.`;
  if (test.expect.length === 0) return "It came to an end. Nothing else was expected of it.";
  const checked = test.expect.length - unchecked;
  if (checked === 0) return "Nothing that it expects could be checked without a model.";
  if (unchecked > 0)
    return `${checked} of ${test.expect.length} expectations hold; the others could not be checked without a model.`;
  return test.expect.length === 1
    ? "What was expected holds."
    : `All ${test.expect.length} expectations hold.`;
}

function outcomeOf({ state, events, unused, duration_ms }: ScenarioRun): Outcome {
  const { run, totals } = state;
  return {
    final_status: run.final_status ?? null,
    reason_code: run.reason_code ?? null,
    error: run.error ?? null,
    path: pathOf({ events }),
    tokens: totals.usage.input_tokens + totals.usage.output_tokens,
    cost_usd: knownCost(totals),
    duration_ms,
    simulated: run.simulated,
    unused_answers: unused,
  };
}
