import type { ASTNode } from "@marcbachmann/cel-js";
import { namedError } from "@/server/domain/base/named-error";
import { type Work, WorkError } from "@/server/domain/base/work-budget";
import { TYPE_LABELS } from "./expression-hints";
import { EvaluationError, keyText, type Type, typeOf } from "./expression-values";

/** The functions over a frame that an expression becomes, and what they share. */

/** One running evaluation. */
export interface Frame {
  work: Work;
  /** The variables: first those of every expression, then those that macros bind, by depth. */
  slots: unknown[];
  /** The operation that began last: the place of an error, if there is one. */
  at: ASTNode;
}

export type Run = (frame: Frame) => unknown;

export interface Compiled {
  run: Run;
  type: Type;
}

/** An error that is known before it runs, with its place. */
export class CompileError extends namedError("CompileError") {
  constructor(
    message: string,
    readonly node: ASTNode,
  ) {
    super(message);
  }
}

/** The slot and the type of each name. `size`: how many slots are taken. */
export interface Names {
  known: ReadonlyMap<string, { slot: number; type: Type }>;
  size: number;
}

/** A call in an expression. `receiver`: what stands before the dot. */
export interface Call<Receiver = ASTNode | null> {
  node: ASTNode;
  name: string;
  receiver: Receiver;
  args: readonly ASTNode[];
}

/** Compiles a part of an expression. */
export type Compile = (node: ASTNode, names: Names) => Compiled;

/** The cost of an object and of each of its keys, besides visiting the node. */
export const OBJECT_UNITS = 4;
const KEY_UNITS = 4;

/** Names with another meaning on every object. */
export const RESERVED_KEYS = new Set(["__proto__"]);
export const reservedKey = (key: string) => `"${key}" is a reserved word and can't be a key.`;

export function setKey(frame: Frame, into: Record<string, unknown>, key: unknown, value: unknown): void {
  const name = keyText(key);
  if (name === null) throw new EvaluationError(`A key must be text or a whole number, not ${typeOf(key)}.`);
  if (RESERVED_KEYS.has(name)) throw new EvaluationError(reservedKey(name));
  frame.work.spend(KEY_UNITS);
  into[name] = value;
}

/** Catching costs far more than visiting a node. */
const CAUGHT_UNITS = 100;

/** Continues after an error that may not matter; returns its place. Rethrows if the budget is used up. */
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
  throw new EvaluationError(`${what} must be true or false, but this is ${TYPE_LABELS[typeOf(value)]}.`);
}
