import type { Json } from "@/server/domain/base/values";
import { isStructured, jsonIn, plainLines, unmarked } from "@/server/domain/text/plain-text";

/** What a value says in one line, without marks of Markdown or JSON; empty where it says nothing. */
export function oneLine(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return firstLineOf(value);
  if (typeof value === "boolean") return value ? "Yes" : "No";
  if (typeof value === "number") return String(value);
  if (Array.isArray(value)) {
    const parts = value.map(oneLine).filter(Boolean);
    return parts.length > 0 ? parts.join(", ") : "";
  }
  // What was written last is what it came to.
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
  // Begins with a whole word.
  return `… ${end.slice(end.indexOf(" ") + 1)}`;
}

/** The line that a person would read first: below a heading, not a signature and not a list of what was handed in. */
function firstLineOf(text: string): string {
  const inner = jsonIn(text);
  if (inner !== undefined) return oneLine(inner);
  const lines = text.split(/\r?\n/).filter((line) => plainLines(line).length > 0);
  const content = lines.find((line) => !/^(?:#{1,6}\s|[—–]\s|Received keys:|.*:$)/.test(line.trim()));
  return plainLines(content ?? lines[0] ?? "")[0] ?? "";
}

/** The last text between quotation marks that is a value, closed or not; what may yet become a key is none. */
function valueBeingWritten(text: string): string {
  const values = [...text.matchAll(/[:[]\s*"((?:[^"\\]|\\.)*)/g)];
  const last = values.at(-1)?.[1] ?? "";
  return last.replace(/\\[nrt]/g, " ").replace(/\\(.)/g, "$1");
}

/** A line without the mark of the offline demo, for lists whose run says itself that it is simulated. */
export const withoutDemoMark = (line: string): string =>
  line.replace(/(?<!\s)\s*— offline demo text\.?/g, "");
