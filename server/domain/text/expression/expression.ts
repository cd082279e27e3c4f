import { type ASTNode, Environment } from "@marcbachmann/cel-js";
import { recordOf } from "@/server/domain/base/guards";
import { must } from "@/server/domain/base/must";
import { namedError } from "@/server/domain/base/named-error";
import type { Json } from "@/server/domain/base/values";
import { READING_UNITS, Work, WorkError } from "@/server/domain/base/work-budget";
import type { TextDiagnostic } from "../text-diagnostic";
import { compileTree } from "./expression-compile";
import { CompileError, type Frame } from "./expression-compiled";
import { NO_OPTIONAL_SYNTAX, TYPE_LABELS } from "./expression-hints";
import { type KeyRead, names, type Walked, walk } from "./expression-reads";
import { JsonWriter } from "./expression-result";
import { EvaluationError, type Type } from "./expression-values";

/**
 * Expressions of workflows: CEL, which has no loops beyond its macros, no user-defined functions and no access to
 * JavaScript's objects. cel-js only parses. The evaluation happens here because every step is counted (work-budget.ts): an
 * expression that would take too long ends in the same error on every machine and in every replay.
 */

/** What an expression may read. `vars` stands for `state.vars`. */
export interface ExpressionScope {
  state: Readonly<Record<string, Json>>;
  input?: Readonly<Record<string, Json>>;
  nodes?: Readonly<Record<string, Json>>;
  run?: Readonly<Record<string, Json>>;
  output?: Json;
  /** The item of a list that a node goes through, and its position from 0. */
  item?: Json;
  index?: number;
  /** What `now` is: the recorded time of the step (Unix time in milliseconds), so that a replay sees the same. */
  now?: number | undefined;
}

/** An expression that cannot be read or evaluated. `missing`: it asked for a value that is not there. */
export class ExpressionError extends namedError("ExpressionError") {
  constructor(
    message: string,
    readonly expression: string,
    readonly from: number,
    readonly to: number,
    readonly missing: string | null = null,
  ) {
    super(message);
  }
}

export const MAX_EXPRESSION_LENGTH = 2000;
const CACHE_SIZE = 500;

const parser = new Environment({
  enableOptionalTypes: true,
  limits: {
    maxAstNodes: 1000,
    maxDepth: 32,
    maxListElements: 500,
    maxMapEntries: 500,
    maxCallArguments: 8,
  },
});

interface Program {
  root: ASTNode;
  run: (frame: Frame) => unknown;
  type: Type;
  reads: readonly KeyRead[];
}

type Compiled = { ok: true; program: Program } | { ok: false; error: ExpressionError };

const cache = new Map<string, Compiled>();

function compile(text: string): Compiled {
  const known = cache.get(text);
  if (known) {
    // Move to the end: the first in the map is the least recently used.
    cache.delete(text);
    cache.set(text, known);
    return known;
  }
  const compiled = compileAnew(text);
  if (text.length <= MAX_EXPRESSION_LENGTH) {
    cache.set(text, compiled);
    if (cache.size > CACHE_SIZE) cache.delete(must(cache.keys().next(), "value"));
  }
  return compiled;
}

function compileAnew(text: string): Compiled {
  const refuse = (message: string, from = 0, to = text.length): Compiled => ({
    ok: false,
    error: new ExpressionError(message, text.slice(0, MAX_EXPRESSION_LENGTH), from, Math.max(to, from)),
  });
  if (text.length > MAX_EXPRESSION_LENGTH)
    return refuse(
      `An expression can have at most ${MAX_EXPRESSION_LENGTH} characters.`,
      MAX_EXPRESSION_LENGTH,
    );
  if (!text.trim()) return refuse("Enter an expression, for example state.count > 3.");
  try {
    const root = parser.parse(text).ast;
    const walked = walk(root);
    if (walked.diagnostic)
      return refuse(walked.diagnostic.message, walked.diagnostic.from, walked.diagnostic.to);
    return { ok: true, program: { root, ...compileTree(root, names), reads: walked.reads } };
  } catch (error) {
    return { ok: false, error: toExpressionError(error, text) };
  }
}

/**
 * Evaluates an expression to a JSON value. Throws ExpressionError, also if it needs more work than its budget.
 * `work`: a budget shared with other expressions of the same step.
 */
export function evaluateExpression(text: string, scope: ExpressionScope, work = new Work()): Json {
  const compiled = compile(text);
  if (!compiled.ok) throw compiled.error;
  const { root, run } = compiled.program;
  const frame: Frame = {
    work,
    slots: [
      scope.state,
      scope.input ?? {},
      scope.nodes ?? {},
      scope.run ?? {},
      scope.output ?? null,
      scope.item ?? null,
      scope.now === undefined ? undefined : new Date(scope.now),
      scope.index === undefined ? undefined : BigInt(scope.index),
      scope.state.vars ?? {},
    ],
    at: root,
  };
  try {
    // Counted even if the expression was in the cache, so that a replay counts the same.
    work.spend(text.length * READING_UNITS);
    const value = run(frame);
    frame.at = root;
    return new JsonWriter(work).write(value, 0);
  } catch (error) {
    throw toExpressionError(error, text, frame.at);
  }
}

/**
 * Evaluates a condition. One that reads a missing value is false, and the note says so; any other error throws
 * ExpressionError.
 */
export function evaluateCondition(
  text: string,
  scope: ExpressionScope,
  work = new Work(),
): { value: boolean; note?: string } {
  let value: Json;
  try {
    value = evaluateExpression(text, scope, work);
  } catch (error) {
    if (error instanceof ExpressionError && error.missing !== null)
      return { value: false, note: `"${error.missing}" doesn't exist yet, so this counts as false.` };
    throw error;
  }
  if (typeof value === "boolean") return { value };
  throw new ExpressionError(
    `A condition must be true or false, but this is ${describe(value)}.`,
    text,
    0,
    text.length,
  );
}

/** The errors in an expression before it runs. `keys`: the state keys that can exist. */
export function checkExpression(
  text: string,
  options: { result?: "bool" | "any"; keys?: readonly string[] } = {},
): TextDiagnostic[] {
  const compiled = compile(text);
  if (!compiled.ok) {
    const { message, from, to } = compiled.error;
    return [{ message, from, to }];
  }
  const { type, reads } = compiled.program;
  const diagnostics: TextDiagnostic[] = [];
  if (options.result === "bool" && type !== "bool" && type !== "dyn")
    diagnostics.push({
      message: `This must be true or false, but it is ${TYPE_LABELS[type]}.`,
      from: 0,
      to: text.length,
    });
  if (options.keys) {
    const known = new Set(options.keys);
    for (const { variable, key, optional, from, to } of reads)
      if (variable === "state" && !optional && !known.has(key))
        diagnostics.push({ message: `No node before this one writes "${key}".`, from, to });
  }
  return diagnostics;
}

/** The state keys that an expression reads, each once; none if it cannot be parsed. */
export function expressionKeys(text: string): string[] {
  return [
    ...new Set(expressionReads(text).flatMap(({ variable, key }) => (variable === "state" ? [key] : []))),
  ];
}

/** Every key that an expression reads, with its place. */
export function expressionReads(text: string): readonly KeyRead[] {
  const compiled = compile(text);
  return compiled.ok ? compiled.program.reads : [];
}

/**
 * The stored form of an expression that a person wrote: bare names of state keys get the prefix `state.`. `keys`: the
 * possible keys. Text that can't be parsed and names that aren't keys stay unchanged.
 */
export function withStateNamed(text: string, keys: readonly string[]): string {
  const known = new Set(keys);
  return bareNames(text)
    .filter(({ name }) => known.has(name))
    .reduceRight((written, { from }) => `${written.slice(0, from)}state.${written.slice(from)}`, text);
}

function bareNames(text: string): Walked["bare"] {
  if (text.length > MAX_EXPRESSION_LENGTH || text.trim() === "") return [];
  try {
    return walk(parser.parse(text).ast).bare.sort((a, b) => a.from - b.from);
  } catch {
    return [];
  }
}

/** Any error as one with a message and a place; `at`: the operation that failed. */
function toExpressionError(error: unknown, text: string, at?: ASTNode): ExpressionError {
  if (error instanceof ExpressionError) return error;
  if (error instanceof CompileError)
    return new ExpressionError(error.message, text, error.node.start, error.node.end);
  if (error instanceof WorkError)
    return new ExpressionError(`${error.message} The expression: ${shorten(text)}`, text, 0, text.length);
  if (error instanceof EvaluationError && at)
    return new ExpressionError(error.message, text, at.start, at.end, error.missing);
  // Fields of the parser's error that may be there.
  const { code, summary, message, range } = recordOf(error);
  const { start, end } = recordOf(range);
  const from = Math.min(typeof start === "number" ? start : 0, text.length);
  const to = Math.min(Math.max(typeof end === "number" ? end : text.length, from), text.length);
  const parserMessage = must(String(summary ?? message ?? error).split("\n"), 0);
  return new ExpressionError(
    describeParseError(String(code), parserMessage, { text, from, to }),
    text,
    from,
    to,
  );
}

const shorten = (text: string) => (text.length > 80 ? `${text.slice(0, 80)}…` : text);

/** The parser's message, rephrased for people. */
function describeParseError(
  code: string,
  summary: string,
  { text, from, to }: { text: string; from: number; to: number },
): string {
  if (summary.includes("Unexpected token: EOF")) return "The expression is incomplete.";
  if (code === "limit_exceeded")
    return `The expression is nested too deeply or has too many parts (${summary.replace(/^Exceeded /, "")}). Split it across two nodes.`;
  const rest = text.slice(from);
  const word = /^\w+/.exec(rest)?.[0] ?? text.slice(from, to);
  if (rest.startsWith("=")) return "Use == to compare, not =.";
  if (rest.startsWith("&") || rest.startsWith("|")) return "Write && for and, || for or.";
  if (rest.startsWith("?") && /(?:[{[,]\s*|\?)$/.test(text.slice(0, from))) return NO_OPTIONAL_SYNTAX;
  if (OPERATOR_HINTS.has(word)) return `"${word}" is not an operator. Write ${OPERATOR_HINTS.get(word)}.`;
  if (code === "unexpected_character" && /^["'\w.([{]/.test(rest) && from > 0)
    return `Something is missing before ${shorten(rest)}: an operator such as == or &&, or a function call with parentheses, as in state.key.contains("x").`;
  if (code === "unexpected_character") return `Unexpected character ${rest.charAt(0)}.`;
  return sentence(summary);
}

const OPERATOR_HINTS: ReadonlyMap<string, string> = new Map([
  ["and", "&&"],
  ["or", "||"],
  ["not", "!"],
  ["is", "=="],
  ["if", "condition ? this : that"],
  ["else", "condition ? this : that"],
]);

function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

function describe(value: Json): string {
  if (value === null) return "nothing (null)";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  if (typeof value === "string")
    return `the text ${JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)}`;
  return `the number ${String(value)}`;
}
