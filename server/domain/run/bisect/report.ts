import { z } from "zod";

/** What can be other in two runs: what they began with, and what each was answered. */
export const DifferenceKind = z.enum([
  ...["time", "drawing", "roles", "settings", "input", "edits"],
  ...["model", "tool", "person", "installed"],
] as const);
export type DifferenceKind = z.infer<typeof DifferenceKind>;

/** One thing that two runs had otherwise: a part of their beginning, or the answer to the very same question. */
export const RunDifference = z.object({
  kind: DifferenceKind,
  /** In words: The model's answer in Write. */
  title: z.string(),
  node_id: z.string().optional(),
  activation_id: z.string().optional(),
  /** What each had, cut; null: nothing came. */
  good: z.string().nullable(),
  bad: z.string().nullable(),
  /** The events in which it came. */
  good_seq: z.int().optional(),
  bad_seq: z.int().optional(),
});
export type RunDifference = z.infer<typeof RunDifference>;

/** One replay: with the first so many differences as the good run had them, and the others as the bad one had them. */
export const BisectTry = z.object({
  from_good: z.int(),
  outcome: z.enum(["holds", "fails", "unknown"]),
  /** How it ended, or why that cannot be known. */
  why: z.string(),
});
export type BisectTry = z.infer<typeof BisectTry>;

/** Which of the things that two runs had otherwise made a difference to an expectation. */
export const BisectReport = z.object({
  /**
   * found: with `step` from the bad run it fails, with it from the good one it holds. undecided: one of `between`.
   * not_reproduced: a run does not come out by its record as it did then. no_difference: both had the same.
   */
  verdict: z.enum(["found", "undecided", "not_reproduced", "no_difference"]),
  sentence: z.string(),
  /** Places in `differences`, from 0. */
  step: z.int().optional(),
  between: z.array(z.int()).optional(),
  /** In the order in which the good run had them. */
  differences: z.array(RunDifference),
  tries: z.array(BisectTry),
});
export type BisectReport = z.infer<typeof BisectReport>;
