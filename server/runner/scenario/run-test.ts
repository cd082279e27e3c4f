import { knownCost } from "@/server/domain/model/cost";
import { checkExpectations } from "@/server/domain/scenario/check";
import { pathOf } from "@/server/domain/scenario/checks/path";
import type { Expectation } from "@/server/domain/scenario/expectation";
import type { ExpectationResult, Outcome, TestReport } from "@/server/domain/scenario/report";
import { type ScenarioTest, USUAL_START } from "@/server/domain/scenario/scenario-test";
import { testErrorTexts } from "@/server/domain/scenario/test-errors";
import { type Answering, realAnswers, recordedAnswers, simulatedAnswers, type TestParts } from "./answering";
import { type JudgeBook, type Judges, judge } from "./judging";
import { runScenario, type ScenarioRun, type Tested } from "./run-scenario";
import type { SpendingCap } from "./spending-cap";

export interface TestRun {
  /** Real models answer up to this cap; absent: no call leaves the server. */
  spendingCap?: SpendingCap | undefined;
  /** Stored verdicts; absent: judges are not asked. */
  book?: JudgeBook | undefined;
  aborted?: AbortSignal | undefined;
}

/** Runs a test with its repeats. Without real models, the same test and workflow give the same report. */
export async function runTest(
  tested: Tested,
  test: ScenarioTest,
  parts: TestParts,
  how: TestRun = {},
): Promise<TestReport> {
  const problems = testErrorTexts(tested.graph, test);
  if (problems.length > 0) return notRun(test, problems);
  const { times, at_least } = test.repeats ?? { times: 1, at_least: 1 };
  const reports: TestReport[] = [];
  for (let k = 0; k < times; k++) reports.push(await runOnce(tested, test, parts, how));
  const passed = reports.filter(({ status }) => status === "passed").length;
  const shown = reports.find(({ status }) => status !== "passed") ?? reports[0];
  if (!shown || !test.repeats) return shown ?? notRun(test, []);
  const isPassed = passed >= at_least;
  return {
    ...shown,
    status: isPassed ? "passed" : shown.status,
    sentence: `Passed ${passed} of ${times} times, minimum ${at_least}.${passed < times ? ` ${shown.sentence}` : ""}`,
    repeats: { times, passed, at_least },
  };
}

export const notRun = ({ id, name }: ScenarioTest, problems: string[]): TestReport => ({
  test_id: id,
  name,
  status: "not_run",
  sentence:
    problems.length === 1
      ? (problems[0] ?? "")
      : `This test can't run because of ${problems.length} problems.`,
  problems,
  outcome: null,
  results: [],
  question: null,
  missed: null,
  repeats: null,
});

/** What answers model and tool calls in a test. */
function answeringOf(
  { answers, simulated, starts_at = USUAL_START }: ScenarioTest,
  parts: TestParts,
  { spendingCap }: TestRun,
): Answering {
  const now = () => starts_at;
  if (spendingCap) return realAnswers(parts, spendingCap, answers, { now });
  return answers ? recordedAnswers(parts, answers) : simulatedAnswers(parts, simulated === true, now);
}

async function runOnce(
  tested: Tested,
  test: ScenarioTest,
  parts: TestParts,
  how: TestRun,
): Promise<TestReport> {
  const run = await runScenario(tested, test, answeringOf(test, parts, how), how.aborted);
  const results = checkExpectations(
    run.events,
    test.expect.length > 0 ? test.expect : COMES_TO_AN_END,
    run.state,
  );
  // Only a completed run has an output to judge.
  const judges = run.state.run.final_status === "COMPLETED" ? judgesOf(test, parts, how) : null;
  const judged: ExpectationResult[] = [];
  for (const result of results) {
    const { expectation } = result;
    const verdict = judges && expectation.kind === "judge" ? await judge(judges, expectation, run.state) : {};
    judged.push({ ...result, ...verdict });
  }
  const report = reportOf(test, run, judged);
  return how.spendingCap && report.outcome
    ? { ...report, outcome: { ...report.outcome, real: true } }
    : report;
}

/** Real models judge where they answer; otherwise the demo model does where it is the configured one. */
function judgesOf({ id, simulated }: ScenarioTest, parts: TestParts, how: TestRun): Judges | null {
  const { spendingCap, book, aborted } = how;
  if (!book) return null;
  const about = { test_id: id, book, aborted };
  const { describe } = parts.models;
  if (spendingCap) return { ...about, describe, ask: () => spendingCap.paying(parts.models) };
  const demo = parts.demoModels();
  if (simulated) return { ...about, describe: demo.describe, ask: () => demo };
  return { ...about, describe, ask: (config) => (describe(config)?.simulated ? demo : null) };
}

const COMES_TO_AN_END: Expectation[] = [{ kind: "status", is: "COMPLETED" }];

function reportOf(test: ScenarioTest, run: ScenarioRun, results: ExpectationResult[]): TestReport {
  const failed = results.filter(({ status }) => status === "failed");
  const stopped = run.missed?.sentence ?? run.wrongAnswer ?? run.notRepeated ?? unanswered(run);
  const count = (wanted: ExpectationResult["status"]) =>
    results.filter(({ status }) => status === wanted).length;
  const undecided = { notes: count("note"), unchecked: count("not_checked") };
  return {
    test_id: test.id,
    name: test.name,
    // Without a passed check it has not passed.
    status: failed.length > 0 || stopped !== null ? "failed" : count("passed") === 0 ? "not_run" : "passed",
    sentence:
      stopped ??
      sentenceOf(
        test,
        failed.map(({ sentence }) => sentence),
        undecided,
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
    return `${state.graph.nodes[question.node_id]?.name || question.node_id} asks a person “${question.title}”, but this test has no answer for that question.`;
  return state.run.final_status ? null : "It waits for something that never arrives in a test.";
};

function sentenceOf(
  test: ScenarioTest,
  failed: readonly string[],
  { notes, unchecked }: { notes: number; unchecked: number },
): string {
  const [first, ...more] = failed;
  if (first !== undefined) return more.length === 0 ? first : `${first} ${more.length} more failed.`;
  if (test.expect.length === 0) return "The run finished; nothing else was expected.";
  const held = test.expect.length - unchecked - notes;
  if (held === 0)
    return notes > 0
      ? "Undecided: the offline demo model's verdict doesn't count."
      : "None of its expectations could be checked without a model.";
  const others = [
    ...(unchecked > 0 ? [`${unchecked} could not be checked without a model`] : []),
    ...(notes > 0
      ? [`${notes} judged by the offline demo model ${notes === 1 ? "doesn't" : "don't"} count`]
      : []),
  ];
  if (others.length > 0) return `${held} of ${test.expect.length} expectations passed; ${others.join(", ")}.`;
  return test.expect.length === 1
    ? "The expectation passed."
    : `All ${test.expect.length} expectations passed.`;
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
