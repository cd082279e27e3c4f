import { type ASTNode, Environment } from "@marcbachmann/cel-js";
import { UnsignedInt } from "@marcbachmann/cel-js/evaluator";
import { recordOf } from "@/server/domain/base/guards";
import { present } from "@/server/domain/base/must";
import type { Json } from "@/server/domain/base/values";
import { READING_UNITS, WORK_LIMITS, Work, WorkError } from "@/server/domain/base/work-budget";
import { CompileFault, compileTree, type Frame, macroBinds, TYPE_WORDS } from "./expression-compile";
import { Duration, Fault, Optional, type Type } from "./expression-values";

/**
 * Expressions of workflows: CEL, which has no loops beyond its macros, no functions of its own and no way to
 * JavaScript's objects. The parser is cel-js; what it reads is evaluated here, because every step is counted (work.ts):
 * an expression that would take too long ends in an error, the same one on every machine and in every replay.
 */

/** What an expression may read. */
export interface ExpressionScope {
  state: Readonly<Record<string, Json>>;
  input?: Readonly<Record<string, Json>>;
  nodes?: Readonly<Record<string, Json>>;
  run?: Readonly<Record<string, Json>>;
  output?: Json;
  item?: Json;
  /** What `now` is: the recorded time of the step (Unix time in milliseconds), so that a replay sees the same. */
  now?: number | undefined;
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
const CACHE_SIZE = 500;

const VARIABLES = ["state", "input", "nodes", "run"] as const;
/** Whose keys are known while a workflow is drawn. */
const READ_FROM = [...VARIABLES, "output"] as const;

const NAMES: readonly (readonly [string, Type])[] = [
  ...VARIABLES.map((name) => [name, "map"] as const),
  ["output", "dyn"],
  ["item", "dyn"],
  ["now", "timestamp"],
];
const names = {
  known: new Map(NAMES.map(([name, type], slot) => [name, { slot, type }])),
  size: NAMES.length,
};

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

/** A key of the state or of the input that an expression names. `optional`: it may be missing without harm. */
export interface KeyRead extends Omit<TextFault, "message"> {
  variable: (typeof READ_FROM)[number];
  key: string;
  optional: boolean;
  /** It stands behind "!": where it is missing, the whole condition counts as false all the same. */
  negated?: true;
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
    if (cache.size > CACHE_SIZE)
      cache.delete(present(cache.keys().next().value, "cache.keys().next().value"));
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
    const root = parser.parse(text).ast;
    const walked = walk(root);
    if (walked.fault) return refuse(walked.fault.message, walked.fault.from, walked.fault.to);
    return { ok: true, program: { root, ...compileTree(root, names), reads: walked.reads } };
  } catch (error) {
    return { ok: false, error: toExpressionError(error, text) };
  }
}

/**
 * Evaluates an expression to a JSON value. Throws ExpressionError, also where it needs more work than it may do.
 * `work`: a budget shared with others that are evaluated at once.
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
    ],
    at: root,
  };
  try {
    // Whether it was read before or is read now, so that a replay counts the same.
    work.spend(text.length * READING_UNITS);
    const value = run(frame);
    frame.at = root;
    return new JsonWriter(work).write(value, 0);
  } catch (error) {
    throw toExpressionError(error, text, frame.at);
  }
}

/**
 * Evaluates a condition. One that asks for a value that is not there is false, and the note says so; whatever
 * else goes wrong throws ExpressionError.
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
      message: `This must be true or false, but it gives ${TYPE_WORDS[type]}.`,
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

/**
 * The expression as it is kept, of what a person wrote: a key of the state by its bare name gets its `state.` before it.
 * `keys`: those that can exist. What cannot be parsed, and names that are no keys, stay as they are.
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

interface Walked {
  reads: KeyRead[];
  /** Names that stand for nothing that an expression may read. */
  bare: { name: string; from: number }[];
  fault: TextFault | null;
}

/** Reads an expression's tree: which keys it names, and what it must not use. */
function walk(root: ASTNode): Walked {
  const walked: Walked = { reads: [], bare: [], fault: null };
  const refuse = (node: ASTNode, message: string) => {
    walked.fault ??= { message, from: node.start, to: node.end };
  };
  // A stack instead of recursion: long chains of operators nest as deep as they are long.
  const stack: { node: ASTNode; bound: ReadonlySet<string>; optional: boolean; negated: boolean }[] = [
    { node: root, bound: new Set(), optional: false, negated: false },
  ];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { node, bound, optional, negated } = next;
    const visit = (inner: ASTNode, more: Partial<typeof next> = {}) =>
      stack.push({ node: inner, bound, optional: false, negated, ...more });
    switch (node.op) {
      case "value":
        break;
      case "id":
        if (!bound.has(node.args) && !names.known.has(node.args))
          walked.bare.push({ name: node.args, from: node.start });
        break;
      case ".":
      case ".?": {
        const [receiver, name] = node.args;
        addRead(walked.reads, node, receiver, name, bound, {
          optional: optional || node.op === ".?",
          negated,
        });
        visit(receiver);
        break;
      }
      case "[]":
      case "[?]": {
        const [receiver, index] = node.args;
        if (index.op === "value" && typeof index.args === "string")
          addRead(walked.reads, node, receiver, index.args, bound, {
            optional: optional || node.op === "[?]",
            negated,
          });
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
        const binds = macroBinds(name, args);
        const inner = new Set(bound);
        for (const arg of args.slice(0, binds)) if (arg.op === "id") inner.add(arg.args);
        for (const arg of args.slice(binds)) visit(arg, { bound: inner });
        break;
      }
      case "map":
        for (const [key, value] of node.args) {
          visit(key);
          visit(value);
        }
        break;
      case "!_":
        visit(node.args, { negated: true });
        break;
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
  { optional, negated }: { optional: boolean; negated: boolean },
): void {
  if (receiver.op !== "id" || bound.has(receiver.args)) return;
  const variable = READ_FROM.find((name) => name === receiver.args);
  if (!variable) return;
  const place = { from: node.start, to: node.end };
  reads.push({ variable, key, optional, ...(negated ? { negated } : {}), ...place });
}

/** What making an object of the result costs, and each of its keys. */
const OBJECT_UNITS = 8;
const KEY_UNITS = 4;

/** Turns what an evaluation gives into JSON: whole numbers become numbers where that loses nothing, else text. */
class JsonWriter {
  private length = 0;
  constructor(private readonly work: Work) {}

  write(value: unknown, depth: number): Json {
    if (depth > WORK_LIMITS.depth) throw new Fault("The result is nested too deeply.");
    switch (typeof value) {
      case "string":
        this.count(value.length);
        return value;
      case "boolean":
        this.count(4);
        return value;
      case "number":
        this.count(8);
        if (!Number.isFinite(value)) throw new Fault("The result is not a number (division by zero?).");
        return value;
      case "bigint":
        this.count(8);
        return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER
          ? Number(value)
          : String(value);
      default:
        this.count(2);
        return value === null || value === undefined ? null : this.writeObject(value, depth + 1);
    }
  }

  private writeObject(value: object, depth: number): Json {
    this.work.spend(OBJECT_UNITS);
    if (Array.isArray(value)) return value.map((item) => this.write(item, depth));
    if (value instanceof Optional) return this.write(value.held, depth);
    if (value instanceof UnsignedInt) return this.write(value.valueOf(), depth);
    if (value instanceof Date) return value.toISOString();
    if (value instanceof Duration) return String(value);
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== null && prototype !== Object.prototype)
      throw new Fault("The result is not a value that can be kept; convert it with string(...).");
    const made: { [key: string]: Json } = {};
    for (const [key, item] of Object.entries(value)) {
      this.work.spend(KEY_UNITS);
      this.count(key.length);
      if (key !== "__proto__") made[key] = this.write(item, depth);
    }
    return made;
  }

  private count(characters: number): void {
    this.work.spend(2);
    this.length += characters;
    if (this.length > WORK_LIMITS.resultLength)
      throw new Fault(
        `The result is larger than ${WORK_LIMITS.resultLength.toLocaleString("en-US")} characters. Keep less of it.`,
      );
  }
}

/** An error with words and a place, whatever went wrong; `at`: the operation that was under way. */
function toExpressionError(error: unknown, text: string, at?: ASTNode): ExpressionError {
  if (error instanceof ExpressionError) return error;
  if (error instanceof CompileFault)
    return new ExpressionError(error.message, text, error.node.start, error.node.end);
  if (error instanceof WorkError)
    return new ExpressionError(`${error.message} The expression: ${shorten(text)}`, text, 0, text.length);
  if (error instanceof Fault && at)
    return new ExpressionError(error.message, text, at.start, at.end, error.missing);
  // What the parser throws, and what of it is there.
  const { code, summary, message, range } = recordOf(error);
  const { start, end } = recordOf(range);
  const from = Math.min(typeof start === "number" ? start : 0, text.length);
  const to = Math.min(Math.max(typeof end === "number" ? end : text.length, from), text.length);
  const said = present(String(summary ?? message ?? error).split("\n")[0], "split");
  return new ExpressionError(describeParseError(String(code), said, text, from, to), text, from, to);
}

const shorten = (text: string) => (text.length > 80 ? `${text.slice(0, 80)}…` : text);

/** What the parser says, in words that help. */
function describeParseError(code: string, summary: string, text: string, from: number, to: number): string {
  if (summary.includes("Unexpected token: EOF")) return "The expression ends too early.";
  if (code === "limit_exceeded")
    return `The expression is nested too deeply or has too many parts (${summary.replace(/^Exceeded /, "")}). Split it over two nodes.`;
  const rest = text.slice(from);
  const word = /^\w+/.exec(rest)?.[0] ?? text.slice(from, to);
  if (rest.startsWith("=")) return "A single = is not available here; write == to compare.";
  if (rest.startsWith("&") || rest.startsWith("|")) return "Write && for and, || for or.";
  if (OTHER_WORDS.has(word))
    return `"${word}" is not a word of this language; write ${OTHER_WORDS.get(word)}.`;
  if (code === "unexpected_character" && /^["'\w.([{]/.test(rest) && from > 0)
    return `Something is missing before ${shorten(rest)}: write an operator such as == or &&, or call a function with brackets, as in state.key.contains("x").`;
  if (code === "unexpected_character") return `The character ${rest.charAt(0)} does not belong here.`;
  return sentence(summary);
}

const OTHER_WORDS: ReadonlyMap<string, string> = new Map([
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
