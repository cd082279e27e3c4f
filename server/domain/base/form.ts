import { entriesOf, isObject } from "./guards";
import type { Json } from "./values";

/** A form as data: which settings it shows, how each looks, and in what order. `components/forms/form-parts.tsx` draws it. */

/** The looks of fields that any form may have. */
export type BasicFieldVariant =
  | "text"
  | "multiline"
  | "secret"
  | "suggest"
  | "number"
  | "decimal"
  | "percent"
  | "milliseconds"
  | "seconds"
  | "switch"
  | "check"
  | "choice"
  | "several"
  | "texts"
  | "json"
  | "escalation";

export interface Choice<V extends string = string> {
  value: V;
  label: string;
  hint?: string;
}

type Inside<T> = T extends readonly unknown[] ? never : T extends object ? Extract<keyof T, string> : never;

/** A setting by its key, or one of an object among them: `budget.max_cost_usd`. */
export type FieldKey<C> = {
  [K in Extract<keyof C, string>]-?: K | `${K}.${Inside<NonNullable<C[K]>>}`;
}[Extract<keyof C, string>];

/** `K`: which keys it may name; the compiler checks them. `L`: which looks there are. */
export interface FieldOf<C, K extends string, L extends string> {
  key: K;
  label: string;
  as: L;
  hint?: string;
  options?: readonly Choice[];
  /** Shown only where this holds. */
  showIf?: (config: C) => boolean;
  /** Of a number, as it is shown. */
  min?: number;
  max?: number;
  step?: number;
  /** Of a number: stands behind it. */
  unit?: string;
  /** Of a whole number: how many of what is kept make one of what is shown, such as 1000 where milliseconds show as seconds. */
  per?: number;
  /** What an empty field says. */
  placeholder?: string;
  /** What holds where nothing is set: it is shown then, and whoever chooses it has nothing set. */
  usual?: (config: C) => unknown;
  /** What is kept where it is emptied; absent: nothing, and the key is left out. */
  empty?: unknown;
  /** Of a text: data rather than words. */
  isMono?: boolean;
  /** Of a text: neither words to be checked nor to be filled in by a browser. */
  isCode?: boolean;
  /** Of a text: the keyboard that a phone shows for it. */
  keyboard?: "url" | "email";
  /** Of a text: how many characters it may have. */
  longest?: number;
  /** Of a text that is not chosen freely alone: what is known to fit. */
  suggestions?: readonly string[];
  /** Of lines of text: how many it shows when empty; 3 if absent. */
  lines?: number;
  /** Of a choice that may be left open: what holds then. */
  unset?: string;
  unsetHint?: string;
  /** Of a list: what one of it is called. */
  itemName?: string;
  /** Of a list: how many it may have. */
  most?: number;
  /** Of JSON: what is wrong with a value; null where nothing is. */
  check?: (value: Json) => string | null;
  /** Of a switch or a check: what is kept where it is on, and where it is off; true and false if absent. */
  on?: Json;
  off?: Json;
  /** Stands small at the end of the label's line. */
  aside?: string;
}

export type FormField<C> = FieldOf<C, FieldKey<C>, BasicFieldVariant>;

/** Fields that stand together: beside each other, behind a line that opens, or under a label of their own. */
export type FormGroup<C, S extends string> = {
  parts: readonly FormPart<C, S>[];
  showIf?: (config: C) => boolean;
} & (
  | { as: "columns"; most: 2 | 3; areWide?: boolean }
  | { as: "box"; title: string; isOpen?: (config: C) => boolean }
  | { as: "group"; title: string; hint?: string }
);

/** A part of a form. A slot is a place for what no field can express, by its name. */
export type FormPart<C, S extends string = never> =
  | FormField<C>
  | FormGroup<C, S>
  | { text: string | ((config: C) => string) }
  | { slot: S; showIf?: (config: C) => boolean };

/** What each value of an enum is called, as choices. */
export const choicesOf = <V extends string>(labels: Readonly<Record<V, string | Omit<Choice, "value">>>) =>
  entriesOf(labels).map(
    ([value, choice]): Choice<V> =>
      typeof choice === "string" ? { value, label: choice } : { value, ...choice },
  );

/** The value that a field shows. */
export function settingAt(settings: object, key: string): unknown {
  return key
    .split(".")
    .reduce<unknown>((inner, step) => (isObject(inner) ? inner[step] : undefined), settings);
}

/** The settings with another value there; undefined leaves the key out, and an object that is empty then goes with it. */
export function withSetting<C extends object>(settings: C, key: string, value: unknown): C {
  // Which keys a field may name is checked where it is declared, and its look gives values of its kind.
  return written(settings, key.split("."), value) as C;
}

function written(settings: object, [step = "", ...rest]: readonly string[], value: unknown): object {
  const { [step]: before, ...others }: Record<string, unknown> = { ...settings };
  if (rest.length === 0) return value === undefined ? others : { ...settings, [step]: value };
  const inner = written(isObject(before) ? before : {}, rest, value);
  return Object.keys(inner).length === 0 ? others : { ...settings, [step]: inner };
}
