import { z } from "zod";
import { FinalStatus, RunError } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import { Json } from "@/server/domain/base/values";
import { RequestDifference } from "@/server/domain/run/request-difference";
import { Expectation } from "./expectation";

/** A model's verdict on an output. */
export const Judged = z.object({
  /** Names the judge, by its rubric and its model, and the output: a person's label is kept under both. */
  judge: z.string(),
  item: z.string(),
  /** From 0 to 1. */
  score: z.number(),
  threshold: z.number(),
  reason: z.string(),
  model: z.string(),
  /** The offline demo model judged. */
  simulated: z.boolean(),
  /** It said so earlier of these very words, and was not asked again. */
  recorded: z.boolean(),
  /** US dollars, of this time; null: unknown. */
  cost_usd: z.number().nullable(),
  tokens: z.int(),
  /** Null and 0, except in older reports, where a judge's agreement with a person's labels decided whether it counts. */
  kappa: z.number().nullable(),
  labels: z.int(),
  /** Whether it decided. A verdict of the offline demo model does not. */
  counts: z.boolean(),
});
export type Judged = z.infer<typeof Judged>;

/** What became of one expectation. */
export const ExpectationResult = z.object({
  /** Its place among the test's, from 0. */
  at: z.int(),
  expectation: Expectation,
  /** note: it was looked at and does not decide. not_checked: it could not be looked at. */
  status: z.enum(["passed", "failed", "note", "not_checked"]),
  /** What was expected and what was seen, a sentence. */
  sentence: z.string(),
  expected: Json.optional(),
  seen: Json.optional(),
  /** Where it shows. */
  node_id: z.string().optional(),
  /** The event it hangs on. */
  seq: z.int().optional(),
  judge: Judged.optional(),
});
export type ExpectationResult = z.infer<typeof ExpectationResult>;

/** A test passes, fails, or cannot be run. */
export const TestStatus = z.enum(["passed", "failed", "not_run"]);
export type TestStatus = z.infer<typeof TestStatus>;

/** A question that the test has no answer for. */
export const UnansweredQuestion = z.object({
  node_id: z.string(),
  kind: z.string(),
  title: z.string(),
  why: z.string(),
  options: z.array(z.string()).optional(),
});
export type UnansweredQuestion = z.infer<typeof UnansweredQuestion>;

/** What a test's run asked and nobody has an answer for. */
export const MissedAnswer = z.object({
  node_id: z.string().optional(),
  asked: Json,
  difference: RequestDifference,
  sentence: z.string(),
});
export type MissedAnswer = z.infer<typeof MissedAnswer>;

/** What a run of a test came to. Equal runs give equal ones: no clock of this machine is in it. */
export const Outcome = z.object({
  final_status: FinalStatus.nullable(),
  reason_code: z.string().nullable(),
  error: RunError.nullable(),
  /** The nodes in the order in which they began. */
  path: z.array(z.string()),
  tokens: z.int(),
  /** US dollars; null: unknown. */
  cost_usd: z.number().nullable(),
  /** As long as its run would have taken, by the times recorded and waited for. */
  duration_ms: z.int(),
  /** The offline demo model answered. */
  simulated: z.boolean(),
  /** Real models answered: another time they may answer otherwise. */
  real: z.boolean().optional(),
  /** Answers that were recorded and nobody asked for. */
  unused_answers: z.int(),
});
export type Outcome = z.infer<typeof Outcome>;

export const TestReport = z.object({
  test_id: z.string(),
  name: z.string(),
  status: TestStatus,
  /** Why, a sentence. */
  sentence: z.string(),
  /** What is wrong with the test itself, as it is beside the present drawing. */
  problems: z.array(z.string()),
  outcome: Outcome.nullable(),
  results: z.array(ExpectationResult),
  question: UnansweredQuestion.nullable(),
  missed: MissedAnswer.nullable(),
  /** Of a test that is repeated: how often it was run, and how often it passed. The rest tells of the first that failed. */
  repeats: z.object({ times: z.int(), passed: z.int(), at_least: z.int() }).nullable(),
});
export type TestReport = z.infer<typeof TestReport>;

/** What real models cost. */
export const Spending = z.object({
  /** US dollars; null: unknown, since the price of an answer is. */
  spent_usd: z.number().nullable(),
  max_cost_usd: z.number(),
  /** Why it was stopped, a sentence; null: it came to its end. */
  stopped: z.string().nullable(),
});
export type Spending = z.infer<typeof Spending>;

export const SuiteReport = z.object({
  workflow: z.string(),
  passed: z.int(),
  failed: z.int(),
  not_run: z.int(),
  tests: z.array(TestReport),
  /** Absent: no real model was asked. */
  spending: Spending.optional(),
});
export type SuiteReport = z.infer<typeof SuiteReport>;

export const suiteOf = (workflow: string, tests: TestReport[], spending?: Spending): SuiteReport => {
  const count = (status: TestStatus) => tests.filter((one) => one.status === status).length;
  return {
    workflow,
    passed: count("passed"),
    failed: count("failed"),
    not_run: count("not_run"),
    tests,
    ...defined({ spending }),
  };
};
