import { type ASTNode, Environment, EvaluationError, Optional, ParseError } from "@marcbachmann/cel-js";
import { Duration, UnsignedInt } from "@marcbachmann/cel-js/evaluator";
import type { Json } from "./values";

/**
 * Expressions of workflows: CEL, which has no loops beyond its macros, no functions of its own and no way to
 * JavaScript's objects. What could still keep the process busy (patterns, deeply nested macros) is refused.
 */

/** What an expression may read. */
export interface ExpressionScope {
  state: Readonly<Record<string, Json>>;
  input?: Readonly<Record<string, Json>>;
  nodes?: Readonly<Record<string, Json>>;
  run?: Readonly<Record<string, Json>>;
  output?: Json;
  item?: Json;
}

/** A fault with its place: offsets into the text. */
export interface TextFault {
  message: string;
  from: number;
  to: number;
}

/** An expression that cannot be read or evaluated. `missing`: it asked for a value that is not there. */
export class ExpressionError extends Error {
  override name = "ExpressionError";
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
const MAX_MACRO_NESTING = 2;
const MAX_LIST = 10_000;
/** Of lists, where one macro stands in another: a million steps at most. */
const MAX_NESTED_LIST = 1000;
const MAX_RESULT_DEPTH = 64;
const CACHE_SIZE = 500;

const MACROS = new Set(["map", "filter", "all", "exists", "exists_one"]);
const VARIABLES = ["state", "input", "nodes", "run"] as const;

const environment = newEnvironment();

/** JSON numbers are doubles, literals are ints: without these `state.count + 1` has no overload. */
function newEnvironment(): Environment {
  const env = new Environment({
    enableOptionalTypes: true,
    homogeneousAggregateLiterals: false,
    limits: {
      maxAstNodes: 1000,
      maxDepth: 32,
      maxListElements: 500,
      maxMapEntries: 500,
      maxCallArguments: 8,
    },
  });
  for (const name of VARIABLES) env.registerVariable(name, "map");
  env.registerVariable("output", "dyn").registerVariable("item", "dyn");
  const operators: Record<string, (a: number, b: number) => number> = {
    "+": (a, b) => a + b,
    "-": (a, b) => a - b,
    "*": (a, b) => a * b,
    "/": (a, b) => a / b,
    "%": (a, b) => a % b,
  };
  for (const [operator, compute] of Object.entries(operators)) {
    const handler = (a: number | bigint, b: number | bigint) => compute(Number(a), Number(b));
    env.registerOperator(`double ${operator} int: double`, handler);
    env.registerOperator(`int ${operator} double: double`, handler);
  }
  env.registerOperator("double % double: double", (a: number, b: number) => a % b);
  return env;
}

interface Program {
  evaluate: (context: Record<string, unknown>) => unknown;
  type: string;
  reads: readonly KeyRead[];
  /** How deep macros stand in each other. */
  nesting: number;
}

/** A key of the state or of the input that an expression names. `optional`: it may be missing without harm. */
export interface KeyRead extends Omit<TextFault, "message"> {
  variable: (typeof VARIABLES)[number];
  key: string;
  optional: boolean;
}

type Compiled = { ok: true; program: Program } | { ok: false; error: ExpressionError };

const cache = new Map<string, Compiled>();

function compile(text: string): Compiled {
  const known = cache.get(text);
  if (known) {
    // Move to the end: the first of the map is the one not used for longest.
    cache.delete(text);
    cache.set(text, known);
    return known;
  }
  const compiled = compileAnew(text);
  if (text.length <= MAX_EXPRESSION_LENGTH) {
    cache.set(text, compiled);
    if (cache.size > CACHE_SIZE) cache.delete(cache.keys().next().value!);
  }
  return compiled;
}

function compileAnew(text: string): Compiled {
  const refuse = (message: string, from = 0, to = text.length): Compiled => ({
    ok: false,
    error: new ExpressionError(message, text.slice(0, MAX_EXPRESSION_LENGTH), from, Math.max(to, from)),
  });
  if (text.length > MAX_EXPRESSION_LENGTH)
    return refuse(`An expression has at most ${MAX_EXPRESSION_LENGTH} characters.`, MAX_EXPRESSION_LENGTH);
  if (!text.trim()) return refuse("Write an expression, for example state.count > 3.");
  try {
    const parsed = environment.parse(text);
    const walked = walk(parsed.ast);
    if (walked.fault) return refuse(walked.fault.message, walked.fault.from, walked.fault.to);
    const checked = parsed.check();
    if (!checked.valid) return { ok: false, error: toExpressionError(checked.error, text) };
    return {
      ok: true,
      program: {
        evaluate: parsed,
        type: checked.type ?? "dyn",
        reads: walked.reads,
        nesting: walked.nesting,
      },
    };
  } catch (error) {
    return { ok: false, error: toExpressionError(error, text) };
  }
}

/** Evaluates an expression to a JSON value. Throws ExpressionError. */
export function evaluateExpression(text: string, scope: ExpressionScope): Json {
  const compiled = compile(text);
  if (!compiled.ok) throw compiled.error;
  const { program } = compiled;
  if (program.nesting > 0) refuseLongLists(text, scope, program.nesting > 1 ? MAX_NESTED_LIST : MAX_LIST);
  try {
    const value = program.evaluate({
      state: scope.state,
      input: scope.input ?? {},
      nodes: scope.nodes ?? {},
      run: scope.run ?? {},
      output: scope.output ?? null,
      item: scope.item ?? null,
    });
    return toJson(value, text);
  } catch (error) {
    throw toExpressionError(error, text);
  }
}

/**
 * Evaluates a condition. One that asks for a value that is not there is false, and the note says so; whatever
 * else goes wrong throws ExpressionError.
 */
export function evaluateCondition(text: string, scope: ExpressionScope): { value: boolean; note?: string } {
  let value: Json;
  try {
    value = evaluateExpression(text, scope);
  } catch (error) {
    if (error instanceof ExpressionError && error.missing !== null)
      return { value: false, note: `There is no "${error.missing}" yet, so this counts as false.` };
    throw error;
  }
  if (typeof value === "boolean") return { value };
  throw new ExpressionError(
    `A condition gives true or false, but this gives ${describe(value)}.`,
    text,
    0,
    text.length,
  );
}

/** What is wrong with an expression before it runs; empty if nothing is. `keys`: the state keys that can exist. */
export function checkExpression(
  text: string,
  options: { result?: "bool" | "any"; keys?: readonly string[] } = {},
): TextFault[] {
  const compiled = compile(text);
  if (!compiled.ok) {
    const { message, from, to } = compiled.error;
    return [{ message, from, to }];
  }
  const { type, reads } = compiled.program;
  const faults: TextFault[] = [];
  if (options.result === "bool" && type !== "bool" && type !== "dyn")
    faults.push({
      message: `This must be true or false, but it gives ${typeWords(type)}.`,
      from: 0,
      to: text.length,
    });
  if (options.keys) {
    const known = new Set(options.keys);
    for (const { variable, key, optional, from, to } of reads)
      if (variable === "state" && !optional && !known.has(key))
        faults.push({ message: `No node before this one writes "${key}".`, from, to });
  }
  return faults;
}

/** The state keys that an expression reads, each once; none if it cannot be parsed. */
export function expressionKeys(text: string): string[] {
  return [
    ...new Set(expressionReads(text).flatMap(({ variable, key }) => (variable === "state" ? [key] : []))),
  ];
}

/** Every key that an expression names, with its place. */
export function expressionReads(text: string): readonly KeyRead[] {
  const compiled = compile(text);
  return compiled.ok ? compiled.program.reads : [];
}

interface Walked {
  reads: KeyRead[];
  nesting: number;
  fault: TextFault | null;
}

/** Reads an expression's tree: which keys it names, how deep its macros stand, and what it must not use. */
function walk(root: ASTNode): Walked {
  const walked: Walked = { reads: [], nesting: 0, fault: null };
  const refuse = (node: ASTNode, message: string) => {
    walked.fault ??= { message, from: node.start, to: node.end };
  };
  // A stack instead of recursion: long chains of operators nest as deep as they are long.
  const stack: { node: ASTNode; macros: number; bound: ReadonlySet<string>; optional: boolean }[] = [
    { node: root, macros: 0, bound: new Set(), optional: false },
  ];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { node, macros, bound, optional } = next;
    const visit = (inner: ASTNode, more: Partial<typeof next> = {}) =>
      stack.push({ node: inner, macros, bound, optional: false, ...more });
    walked.nesting = Math.max(walked.nesting, macros);
    switch (node.op) {
      case "value":
      case "id":
        break;
      case ".":
      case ".?": {
        const [receiver, name] = node.args;
        addRead(walked.reads, node, receiver, name, bound, optional || node.op === ".?");
        visit(receiver);
        break;
      }
      case "[]":
      case "[?]": {
        const [receiver, index] = node.args;
        if (index.op === "value" && typeof index.args === "string")
          addRead(walked.reads, node, receiver, index.args, bound, optional || node.op === "[?]");
        visit(receiver);
        visit(index);
        break;
      }
      case "call": {
        const [name, args] = node.args;
        if (name === "matches")
          refuse(node, "Patterns (matches) are not available; use contains, startsWith or ==.");
        for (const arg of args) visit(arg, { optional: name === "has" });
        break;
      }
      case "rcall": {
        const [name, receiver, args] = node.args;
        if (name === "matches")
          refuse(node, "Patterns (matches) are not available; use contains, startsWith or ==.");
        if (name === "bind" && receiver.op === "id" && receiver.args === "cel")
          refuse(node, "cel.bind is not available; use a Transform node for a value in between.");
        visit(receiver);
        const variable = args[0];
        if (!MACROS.has(name) || variable?.op !== "id") {
          for (const arg of args) visit(arg);
          break;
        }
        if (macros + 1 > MAX_MACRO_NESTING)
          refuse(
            node,
            `At most ${MAX_MACRO_NESTING} of map, filter, all and exists can stand in each other.`,
          );
        walked.nesting = Math.max(walked.nesting, macros + 1);
        const inner = new Set(bound).add(variable.args);
        for (const arg of args.slice(1)) visit(arg, { macros: macros + 1, bound: inner });
        break;
      }
      case "map":
        for (const [key, value] of node.args) {
          visit(key);
          visit(value);
        }
        break;
      case "!_":
      case "-_":
        visit(node.args);
        break;
      default:
        for (const arg of node.args) visit(arg);
    }
  }
  walked.reads.sort((a, b) => a.from - b.from);
  return walked;
}

function addRead(
  reads: KeyRead[],
  node: ASTNode,
  receiver: ASTNode,
  key: string,
  bound: ReadonlySet<string>,
  optional: boolean,
): void {
  if (receiver.op !== "id" || bound.has(receiver.args)) return;
  const variable = VARIABLES.find((name) => name === receiver.args);
  if (variable) reads.push({ variable, key, optional, from: node.start, to: node.end });
}

function refuseLongLists(text: string, scope: ExpressionScope, limit: number): void {
  const stack: unknown[] = [scope.state, scope.input, scope.nodes, scope.run, scope.output, scope.item];
  for (let value = stack.pop(); value !== undefined || stack.length > 0; value = stack.pop()) {
    if (value === null || typeof value !== "object") continue;
    if (Array.isArray(value) && value.length > limit)
      throw new ExpressionError(
        `A list has ${value.length} items; expressions like this one go through at most ${limit}.`,
        text,
        0,
        text.length,
      );
    for (const inner of Object.values(value))
      if (inner !== null && typeof inner === "object") stack.push(inner);
  }
}

/** Turns what CEL gives into JSON: whole numbers become numbers where that loses nothing, else text. */
function toJson(value: unknown, text: string, depth = 0): Json {
  const refuse = (message: string) => new ExpressionError(message, text, 0, text.length);
  if (depth > MAX_RESULT_DEPTH) throw refuse("The result is nested too deeply.");
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (!Number.isFinite(value)) throw refuse("The result is not a number (division by zero?).");
      return value;
    case "bigint":
      return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER
        ? Number(value)
        : String(value);
    case "undefined":
      return null;
    case "object":
      break;
    default:
      throw refuse("The result is not a value that can be kept.");
  }
  if (value === null) return null;
  const inner = (item: unknown) => toJson(item, text, depth + 1);
  if (Array.isArray(value) || value instanceof Set) return [...value].map(inner);
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([key, item]) => [String(key), inner(item)]));
  if (value instanceof Optional) return value.hasValue() ? inner(value.value()) : null;
  if (value instanceof UnsignedInt) return inner(value.valueOf());
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Duration) return String(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype)
    throw refuse("The result is not a value that can be kept; convert it with string(...).");
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inner(item)]));
}

const MISSING = new Set(["no_such_key", "index_out_of_bounds"]);

function toExpressionError(error: unknown, text: string): ExpressionError {
  if (error instanceof ExpressionError) return error;
  const located = error as {
    code?: unknown;
    summary?: unknown;
    message?: unknown;
    range?: { start: number; end: number };
  };
  const code = typeof located?.code === "string" ? located.code : "";
  const summary = String(located?.summary ?? located?.message ?? error).split("\n")[0]!;
  const from = Math.min(located?.range?.start ?? 0, text.length);
  const to = Math.min(Math.max(located?.range?.end ?? text.length, from), text.length);
  if (error instanceof EvaluationError && MISSING.has(code)) {
    const key = code === "no_such_key" ? summary.replace(/^No such key: /, "") : text.slice(from, to);
    return new ExpressionError(`There is no "${key}".`, text, from, to, key);
  }
  return new ExpressionError(words(code, summary, text.slice(from, to), error), text, from, to);
}

function words(code: string, summary: string, at: string, error: unknown): string {
  if (summary.includes("Unexpected token: EOF")) return "The expression ends too early.";
  if (code === "unknown_variable") {
    const name = summary.replace(/^Unknown variable: /, "");
    return `"${name}" is not known here. Values of the run are read as state.${name}, text stands in quotes.`;
  }
  if (code === "no_such_overload")
    return `${sentence(summary.replace(/^no such overload: /, "These do not go together: ").replace(/dyn<(\w+)>/g, "$1"))}`;
  if (code === "no_matching_overload") {
    const call = summary.match(/'(.*)'/)?.[1] ?? at;
    return `There is no function ${call.replace(/dyn<(\w+)>/g, "$1").replace(/\bdyn\b/g, "value")}.`;
  }
  if (error instanceof ParseError) return `${sentence(summary)}`;
  return sentence(summary);
}

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

function typeWords(type: string): string {
  const base = type.split("<")[0];
  if (base === "string") return "text";
  if (base === "int" || base === "uint" || base === "double") return "a number";
  if (base === "list") return "a list";
  if (base === "map") return "an object";
  if (base === "null") return "nothing (null)";
  return base === "optional" ? "a value that may be missing; add .orValue(false)" : `a ${base}`;
}
