import type { Parser, SyntaxNode, Tree } from "@lezer/common";
import type { Work } from "@/server/domain/base/work-budget";
import { type Expr, type Place, ProgramError } from "./program";

/** As much text as one program may have, in characters. */
const MAX_LENGTH = 1024 * 1024;
/** As many steps as the parser may take, about one for each word and sign: each takes some microseconds. */
const MAX_STEPS = 120_000;
/** The maximum nesting of brackets: the parser slows down with each level. */
const MAX_BRACKETS = 100;
/** Parts of a text that could not be read, that are still counted one by one. */
const MAX_SYNTAX_ERRORS = 50;

/** What both languages need to read a syntax tree: its text, and the budget of the import. */
export interface Source {
  text: string;
  work: Work;
}

export function parseSource(
  text: string,
  parser: Parser,
  work: Work,
): { source: Source; tree: Tree; syntaxErrors: Place[] } {
  if (text.length > MAX_LENGTH) throw new ProgramError("The code exceeds 1 MiB.");
  if (isTooDeep(text)) throw new ProgramError("The code is nested too deeply.");
  const parse = parser.startParse(text);
  let tree: Tree | null = null;
  for (let steps = 0; !tree; steps++) {
    if (steps > MAX_STEPS) throw new ProgramError("The code has too many parts.");
    work.spend(1);
    tree = parse.advance();
  }
  const syntaxErrors: Place[] = [];
  const cursor = tree.cursor();
  do {
    if (cursor.type.isError) syntaxErrors.push({ from: cursor.from, to: cursor.to });
  } while (syntaxErrors.length < MAX_SYNTAX_ERRORS && cursor.next());
  return { source: { text, work }, tree, syntaxErrors };
}

/** Counted from the signs alone, those in strings among them. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (const [sign] of text.matchAll(/[()[\]{}]/g)) {
    if (sign === "(" || sign === "[" || sign === "{") depth++;
    else if (depth > 0) depth--;
    if (depth > MAX_BRACKETS) return true;
  }
  return false;
}

/** The parts of a node without comments and without what the parser could not read. */
export function partsOf(node: SyntaxNode): SyntaxNode[] {
  const parts: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling)
    if (!child.type.isError && !/Comment$/.test(child.name)) parts.push(child);
  return parts;
}

export const textIn = ({ text }: Source, { from, to }: Place): string => text.slice(from, to);

export const placeOf = ({ from, to }: SyntaxNode): Place => ({ from, to });

export const other = (node: SyntaxNode): Expr => ({ is: "other", ...placeOf(node) });

/** An operation: what only a run can compute keeps no more than its operands. */
export function operationOf(node: SyntaxNode, operands: readonly Expr[], operator: string): Expr {
  const [first, second] = operands;
  if (first?.is === "number" && !second && operator === "-")
    return { is: "number", value: -first.value, ...placeOf(node) };
  return first && second && (operator === "+" || operator === "??" || operator === "|")
    ? { is: "binary", operator, left: first, right: second, ...placeOf(node) }
    : { is: "operation", operands, ...placeOf(node) };
}

/** `1_000`, `0xff`, `1e3`; null if JSON can't represent the number. */
export function numberIn(source: Source, node: SyntaxNode): number | null {
  const value = Number(textIn(source, node).replaceAll("_", ""));
  return Number.isFinite(value) ? value : null;
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  b: "\b",
  f: "\f",
  v: "\v",
  0: "\0",
  "\n": "",
};

/** Decodes the escapes of both languages; invalid ones stay as they are. */
export function unescape(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(
    /\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|(\r\n|[\s\S]))/g,
    (whole: string, ...[braced, short, long, byte, plain]: (string | undefined)[]) => {
      const hex = braced ?? short ?? long ?? byte;
      if (hex === undefined) return plain === "\r\n" ? "" : (ESCAPES[plain ?? ""] ?? plain ?? whole);
      const code = Number.parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}
