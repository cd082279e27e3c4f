import { present } from "@/server/domain/base/must";
import type { Work } from "@/server/domain/base/work-budget";
import { EvaluationError, isNumeric, TYPES, type Type, toDouble } from "../expression/expression-values";

/** What an argument may be. "whole" is a whole number of either kind, as numbers of JSON are doubles. */
type Kind = Type | "whole" | "number";

export interface CelFunction {
  name: string;
  /** The type of the receiver before the dot; null for a global function. */
  on: Kind | null;
  args: readonly Kind[];
  gives: Type;
  /** How it is written, as in "string.replace(string, string)". */
  signature: string;
  hint: string;
  run(work: Work, ...values: unknown[]): unknown;
}

/** What looks like a value before a dot but only groups functions. */
export const NAMESPACES: ReadonlySet<string> = new Set(["math", "strings", "optional"]);

// `never` takes an implementation with whatever parameters its signature promises.
type Implementation = (work: Work, ...values: never[]) => unknown;

/** A function: its signature, what it does in few words (empty: not offered in the editor), and the doing. */
export function define(signature: string, hint: string, run: Implementation): CelFunction {
  const [, on = null, name, args, gives] =
    /^(?:([a-z]+)\.(?!.*\.))?([\w.]+)\((.*)\): (\w+)$/.exec(signature) ?? [];
  const isNamespace = on !== null && NAMESPACES.has(on) && !(on === "optional" && args === "");
  const full = isNamespace ? `${on}.${name}` : present(name, "name");
  return {
    name: full,
    on: isNamespace || on === null ? null : kindNamed(on),
    args: args ? args.split(", ").map(kindNamed) : [],
    gives: typeNamed(gives),
    signature: signature.replace(/: \w+$/, ""),
    hint,
    run,
  };
}

/** The type of that name. Throws where a signature above is misspelt. */
function typeNamed(name: string | undefined): Type {
  const type = TYPES.find((type) => type === name);
  if (type === undefined) throw new Error(`There is no type "${name}".`);
  return type;
}

const kindNamed = (name: string): Kind => (name === "whole" || name === "number" ? name : typeNamed(name));

/** Whether a value of that type can stand where that kind is asked for; what is known only when it runs, can. */
export function fits(kind: Kind, type: Type): boolean {
  if (kind === "dyn" || type === "dyn" || kind === type) return true;
  return (kind === "number" || kind === "whole") && isNumeric(type);
}

/** A whole number of either kind. Throws a Fault where it is none. */
export function wholeNumber(value: unknown): number {
  const number = toDouble(value);
  if (!Number.isInteger(number)) throw new EvaluationError(`Expected a whole number, not ${number}.`);
  return number;
}

/** A whole number from 0 to `most`. Throws a Fault otherwise; `what`: how the message names the number. */
export function within(value: unknown, most: number, what: string): number {
  const number = wholeNumber(value);
  if (number < 0 || number > most)
    throw new EvaluationError(`${what} ${number} is not between 0 and ${most}.`);
  return number;
}

/** A text as quoted in an error message. */
export const shown = (s: string) => JSON.stringify(s.length > 40 ? `${s.slice(0, 40)}…` : s);
