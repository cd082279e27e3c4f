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
 * `signs`: those that make another value of a word or number count ("-5" is not "5", "C++" is not "C").
 */
export function agreement(answers: readonly Json[], { signs }: { signs: boolean }): Agreement {
  const groups = new Map<string, Agreement>();
  for (const [at, answer] of answers.entries()) {
    const key = plainAnswer(answer, signs ? NO_VALUE : NO_WORD);
    const known = groups.get(key);
    groups.set(key, known ? { ...known, votes: known.votes + 1 } : { at, votes: 1 });
  }
  // A Map keeps the order of the first answers, so that a tie goes to the earlier.
  return [...groups.values()].reduce((best, one) => (one.votes > best.votes ? one : best));
}

/** What stands between words. */
const NO_WORD = /[^\p{L}\p{N}]+/gu;
/** The same without what makes another value: a minus before a number, signs right behind a word, comparisons. */
const NO_VALUE =
  /(?:(?![<>=≤≥≠±])(?!(?<![\p{L}\p{N}])-\.?\p{N})(?!(?<=[\p{L}\p{N}][+#%]{0,4})[+#%])[^\p{L}\p{N}])+/gu;

function plainAnswer(value: Json, dropped: RegExp): string {
  if (typeof value === "string")
    return value.toLowerCase().replaceAll("−", "-").replaceAll(" %", "%").replace(dropped, " ").trim();
  if (Array.isArray(value)) return JSON.stringify(value.map((inner) => plainAnswer(inner, dropped)));
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return canonicalJson(
    Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plainAnswer(inner, dropped)])),
  );
}
