import { must } from "@/server/domain/base/must";
import type { Work } from "@/server/domain/base/work-budget";
import { parseTime, timeByPattern, unknownDirective } from "../dates";
import { replaceText } from "../text-search";
import { at, isBlank, jsonText, sizeIn, type TemplateScope, toText, type Value } from "./template-values";

/** What a template can do with a value on its way into the text. */

/** A value that is written into the template itself. */
export type Literal = string | number | boolean | null;

export interface FilterRule {
  /** How many arguments it needs and takes. */
  args: readonly [least: number, most: number];
  hint: string;
  /** In its quoted arguments, \n is a new line and \t a tab. */
  escapes?: true;
  /** What is wrong with a written argument. */
  validate?(argument: Literal, index: number): string | null;
  apply(work: Work, value: Value, args: readonly Value[], scope: TemplateScope): Value;
}

const filterRules: Record<string, FilterRule> = {
  json: {
    args: [0, 0],
    hint: "as JSON",
    apply: (work, value) => jsonText(work, value ?? null),
  },
  upper: {
    args: [0, 0],
    hint: "uppercase",
    apply: (work, value) => read(work, value, 2).toUpperCase(),
  },
  lower: {
    args: [0, 0],
    hint: "lowercase",
    apply: (work, value) => read(work, value, 2).toLowerCase(),
  },
  trim: {
    args: [0, 0],
    hint: "without leading and trailing spaces",
    apply: (work, value) => read(work, value).trim(),
  },
  truncate: {
    args: [0, 2],
    hint: "at most n characters",
    validate: (argument, index) =>
      index === 0 && !Number.isFinite(Number(argument)) ? "truncate takes a number of characters." : null,
    apply: (work, value, [length = 50, ellipsis = "..."]) =>
      truncate(toText(work, value), Number(length), toText(work, ellipsis)),
  },
  default: {
    args: [1, 1],
    hint: "text to use if empty",
    apply: (_, value, [fallback]) => (isBlank(value) ? fallback : value),
  },
  join: {
    args: [0, 1],
    hint: 'a list as text, for example join: "\\n- "',
    escapes: true,
    apply: join,
  },
  size: { args: [0, 0], hint: "number of items or characters", apply: (_, value) => sizeIn(value) },
  first: { args: [0, 0], hint: "first item of a list", apply: (_, value) => at(value, 0) },
  last: { args: [0, 0], hint: "last item of a list", apply: (_, value) => at(value, -1) },
  replace: {
    args: [1, 2],
    hint: "with text replaced",
    escapes: true,
    apply: (work, value, [from, to = ""]) =>
      replaceText(work, toText(work, value), toText(work, from), toText(work, to), Number.POSITIVE_INFINITY),
  },
  date: {
    args: [1, 1],
    hint: 'a time, for example date: "%d %B %Y"',
    validate: (argument) => {
      const unknown = typeof argument === "string" ? unknownDirective(argument) : String(argument);
      return unknown === null
        ? null
        : `date doesn't support "${unknown}". Write, for example, date: "%Y-%m-%d %H:%M".`;
    },
    apply: (work, value, [pattern], scope) => dateText(work, value, toText(work, pattern), scope),
  },
};
/** By name. A Map, so that a name from a template can't find inherited properties. */
export const filters = new Map(Object.entries(filterRules));
for (const [alias, name] of [
  ["upcase", "upper"],
  ["downcase", "lower"],
  ["strip", "trim"],
] as const)
  filters.set(alias, must(filterRules, name));

/** The filters for completion: their names with what they do. */
export const templateFilters: readonly { name: string; hint: string }[] = Object.entries(filterRules).map(
  ([name, { hint }]) => ({ name, hint }),
);

/** Whether a filter supplies the text for a missing value. */
export const isDefault = (rule: FilterRule): boolean => rule === filterRules.default;

/** A value's text, charged as read. `times`: the cost per character. */
function read(work: Work, value: Value, times = 1): string {
  const text = toText(work, value);
  work.read(text.length, times);
  return text;
}

function join(work: Work, value: Value, [separator = " "]: readonly Value[]): Value {
  if (!Array.isArray(value)) return value;
  const between = toText(work, separator);
  const pieces = value.map((item) => {
    work.spend(2);
    return toText(work, item);
  });
  work.makeText(pieces.reduce((sum, piece) => sum + piece.length + between.length, 0));
  return pieces.join(between);
}

/** Formats a date by a pattern; a value that isn't a date stays unchanged. */
function dateText(work: Work, value: Value, pattern: string, scope: TemplateScope): Value {
  work.read(pattern.length, 50);
  const isNow = value === "now" || value === "today";
  const milliseconds = isNow
    ? scope.now
    : typeof value === "number"
      ? value * 1000
      : typeof value === "string"
        ? parseTime(value)
        : null;
  const date = new Date(milliseconds ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? value : timeByPattern(date, pattern);
}

function truncate(text: string, length: number, ellipsis: string): string {
  if (text.length <= length) return text;
  let end = Math.max(0, length - ellipsis.length);
  // Not between the two halves of one character.
  if (end > 0 && /[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end--;
  return text.slice(0, end) + ellipsis;
}
