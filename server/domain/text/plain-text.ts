import { parseJson } from "@/server/domain/base/json";
import type { Json } from "../base/values";

/** The maximum depth of nested values in the text; no one reads deeper in one line. */
const DEEPEST = 6;
/** The longest text that is tried as JSON, in UTF-16 units. */
const LONGEST_JSON = 100_000;

/** A value as plain words in one line: no braces, fences or marks of Markdown; an object as "key: value". */
export function plainText(value: Json, depth = 0): string {
  if (value === null || depth > DEEPEST) return "";
  if (typeof value === "string") {
    const inner = jsonIn(value);
    return inner === undefined ? plainLines(value).join(" ") : plainText(inner, depth + 1);
  }
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return joined(value.map((one) => plainText(one, depth + 1)));
  return joined(
    Object.entries(value).map(([key, one]) => {
      const text = plainText(one, depth + 1);
      return text && `${key}: ${text}`;
    }),
  );
}

const joined = (items: readonly string[]) => items.filter(Boolean).join(", ");

/** The lines of a text that say something, without marks of Markdown. */
export const plainLines = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .map((line) => unmarked(line.replace(/\s+/g, " ").trim()))
    .filter((line) => /[^\s\p{P}]/u.test(line));

/** A line without what Markdown puts around its words; of a fence or a rule, nothing is left. */
export const unmarked = (line: string): string =>
  line
    .replace(/^(?:#{1,6}|[-*+>]|\d+[.)])\s+/, "")
    .replace(/^(?:`{3,}\w*|-{3,}|={3,})$/, "")
    .replace(/(\*\*|__|`)(.+?)\1/g, "$2")
    .trim();

/** Whether a text begins as JSON does, in a fence or not. */
export const isStructured = (text: string): boolean => /^\s*(?:```(?:json)?\s*)?[[{]/.test(text);

/** The value of a text that is JSON, in a fence or not. */
export function jsonIn(text: string): Json | undefined {
  if (text.length > LONGEST_JSON || !isStructured(text)) return undefined;
  try {
    return parseJson(text.replace(/^\s*```(?:json)?|```\s*$/g, ""));
  } catch {
    return undefined;
  }
}
