import { present } from "@/server/domain/base/must";
import { isEmptyValue, type Prompt } from "../prompt";

/** A yes or no with the rule that led to it. */
export interface Decision {
  yes: boolean;
  /** A whole sentence. */
  rule: string;
}

const MONEY = [
  /(?:[$€£]|\b(?:usd|eur|chf|gbp)\b)\s{0,9}(\d[\d,.' ]{0,30}\d|\d)\s{0,9}(k\b)?/gi,
  /(\d[\d,.' ]{0,30}\d|\d)\s{0,9}(k)?\s{0,9}(?:[$€£]|(?:dollars?|euros?|francs?|pounds?|usd|eur|chf|gbp)\b)/gi,
  /\b(?:amount|cost|costs|price|budget|total|sum|expenses?)\b["']?\s{0,9}(?:is|of|:|=)?\s{0,9}(\d[\d,.' ]{0,30}\d|\d)\s{0,9}(k\b)?/gi,
];
const LIMIT = 1000;

/** Decides requests by rules that anybody can read: the first that fits. */
export function decideApproval(prompt: Prompt): Decision {
  const text = prompt.data.toLowerCase();
  const amount = largestAmount(text);
  if (amount !== null && amount > LIMIT)
    return { yes: false, rule: `Rejected: ${amount} is above the limit of ${LIMIT}.` };
  const risky = /\b(?:delete|wipe|bypass|without review|illegal|forbidden|password|disable security)\b/.exec(
    text,
  )?.[0];
  if (risky) return { yes: false, rule: `Rejected: the request says “${risky}”, which is too risky.` };
  if (/\b(?:vacation|holiday|holidays|time off|leave)\b/.test(text)) {
    const days = daysAskedFor(text);
    if (days > 30) return { yes: false, rule: `Rejected: ${days} days off is more than 30.` };
    return { yes: true, rule: "Approved: time off up to 30 days is fine." };
  }
  if (/\b(?:urgent|urgently|asap|emergency)\b/.test(text))
    return { yes: true, rule: "Approved: urgent requests within the limits go ahead." };
  if (amount !== null) return { yes: true, rule: `Approved: ${amount} is within the limit of ${LIMIT}.` };
  return { yes: true, rule: "Approved: nothing speaks against it." };
}

function largestAmount(text: string): number | null {
  let largest: number | null = null;
  for (const pattern of MONEY)
    for (const [, digits = "", thousand] of text.matchAll(pattern)) {
      const amount = toNumber(digits) * (thousand ? 1000 : 1);
      if (Number.isFinite(amount) && (largest === null || amount > largest)) largest = amount;
    }
  return largest;
}

/** Reads 1,200.50 and 1.200,50 and 1'200 alike. */
function toNumber(digits: string): number {
  const bare = digits.replace(/[' ]/g, "");
  const decimals = /[.,](\d{1,2})$/.exec(bare);
  const whole = (decimals ? bare.slice(0, -decimals[0].length) : bare).replace(/[.,]/g, "");
  return Number(whole) + (decimals ? Number(`0.${decimals[1]}`) : 0);
}

const NUMBERS: Record<string, number> = {
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  eight: 8,
  ten: 10,
  twelve: 12,
};
const UNITS: Record<string, number> = { day: 1, week: 7, month: 30, year: 365 };

function daysAskedFor(text: string): number {
  let most = 0;
  for (const [, count = "", unit = ""] of text.matchAll(
    /\b(\d{1,3}|one|two|three|four|five|six|eight|ten|twelve)[ -](day|week|month|year)s?\b/g,
  ))
    most = Math.max(most, (NUMBERS[count] ?? Number(count)) * (UNITS[unit] ?? 1));
  return most;
}

const EARLIER =
  /(?:^|_)(?:reviews?|feedback|critique|comments?|changes|previous|prior|issues|objections?)(?:$|_)/i;
const NOT_EARLIER = /guideline|criteria|instruction|checklist|focus|request|rubric/i;

/** Whether an input's name says that it holds what a reviewer said before. Where a group met, nobody sent work back. */
export const isReviewKey = (key: string) =>
  !/^sync_/i.test(key) && EARLIER.test(key) && !NOT_EARLIER.test(key) && !/^approv/i.test(key);

/** What an earlier round said about this piece of work; null in the first round. */
export function earlierReview(prompt: Prompt): string | null {
  for (const [key, value] of Object.entries(prompt.inputs))
    if (isReviewKey(key) && !isEmptyValue(value)) return value;
  return /\bround \d+: changes requested[^\n]*/i.exec(prompt.all)?.[0] ?? null;
}

/** Counts how often the work went round: 1 at first. */
export function roundOf(prompt: Prompt): number {
  const marks = [...prompt.all.matchAll(/\b(?:revision|round) (\d{1,3})\b/gi)].map(([, n]) => Number(n));
  const marked = marks.length > 0 ? Math.max(...marks) : 1;
  return Math.max(marked, earlierReview(prompt) === null ? 1 : 2);
}

/** Asks for changes in the first round and approves in the second, so that a loop visibly loops once. */
export function decideReview(prompt: Prompt): Decision {
  const round = roundOf(prompt);
  if (round >= 2) return { yes: true, rule: `Round ${round}: approved, the changes asked for are in.` };
  return {
    yes: false,
    rule: `Round 1: changes requested. Add one concrete example about ${prompt.topic} and a closing line.`,
  };
}

const YES = [
  "approved",
  "approve",
  "accepted",
  "accept",
  "pass",
  "passed",
  "yes",
  "ok",
  "good",
  "done",
  "ready",
  "publish",
  "success",
  "complete",
  "ship",
];
const NO = [
  "changes_requested",
  "changes requested",
  "needs_revision",
  "needs_changes",
  "needs_work",
  "request_changes",
  "revise",
  "revision",
  "rejected",
  "reject",
  "declined",
  "decline",
  "denied",
  "fail",
  "failed",
  "no",
  "retry",
  "rework",
  "redo",
  "improve",
  "not_approved",
];
const word = (text: string) => text.toLowerCase().replace(/[\s_-]+/g, "_");
const YES_TERMS = new Set(YES.map(word));
const NO_TERMS = new Set(NO.map(word));

/** The word among `options` that says yes or no; undefined where none does. */
export function wordFor(yes: boolean, options: readonly unknown[]): string | undefined {
  const own = yes ? YES_TERMS : NO_TERMS;
  return options.find((option): option is string => typeof option === "string" && own.has(word(option)));
}

/** The words that a prompt itself uses for yes and no, such as: answer "approved" or "revise". */
export function wordInPrompt(yes: boolean, prompt: Prompt, otherwise: string): string {
  const text = `${prompt.task}\n${prompt.system}`;
  const quoted = [...text.matchAll(/["“'`]([A-Za-z_ -]{2,24})["”'`]/g)].map(([, inner]) =>
    present(inner, "inner"),
  );
  return wordFor(yes, quoted) ?? otherwise;
}
