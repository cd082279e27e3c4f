import { entriesOf } from "@/server/domain/base/guards";
import { parseJson } from "@/server/domain/base/json";
import type { Json } from "@/server/domain/base/values";

/** A comparison of a key with a value. */
export interface ConditionRow {
  key: string;
  operator: Operator;
  /** As typed. Numbers, true, false and null are literals; anything else is text. */
  value: string;
}

/** Rows joined by "and" or "or". */
export interface ConditionRows {
  join: "and" | "or";
  rows: ConditionRow[];
}

interface OperatorRule {
  label: string;
  /** Whether it compares with a value. */
  hasValue: boolean;
  /** Compares texts only: `3` is the text "3". */
  isText?: boolean;
  write(key: string, value: string): string;
  read: RegExp;
}

const KEY = "(?:state\\.)([A-Za-z_][A-Za-z0-9_]*)";
const TEXT = `"(?:[^"\\\\]|\\\\.)*"|'(?:[^'\\\\]|\\\\.)*'`;
const NUMERAL = "-?\\d+(?:\\.\\d+)?";
const VALUE = `(${TEXT}|${NUMERAL}|true|false|null)`;

const comparison = (label: string, sign: string): OperatorRule => ({
  label,
  hasValue: true,
  write: (key, value) => `state.${key} ${sign} ${literal(value)}`,
  read: new RegExp(`^${KEY}\\s*${sign}\\s*${VALUE}$`),
});
const order = (label: string, sign: string): OperatorRule => ({
  label,
  hasValue: true,
  write: (key, value) =>
    `state.${key} ${sign} ${NUMBER.test(value.trim()) ? value.trim() : quotedOnce(value)}`,
  read: new RegExp(`^${KEY}\\s*${sign}\\s*(${TEXT}|${NUMERAL})$`),
});
const method = (label: string, name: string, isNot = false): OperatorRule => ({
  label,
  hasValue: true,
  isText: true,
  write: (key, value) => `${isNot ? "!" : ""}state.${key}.${name}(${text(value)})`,
  read: new RegExp(`^${isNot ? "!" : ""}${KEY}\\.${name}\\(\\s*("(?:[^"\\\\]|\\\\.)*")\\s*\\)$`),
});

export const operators = {
  is: comparison("is", "=="),
  is_not: comparison("is not", "!="),
  contains: method("contains", "contains"),
  contains_not: method("does not contain", "contains", true),
  starts: method("starts with", "startsWith"),
  ends: method("ends with", "endsWith"),
  more: order("is more than", ">"),
  least: order("is at least", ">="),
  less: order("is less than", "<"),
  most: order("is at most", "<="),
  set: {
    label: "exists",
    hasValue: false,
    write: (key) => `has(state.${key})`,
    read: new RegExp(`^has\\(\\s*${KEY}\\s*\\)$`),
  },
  not_set: {
    label: "does not exist",
    hasValue: false,
    write: (key) => `!has(state.${key})`,
    read: new RegExp(`^!has\\(\\s*${KEY}\\s*\\)$`),
  },
} satisfies Record<string, OperatorRule>;
export type Operator = keyof typeof operators;

const KEY_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Writes rows as CEL; null if a row has no key. */
export function writeRows({ join, rows }: ConditionRows): string | null {
  if (rows.length === 0 || rows.some(({ key }) => !KEY_NAME.test(key))) return null;
  return rows
    .map(({ key, operator, value }) => operators[operator].write(key, value))
    .join(join === "and" ? " && " : " || ");
}

/** Reads CEL as rows; null if rows cannot express it. */
export function readRows(expression: string): ConditionRows | null {
  const parts = splitTop(expression.trim());
  if (!parts) return null;
  const rows: ConditionRow[] = [];
  for (const part of parts.terms) {
    const row = readRow(part);
    if (!row) return null;
    rows.push(row);
  }
  return { join: parts.join, rows };
}

function readRow(term: string): ConditionRow | null {
  for (const [operator, rule] of entriesOf<Record<Operator, OperatorRule>>(operators)) {
    const [, key, value] = rule.read.exec(term) ?? [];
    if (key !== undefined)
      return { key, operator, value: value === undefined ? "" : spoken(value, rule.isText) };
  }
  return null;
}

/** Splits at && or || outside quotes; null if both occur, or parentheses around terms. */
function splitTop(expression: string): { join: "and" | "or"; terms: string[] } | null {
  const terms: string[] = [];
  const joins = new Set<string>();
  let quote = "";
  let from = 0;
  for (let at = 0; at < expression.length; at++) {
    const char = expression[at];
    if (quote) {
      if (char === "\\") at++;
      else if (char === quote) quote = "";
      continue;
    }
    if (char === '"' || char === "'") quote = char;
    const pair = expression.slice(at, at + 2);
    if (pair === "&&" || pair === "||") {
      joins.add(pair);
      terms.push(expression.slice(from, at).trim());
      from = at + 2;
      at++;
    }
  }
  terms.push(expression.slice(from).trim());
  if (joins.size > 1 || terms.some((term) => term === "")) return null;
  return { join: joins.has("||") ? "or" : "and", terms };
}

const NUMBER = /^-?\d+(\.\d+)?$/;
const text = (value: string) => JSON.stringify(value);

/** `3` and `true` are a number and a boolean; `"3"` in quotes is text. */
function literal(value: string): string {
  const trimmed = value.trim();
  if (NUMBER.test(trimmed) || trimmed === "true" || trimmed === "false" || trimmed === "null") return trimmed;
  return quotedOnce(value);
}

/** Quotes text that is not quoted yet. */
function quotedOnce(value: string): string {
  const trimmed = value.trim();
  return /^".*"$/s.test(trimmed) && parsed(trimmed) !== undefined ? trimmed : text(value);
}

/** The inverse: text that looks like a number keeps its quotes. */
function spoken(value: string, isText = false): string {
  if (!/^["']/.test(value)) return value;
  const inner = value.startsWith('"') ? parsed(value) : value.slice(1, -1).replace(/\\(.)/gs, "$1");
  if (typeof inner !== "string") return value;
  return isText || literal(inner) === text(inner) ? inner : text(inner);
}

function parsed(json: string): Json | undefined {
  try {
    return parseJson(json);
  } catch {
    return undefined;
  }
}
