import { expect } from "vitest";
import type { Json } from "@/server/domain/base/values";
import { READING_UNITS, WORK_LIMITS, Work } from "@/server/domain/base/work-budget";
import { ExpressionError, evaluateExpression } from "../expression/expression";

/** Values of a small run, for tests of what expressions make of them. */
const state: Record<string, Json> = {
  n: 1.5,
  s: "a",
  list: [1, 2, 3],
  o: { a: null, deep: { x: "y" } },
  yes: true,
};
const now = Date.parse("2026-11-22T11:30:00Z");

/** What an expression gives over these values. */
export const given = (text: string, work = new Work()): Json =>
  evaluateExpression(text, { state, now }, work);

/** Why it is refused, which part of it, and the value that was not there where that is why. */
export type Refusal = [message: string, at: string, missing?: string];

/** A row of a table: a text, what its message says among the rest, the part where it is not all of it, and what is missing. */
export type Rejected = [text: string, says: string, at?: string, missing?: string];
export const rejection = (...[text, says, at = text, missing]: Rejected): unknown[] => [
  expect.stringContaining(says),
  at,
  ...(missing === undefined ? [] : [missing]),
];

export function rejectionOf(text: string): Refusal | { gives: Json } {
  try {
    return { gives: given(text) };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const at = text.slice(error.from, error.to);
    return error.missing === null ? [error.message, at] : [error.message, at, error.missing];
  }
}

/** How much work an expression takes beyond reading it, whether it ends well or not. */
export function unitsOf(text: string): number {
  const work = new Work();
  try {
    given(text, work);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
  }
  return WORK_LIMITS.units - work.remaining - text.length * READING_UNITS;
}
