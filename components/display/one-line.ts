import type { Json } from "@/server/domain/base/values";
import { isStructured, jsonIn, plainLines, unmarked } from "@/server/domain/text/plain-text";

/** A one-line summary of a value, without Markdown or JSON syntax; possibly empty. */
export function oneLine(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return firstLineOf(value);
  if (typeof value === "boolean") return value ? "Yes" : "No";
  if (typeof value === "number") return String(value);
  if (Array.isArray(value)) {
    const parts = value.map(oneLine).filter(Boolean);
    return parts.length > 0 ? parts.join(", ") : "";
  }
  // The last text is usually the conclusion.
  return Object.values(value).map(oneLine).filter(Boolean).at(-1) ?? "";
}

/**
 * The end of a text that is still streaming, on one line; `most` is at least 4. Of a structured answer, only the value being
 * written is shown, without braces and keys.
 */
export function endOfText(text: string, most: number): string {
  const written = isStructured(text) ? valueBeingWritten(text) : text;
  const plain = unmarked(written.replace(/\s+/g, " ").trim());
  if (plain.length <= most) return plain;
  const end = plain.slice(2 - most);
  // Start with a whole word.
  return `… ${end.slice(end.indexOf(" ") + 1)}`;
}

/** The most informative line: no heading, no signature, and no list of inputs. */
function firstLineOf(text: string): string {
  const inner = jsonIn(text);
  if (inner !== undefined) return oneLine(inner);
  const lines = text.split(/\r?\n/).filter((line) => plainLines(line).length > 0);
  const content = lines.find((line) => !/^(?:#{1,6}\s|[—–]\s|Received keys:|.*:$)/.test(line.trim()));
  return plainLines(content ?? lines[0] ?? "")[0] ?? "";
}

/** The last quoted value, possibly unterminated; a text that may become a key does not count. */
function valueBeingWritten(text: string): string {
  const values = [...text.matchAll(/[:[]\s*"((?:[^"\\]|\\.)*)/g)];
  const last = values.at(-1)?.[1] ?? "";
  return last.replace(/\\[nrt]/g, " ").replace(/\\(.)/g, "$1");
}

/** Removes the label of the offline demo, for lists whose runs have their own simulated badge. */
export const withoutDemoMark = (line: string): string =>
  line.replace(/(?<!\s)\s*— offline demo text\.?/g, "");
