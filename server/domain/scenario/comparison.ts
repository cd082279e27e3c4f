import { z } from "zod";
import { JsonObject } from "@/server/domain/base/values";
import { Expectation } from "./expectation";
import { Spending, TestStatus } from "./report";
import { Variant } from "./variant";

export const MOST_VARIANTS = 6;
export const MOST_INPUTS = 100;
/** Variants × inputs × repeats. */
export const MOST_RUNS = 1000;

export const ComparisonFields = {
  variants: z
    .array(Variant)
    .min(1)
    .max(MOST_VARIANTS)
    .refine((variants) => new Set(variants.map(({ name }) => name)).size === variants.length, {
      error: "Give each variant a unique name",
    }),
  /** Inputs in addition to those of the tests. */
  inputs: z
    .array(z.strictObject({ name: z.string().trim().min(1).max(200).optional(), input: JsonObject }))
    .max(MOST_INPUTS)
    .optional(),
  /** Expectations for these inputs; absent: the run completes. */
  expect: z.array(Expectation).max(200).optional(),
  repeats: z.int().min(1).max(20).optional(),
};

/** One variant with one input. */
export const ComparisonCell = z.object({
  /** Names the input: a test's id, or `input_1` and so on. */
  case: z.string(),
  status: TestStatus,
  sentence: z.string(),
  runs: z.int(),
  passed: z.int(),
  /** Mean score of its judges, from 0 to 1; null: nothing was judged. */
  judged: z.number().nullable(),
  /** US dollars of a run on average; null: unknown, or nothing was run. */
  cost_usd: z.number().nullable(),
  /** US dollars of its judges, of all its runs; null: unknown. */
  judge_cost_usd: z.number().nullable(),
  /** Of a run on average. */
  tokens: z.number(),
  /** Milliseconds of a run on average; null: the offline demo model answered, which takes no time. */
  time_ms: z.number().nullable(),
  simulated: z.boolean(),
  /** The first call without an answer, as a sentence; null if all were answered. */
  unanswered: z.string().nullable(),
});
export type ComparisonCell = z.infer<typeof ComparisonCell>;

/** A variant over all inputs. */
export const VariantReport = z.object({
  name: z.string(),
  /** Counts of inputs. */
  passed: z.int(),
  failed: z.int(),
  not_run: z.int(),
  judged: z.number().nullable(),
  /** US dollars of all its runs; null: unknown, or nothing was run. */
  cost_usd: z.number().nullable(),
  /** US dollars of its judges, not included in `cost_usd`; null: unknown. */
  judge_cost_usd: z.number().nullable(),
  tokens: z.number(),
  /** Milliseconds of all its runs in sequence. */
  time_ms: z.number().nullable(),
  simulated: z.boolean(),
  cells: z.array(ComparisonCell),
});
export type VariantReport = z.infer<typeof VariantReport>;

export const ComparisonReport = z.object({
  workflow: z.string(),
  /** The inputs, in the order of the cells. */
  cases: z.array(z.object({ case: z.string(), name: z.string() })),
  variants: z.array(VariantReport),
  /** Absent: no real model was asked. */
  spending: Spending.optional(),
  /** Caveats, a sentence each. */
  notes: z.array(z.string()),
});
export type ComparisonReport = z.infer<typeof ComparisonReport>;

/** Sums up a variant's cells, without those that were not run. */
export function variantReport(name: string, cells: ComparisonCell[]): VariantReport {
  const ran = cells.filter(({ runs }) => runs > 0);
  const count = (status: TestStatus) => cells.filter((one) => one.status === status).length;
  const sum = (of: (cell: ComparisonCell) => number | null): number | null =>
    ran.reduce<number | null>((total, cell) => {
      const value = of(cell);
      return total === null || value === null ? null : total + value * cell.runs;
    }, 0);
  const judged = ran.flatMap((cell) => (cell.judged === null ? [] : [cell.judged]));
  return {
    name,
    passed: count("passed"),
    failed: count("failed"),
    not_run: count("not_run"),
    judged: mean(judged),
    cost_usd: ran.length === 0 ? null : sum(({ cost_usd }) => cost_usd),
    judge_cost_usd: sum(({ judge_cost_usd, runs }) => judge_cost_usd && judge_cost_usd / runs),
    tokens: sum(({ tokens }) => tokens) ?? 0,
    time_ms: ran.length === 0 ? null : sum(({ time_ms }) => time_ms),
    simulated: ran.some(({ simulated }) => simulated),
    cells,
  };
}

/** Null for an empty list. */
export const mean = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((a, b) => a + b, 0) / values.length;
