import {
  getNodeValue,
  type Node as JsonNode,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { isCollection, isMap, isNode, isScalar, type Node as YamlNode } from "yaml";
import { jsonTextProblem } from "@/server/domain/base/json-limits";
import { unwrapText } from "@/server/domain/base/lenient-reader";
import { parseYamlDocument } from "../text-files";

/** A text as JSON (also with comments and trailing commas) or YAML, with the lines of what is in it. */
export interface ParsedText {
  kind: "json" | "yaml" | "text";
  /** Undefined where it is only text, or where `problem` says why it cannot be read. */
  value: unknown;
  problem: string | undefined;
  lineOf: (at: string) => number | undefined;
}

const AS_TEXT = /\.(md|mdx|mmd|mermaid|txt|py|ts|tsx|js|jsx|mjs|cjs|toml|sh|html|css|csv|ipynb|lock)$/i;
const IS_YAML = /\.ya?ml$/i;
const IS_JSON = /\.(jsonc?|json5)$/i;

/** Reads a text as what its name and its first characters say; a text without a name may also be YAML. */
export function parseStructured(path: string, source: string): ParsedText {
  if (source.includes("\u0000"))
    return {
      kind: "text",
      value: undefined,
      problem: "This is not UTF-8 text. Save it as UTF-8 (it may be UTF-16) and import it again.",
      lineOf: () => undefined,
    };
  const text = unwrapText(source);
  const skipped = text === source ? 0 : linesBefore(source, text);
  const plain: ParsedText = { kind: "text", value: undefined, problem: undefined, lineOf: () => undefined };
  if (AS_TEXT.test(path) || text.trim() === "") return plain;
  if (IS_JSON.test(path) || (!IS_YAML.test(path) && /[{[]/.test(firstSign(text))))
    return parseJson(text, skipped);
  const parsed = parseYaml(text, skipped);
  if (IS_YAML.test(path)) return parsed;
  // Pasted words are YAML, too, of one text; only what has parts is meant as such.
  return typeof parsed.value === "object" && parsed.value !== null
    ? parsed
    : { ...plain, problem: parsed.problem };
}

/** The first character that is neither whitespace nor in a comment; empty if there is none. */
function firstSign(text: string): string {
  const signs = /\S/g;
  for (let found = signs.exec(text); found; found = signs.exec(text)) {
    const end = text.startsWith("//", found.index)
      ? text.indexOf("\n", found.index)
      : text.startsWith("/*", found.index)
        ? text.indexOf("*/", found.index + 2) + 1
        : 0;
    if (end <= 0) return end < 0 ? "" : found[0];
    signs.lastIndex = end + 1;
  }
  return "";
}

function linesBefore(source: string, text: string): number {
  const at = source.indexOf(text);
  return at <= 0 ? 0 : source.slice(0, at).split("\n").length - 1;
}

function parseJson(text: string, skipped: number): ParsedText {
  const unread = (problem: string): ParsedText => ({
    kind: "json",
    value: undefined,
    problem,
    lineOf: () => undefined,
  });
  const limit = jsonTextProblem(text);
  if (limit) return unread(limit);
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true, disallowComments: false });
  const [error] = errors;
  const lines = lineStarts(text);
  const lineAt = (offset: number) => lineNumber(lines, offset) + skipped;
  if (error || !tree) {
    const offset = error?.offset ?? 0;
    const column = offset - (lines[lineNumber(lines, offset) - 1] ?? 0) + 1;
    const what = error
      ? ` (${printParseErrorCode(error.error)
          .replace(/([a-z])([A-Z])/g, "$1 $2")
          .toLowerCase()})`
      : "";
    return unread(`Invalid JSON: syntax error at line ${lineAt(offset)}, column ${column}${what}.`);
  }
  return {
    kind: "json",
    value: getNodeValue(tree),
    problem: undefined,
    lineOf: (at) => {
      const found = walk<JsonNode>(tree, at, jsonChildren);
      return lineAt(found.offset);
    },
  };
}

function parseYaml(text: string, skipped: number): ParsedText {
  const parsed = parseYamlDocument(text, { maxAliasCount: 100, merge: true });
  if ("error" in parsed)
    return { kind: "yaml", value: undefined, problem: parsed.error, lineOf: () => undefined };
  const { document, lineCounter, value } = parsed;
  return {
    kind: "yaml",
    value,
    problem: undefined,
    lineOf: (at) => {
      if (!document.contents) return undefined;
      const found = walk<YamlNode>(document.contents, at, yamlChildren);
      const offset = found.range?.[0];
      return offset === undefined ? undefined : lineCounter.linePos(offset).line + skipped;
    },
  };
}

/** Steps of a dotted place; keys may hold dots themselves, so that each is compared as a whole. */
export function walk<N>(
  root: N,
  at: string,
  children: (node: N) => Iterable<[key: string, place: N, inner: N]>,
): N {
  let current = root;
  let found = root;
  let rest = at;
  while (rest !== "") {
    let next: [string, N, N] | undefined;
    for (const child of children(current))
      if (rest === child[0] || rest.startsWith(`${child[0]}.`))
        if (!next || child[0].length > next[0].length) next = child;
    if (!next) break;
    found = next[1];
    current = next[2];
    rest = rest.slice(next[0].length + 1);
  }
  return found;
}

function* jsonChildren(node: JsonNode): Iterable<[string, JsonNode, JsonNode]> {
  for (const [place, child] of (node.children ?? []).entries()) {
    if (node.type === "array") yield [String(place), child, child];
    const [key, inner] = child.children ?? [];
    if (node.type === "object" && key && inner) yield [String(key.value), key, inner];
  }
}

function* yamlChildren(node: YamlNode): Iterable<[string, YamlNode, YamlNode]> {
  if (!isCollection(node)) return;
  if (isMap<YamlNode, YamlNode | null>(node)) {
    for (const { key, value } of node.items) if (isScalar(key)) yield [String(key.value), key, value ?? key];
  } else
    for (const [place, item] of node.items.entries()) if (isNode(item)) yield [String(place), item, item];
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** From 1. */
function lineNumber(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return low + 1;
}
