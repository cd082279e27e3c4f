import { namedError } from "@/server/domain/base/named-error";

/**
 * What a program says, as far as an import looks: one small tree for TypeScript and Python alike. It is only ever read;
 * nothing here runs, resolves or loads anything.
 */

/** A place in the text: offsets, the end excluded. */
export interface Place {
  from: number;
  to: number;
}

interface ExprShapes {
  /** A text, with the values that are put into it between its pieces. */
  text: { parts: readonly (string | Expr)[] };
  number: { value: number };
  boolean: { value: boolean };
  /** null, undefined, None. */
  nothing: object;
  name: { name: string };
  /** `of.key`, `of["key"]`. */
  member: { of: Expr; key: string };
  /** `of[index]` with anything but a written text. */
  index: { of: Expr; index: Expr };
  /** A call, also with `new`. */
  call: { callee: Expr; args: readonly Argument[] };
  list: { items: readonly (Expr | Spread)[] };
  record: { entries: readonly (Entry | Spread)[] };
  /** Operators that join texts and lists, give a default, or offer types to choose from. */
  binary: { operator: "+" | "??" | "|"; left: Expr; right: Expr };
  /** Any other operation: what it gives depends on the run. */
  operation: { operands: readonly Expr[] };
  function: { params: readonly Param[]; body: readonly Statement[] };
  /** Anything else; its text says it. */
  other: object;
}
type ExprOf<K extends keyof ExprShapes> = { is: K } & ExprShapes[K] & Place;
export type Expr = { [K in keyof ExprShapes]: ExprOf<K> }[keyof ExprShapes];
export type CallExpr = ExprOf<"call">;
export type RecordExpr = ExprOf<"record">;

export interface Spread {
  spread: Expr;
}
export interface Entry {
  key: string;
  value: Expr;
}
/** `name`: of a keyword argument. */
export interface Argument {
  name: string | null;
  value: Expr;
  isSpread: boolean;
}
export interface Param {
  name: string;
  /** Names taken out of an object: property -> name. */
  takes: readonly Taken[];
  value: Expr | null;
}
export interface Taken {
  key: string;
  name: string;
}

interface StatementShapes {
  /** `name = value`, `a.b = value`. */
  assign: { target: Expr; value: Expr };
  do: { value: Expr };
  return: { value: Expr | null };
  /** `if`, `for`, `while`, or any other block: all its branches together. `head`: what decides about them. */
  block: {
    kind: BlockKind;
    head: readonly Expr[];
    body: readonly Statement[];
    /** Of Python's `if`, in order; their statements are those of `body`. */
    branches?: readonly Branch[];
  };
  function: {
    name: string;
    params: readonly Param[];
    body: readonly Statement[];
    decorators: readonly Expr[];
  };
  /** `body`: its methods and attributes. */
  class: {
    name: string;
    bases: readonly Expr[];
    fields: readonly Field[];
    body: readonly Statement[];
  };
  import: { names: readonly Taken[] };
}
/** One way of an `if`. `test`: null for `else`. */
export interface Branch {
  test: Expr | null;
  body: readonly Statement[];
}
export type BlockKind = "if" | "for" | "while" | "other";
type StatementOf<K extends keyof StatementShapes> = { is: K } & StatementShapes[K] & Place;
export type Statement = { [K in keyof StatementShapes]: StatementOf<K> }[keyof StatementShapes];
export type ClassStatement = StatementOf<"class">;

export interface Field {
  name: string;
  type: Expr | null;
  value: Expr | null;
}

export interface Program {
  text: string;
  body: readonly Statement[];
  /** Where the text couldn't be parsed; the rest was read all the same. */
  syntaxErrors: readonly Place[];
}

/** A text that is too large or too deep to be read; the message is for people. */
export class ProgramError extends namedError("ProgramError") {}

/** The maximum nesting of expressions and blocks; deeper ones are kept as text. */
export const MAX_NESTING = 150;

/** The line of an offset, from 1. */
export function lineOf(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

/** The text of a place, at most `most` characters of it. */
export function sourceOf({ text }: Pick<Program, "text">, { from, to }: Place, most = 2000): string {
  const source = text.slice(from, Math.min(to, from + most));
  return to - from > most ? `${source}…` : source;
}
