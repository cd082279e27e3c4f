import type { Regex } from "../../regex/regex";
import type { Check, Node, Place } from "../check";

/** What a keyword needs from the compiler of its schema. */
export interface Making {
  readonly schema: Readonly<Record<string, unknown>>;
  /** The node of a schema inside this one. */
  node(schema: unknown, ...path: string[]): Node;
  /** Notes what is not checked, at a keyword of this schema. */
  reportUnchecked(message: string, ...path: string[]): void;
  /** Null if the engine can't run it, which is reported. */
  regex(pattern: string, ...path: string[]): Regex | null;
  canonical(value: unknown): string;
}

/** Makes the check of one keyword; null where it says nothing. */
export type Keyword = (rule: unknown, making: Making) => Check | null;

/** The check of a rule that can't be checked: it rejects nothing, and everything next to it counts as evaluated. */
export const unknown: Check = (_value, _place, _run, seen) => {
  seen?.everyKey();
  seen?.everyItem();
  return "unknown";
};

/** Below a keyword of the wrong form nothing is refused. */
export function misread(making: Making, word: string, wants: string): null {
  making.reportUnchecked(`"${word}" must be ${wants}, so it is not checked`, word);
  return null;
}

export const at = (parent: Place | null, key: string | number): Place => ({ parent, key });

export const counted = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`;
