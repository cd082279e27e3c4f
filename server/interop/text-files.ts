import { Document, isScalar, LineCounter, parseDocument, visit } from "yaml";
import { errorMessage } from "@/server/domain/base/guards";
import { jsonTextProblem } from "@/server/domain/base/json-limits";
import { unwrapText } from "@/server/domain/base/lenient-reader";
import type { Result } from "@/server/domain/base/values";

/** Files in YAML or JSON, as people write them: small, without aliases, and never able to stop the process. */

const MAX_BYTES = 256 * 1024;

/** The value that a text in YAML or JSON holds, or a sentence that says why it cannot be read. */
export function parseText(text: string): Result<unknown> {
  if (text.length > MAX_BYTES || new TextEncoder().encode(text).length > MAX_BYTES)
    return { error: "The file exceeds 256 KiB." };
  const plain = unwrapText(text);
  if (!plain.trim()) return { error: "The file is empty." };
  return /^\s*[{[]/.test(plain) ? parseJson(plain) : parseYaml(plain);
}

function parseJson(text: string): Result<unknown> {
  const error = jsonTextProblem(text);
  if (error) return { error };
  try {
    const value: unknown = JSON.parse(text);
    return { value };
  } catch {
    // YAML's flow style looks alike, and reads what JSON does not.
    return parseYaml(text);
  }
}

function parseYaml(text: string): Result<unknown> {
  // Aliases are refused: a few lines of them can stand for gigabytes.
  const parsed = parseYamlDocument(text, { maxAliasCount: 0, merge: false });
  return "error" in parsed ? parsed : { value: parsed.value };
}

/**
 * A YAML document with its value and the lines of its parts, or why it cannot be read. `maxAliasCount`: how much its
 * aliases may multiply it; 0 refuses them.
 */
export function parseYamlDocument(
  text: string,
  { maxAliasCount, merge }: { maxAliasCount: number; merge: boolean },
): { document: Document.Parsed; lineCounter: LineCounter; value: unknown } | { error: string } {
  const tooMany = shapeProblem(text);
  if (tooMany) return { error: tooMany };
  const lineCounter = new LineCounter();
  try {
    const document = parseDocument(text, {
      schema: "core",
      customTags: null,
      merge,
      // Looked for afterwards: the parser compares each key with each.
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: "silent",
      lineCounter,
    });
    const error = document.errors[0] ?? repeatedKey(document);
    if (error) {
      const { line, col } = lineCounter.linePos(error.pos[0]);
      return { error: `Invalid YAML: line ${line}, column ${col}: ${error.message}` };
    }
    const value: unknown = document.toJS({ maxAliasCount });
    return { document, lineCounter, value };
  } catch (error) {
    const message = errorMessage(error);
    return {
      error: /alias/i.test(message)
        ? maxAliasCount === 0
          ? "The file uses aliases (*name); write the values out."
          : "The file uses too many aliases (*name); write the values out."
        : `Invalid YAML: ${message}`,
    };
  }
}

/** The first duplicate key of a map. */
function repeatedKey(document: Document.Parsed): { pos: [number]; message: string } | undefined {
  let found: { pos: [number]; message: string } | undefined;
  visit(document, {
    Map(_key, map) {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          found = { pos: [key.range?.[0] ?? 0], message: "Map keys must be unique" };
          return visit.BREAK;
        }
        seen.add(key.value);
      }
      return undefined;
    },
  });
  return found;
}

const MAX_BRACKETS = 100;
const MAX_INDENT = 256;
const MAX_COMPACT = 32;
/** Lines, commas, brackets and indicators at the start of a line: each costs the parser some 20 µs. */
const MAX_PIECES = 12_000;

/**
 * Whether a text could be nested so deeply that the recursive parser overflows the stack, which can end the whole
 * process. Estimated from the characters alone, in one pass: brackets, the indentation of a line, and consecutive `- ?
 * : & !` at its start (each may open a level of its own). Also limits how much there is to parse.
 */
function shapeProblem(text: string): string | null {
  const tooDeep = "The file is nested too deeply.";
  let depth = 0;
  let isPrefix = true;
  let column = 0;
  let compact = 0;
  let pieces = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i);
    if (pieces > MAX_PIECES) return `The file has more than ${MAX_PIECES} lines and list items.`;
    if (char === "[" || char === "{") {
      pieces++;
      if (++depth > MAX_BRACKETS) return tooDeep;
    } else if ((char === "]" || char === "}") && depth > 0) depth--;
    if (char === "," || char === "\n" || char === "\r") pieces++;
    if (char === "\n" || char === "\r") {
      isPrefix = true;
      column = 0;
      compact = 0;
      continue;
    }
    if (!isPrefix) continue;
    column++;
    const next = text[i + 1] ?? " ";
    const before = compact;
    if (char === " " || char === "\t") {
      if (compact === 0 && column > MAX_INDENT) return tooDeep;
    } else if ((char === "-" || char === "?" || char === ":") && /\s/.test(next)) {
      if (++compact > MAX_COMPACT) return tooDeep;
    } else if (char === "&" || char === "!") {
      if (++compact > MAX_COMPACT) return tooDeep;
      while (i + 1 < text.length && !/\s/.test(text.charAt(i + 1))) i++;
    } else isPrefix = false;
    pieces += compact - before;
  }
  return null;
}

/** A value as a text that parseText reads back to the same. */
export function writeText(value: unknown, format: "yaml" | "json"): string {
  if (format === "json") return `${JSON.stringify(value, null, 2)}\n`;
  const document = new Document(value, { schema: "core", aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, node) {
      // Blocks of lines lose spaces at their edges; quotes keep them.
      if (typeof node.value !== "string" || !/^\s|[ \t]$|\n\n$|[ \t]\n|\t/.test(node.value)) return;
      if (/[\n\t]/.test(node.value)) node.type = "QUOTE_DOUBLE";
      else delete node.type;
    },
  });
  return document.toString({ lineWidth: 100 });
}
