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
  /** The stored verdict on the same output was used. */
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

export const ExpectationResult = z.object({
  /** Index among the expectations of the test. */
  at: z.int(),
  expectation: Expectation,
  /** note: does not decide. not_checked: could not be checked. */
  status: z.enum(["passed", "failed", "note", "not_checked"]),
  /** What was expected and what was seen, a sentence. */
  sentence: z.string(),
  expected: Json.optional(),
  seen: Json.optional(),
  node_id: z.string().optional(),
  /** The event that decided it. */
  seq: z.int().optional(),
  judge: Judged.optional(),
});
export type ExpectationResult = z.infer<typeof ExpectationResult>;

/** A test passes, fails, or cannot be run. */
export const TestStatus = z.enum(["passed", "failed", "not_run"]);
export type TestStatus = z.infer<typeof TestStatus>;

export const UnansweredQuestion = z.object({
  node_id: z.string(),
  kind: z.string(),
  title: z.string(),
  why: z.string(),
  options: z.array(z.string()).optional(),
});
export type UnansweredQuestion = z.infer<typeof UnansweredQuestion>;

/** A model or tool call of a test without an answer. */
export const MissedAnswer = z.object({
  node_id: z.string().optional(),
  asked: Json,
  difference: RequestDifference,
  sentence: z.string(),
});
export type MissedAnswer = z.infer<typeof MissedAnswer>;

/** The outcome of a test's run. Contains no wall-clock times, so equal runs have equal outcomes. */
export const Outcome = z.object({
  final_status: FinalStatus.nullable(),
  reason_code: z.string().nullable(),
  error: RunError.nullable(),
  /** Node ids in the order of their starts. */
  path: z.array(z.string()),
  tokens: z.int(),
  /** US dollars; null: unknown. */
  cost_usd: z.number().nullable(),
  /** Simulated duration of the run. */
  duration_ms: z.int(),
  /** The offline demo model answered. */
  simulated: z.boolean(),
  /** Real models answered. */
  real: z.boolean().optional(),
  unused_answers: z.int(),
});
export type Outcome = z.infer<typeof Outcome>;

export const TestReport = z.object({
  test_id: z.string(),
  name: z.string(),
  status: TestStatus,
  /** Why, a sentence. */
  sentence: z.string(),
  /** Errors of the test itself for the current workflow. */
  problems: z.array(z.string()),
  outcome: Outcome.nullable(),
  results: z.array(ExpectationResult),
  question: UnansweredQuestion.nullable(),
  missed: MissedAnswer.nullable(),
  /** Of a repeated test. The other fields are those of the first failed run. */
  repeats: z.object({ times: z.int(), passed: z.int(), at_least: z.int() }).nullable(),
});
export type TestReport = z.infer<typeof TestReport>;

export const Spending = z.object({
  /** US dollars; null: the price of an answer is unknown. */
  spent_usd: z.number().nullable(),
  max_cost_usd: z.number(),
  /** Why it stopped early, a sentence; null: it did not. */
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
