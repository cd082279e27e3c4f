import { canonicalJson } from "@/server/domain/base/json";
import type { Json } from "@/server/domain/base/values";

/** What most of several answers agree on. */
export interface Agreement {
  /** Its place among the answers: of those that agree, the first. */
  at: number;
  /** How many agree with it, itself included. */
  votes: number;
}

/**
 * Counts answers to one question. Answers agree where they say the same but for capitals, spaces and the signs around
 * words. Of groups of the same size, the one whose first answer came earlier wins. At least one answer is needed.
 */
export function agreement(answers: readonly Json[]): Agreement {
  const groups = new Map<string, Agreement>();
  for (const [at, answer] of answers.entries()) {
    const key = plainAnswer(answer);
    const known = groups.get(key);
    groups.set(key, known ? { ...known, votes: known.votes + 1 } : { at, votes: 1 });
  }
  // A Map keeps the order of the first answers, so that a tie goes to the earlier.
  return [...groups.values()].reduce((best, one) => (one.votes > best.votes ? one : best));
}

function plainAnswer(value: Json): string {
  if (typeof value === "string")
    return value
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, " ")
      .trim();
  if (Array.isArray(value)) return JSON.stringify(value.map(plainAnswer));
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return canonicalJson(
    Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plainAnswer(inner)])),
  );
}
