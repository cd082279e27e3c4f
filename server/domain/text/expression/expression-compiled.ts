import type { ASTNode } from "@marcbachmann/cel-js";
import { type Work, WorkError } from "@/server/domain/base/work-budget";
import { TYPE_LABELS } from "./expression-hints";
import { EvaluationError, keyText, type Type, typeOf } from "./expression-values";

/** What an expression becomes: functions over a frame, and what all kinds of them do in the same way. */

/** One running evaluation. */
export interface Frame {
  work: Work;
  /** The variables: first those of every expression, then those that macros bind, by depth. */
  slots: unknown[];
  /** The operation that was begun last: where it went wrong, if it did. */
  at: ASTNode;
}

export type Run = (frame: Frame) => unknown;

export interface Compiled {
  run: Run;
  type: Type;
}

/** A fault that is known before it runs, with its place. */
export class CompileError extends Error {
  override name = "CompileFault";
  constructor(
    message: string,
    readonly node: ASTNode,
  ) {
    super(message);
  }
}

/** What names stand for: a place among the slots, and a type. `size`: how many slots are taken. */
export interface Names {
  known: ReadonlyMap<string, { slot: number; type: Type }>;
  size: number;
}

/** How the parts of an expression become functions, for what is made of parts. */
export type Compile = (node: ASTNode, names: Names) => Compiled;

/** What making an object costs beyond visiting the node, and each of its keys. */
export const OBJECT_UNITS = 4;
const KEY_UNITS = 4;

/** The one word that means something else on every object. */
export const RESERVED_KEYS = new Set(["__proto__"]);
export const reservedKey = (key: string) => `"${key}" is a reserved word and cannot be a key.`;

export function setKey(frame: Frame, into: Record<string, unknown>, key: unknown, value: unknown): void {
  const name = keyText(key);
  if (name === null) throw new EvaluationError(`A key is a text or a whole number, not ${typeOf(key)}.`);
  if (RESERVED_KEYS.has(name)) throw new EvaluationError(reservedKey(name));
  frame.work.spend(KEY_UNITS);
  into[name] = value;
}

/** Catching costs far more than visiting a node. */
const CAUGHT_UNITS = 100;

/** After a fault that may not matter; gives its place. A budget that is used up always matters. */
export function keepGoing(frame: Frame, error: unknown): ASTNode {
  if (error instanceof WorkError) throw error;
  const { at } = frame;
  frame.work.spend(CAUGHT_UNITS);
  return at;
}

export function expectBool({ type }: Compiled, node: ASTNode, what: string): void {
  if (type !== "bool" && type !== "dyn")
    throw new CompileError(`${what}, but this is ${TYPE_LABELS[type]}.`, node);
}

export function bool(value: unknown, what: string): boolean {
  if (typeof value === "boolean") return value;
  throw new EvaluationError(`${what} is true or false, but this is ${TYPE_LABELS[typeOf(value)]}.`);
}
