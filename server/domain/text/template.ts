import { present } from "@/server/domain/base/must";
import { sizeOf } from "@/server/domain/base/sizes";
import type { Json } from "@/server/domain/base/values";
import { WORK_LIMITS, Work, WorkError } from "@/server/domain/base/work-budget";
import { parseTime, timeByPattern, unknownDirective } from "./dates";
import type { TextFault } from "./expression";
import { replaceText } from "./text-search";

/**
 * Templates of task texts: `{{path | filter}}` and nothing else. There is no logic and no way to JavaScript's
 * objects, and a value is put in once: what it contains is never read as a template again.
 *
 * The language is a small part of Liquid (template.test.ts compares the two), with names that JSON allows. Lists and
 * objects print as JSON; `blank` and `empty` are names like all others; what is not in it is refused while it is
 * written. The work of filters is counted (work.ts), so that no template can hold the server.
 */

export interface TemplateScope {
  state: Readonly<Record<string, Json>>;
  /** Looked at before the state. */
  input?: Readonly<Record<string, Json>>;
  /** What "now" is for the filter `date`: the recorded time of the step, Unix time in milliseconds. */
  now?: number | undefined;
}

/** A template that cannot be read, or whose text would grow beyond its limit. */
export class TemplateError extends Error {
  override name = "TemplateError";
  constructor(
    message: string,
    readonly from: number,
    readonly to: number,
  ) {
    super(message);
  }
}

/** A place where a template names a value. `optional`: it says what to write where the value is missing. */
export interface TemplateRead extends Omit<TextFault, "message"> {
  key: string;
  path: readonly string[];
  optional: boolean;
}

export const MAX_TEMPLATE_LENGTH = 65_536;

type Literal = string | number | boolean | null;
type Path = { path: string[]; from: number; to: number };
/** An argument of a filter: written there, or a value of the state. */
type Argument = { literal: Literal } | Path;
type Value = Json | undefined;

interface FilterRule {
  /** How many arguments it needs and takes. */
  args: readonly [least: number, most: number];
  hint: string;
  /** In its quoted arguments, \n is a new line and \t a tab. */
  escapes?: true;
  /** What is wrong with a written argument. */
  fault?(argument: Literal, index: number): string | null;
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
    hint: "in capitals",
    apply: (work, value) => read(work, value, 2).toUpperCase(),
  },
  lower: {
    args: [0, 0],
    hint: "in small letters",
    apply: (work, value) => read(work, value, 2).toLowerCase(),
  },
  trim: { args: [0, 0], hint: "without spaces around it", apply: (work, value) => read(work, value).trim() },
  truncate: {
    args: [0, 2],
    hint: "at most n characters",
    fault: (argument, index) =>
      index === 0 && !Number.isFinite(Number(argument)) ? "truncate takes a number of characters." : null,
    apply: (work, value, [length = 50, ellipsis = "..."]) =>
      truncate(toText(work, value), Number(length), toText(work, ellipsis)),
  },
  default: {
    args: [1, 1],
    hint: "what to write where there is nothing",
    apply: (_, value, [fallback]) => (isBlank(value) ? fallback : value),
  },
  join: {
    args: [0, 1],
    hint: 'a list as text, for example join: "\\n- "',
    escapes: true,
    apply: join,
  },
  size: { args: [0, 0], hint: "how many items or characters", apply: (_, value) => sizeIn(value) },
  first: { args: [0, 0], hint: "the first item of a list", apply: (_, value) => at(value, 0) },
  last: { args: [0, 0], hint: "the last item of a list", apply: (_, value) => at(value, -1) },
  replace: {
    args: [1, 2],
    hint: "one text in place of another",
    escapes: true,
    apply: (work, value, [from, to = ""]) =>
      replaceText(work, toText(work, value), toText(work, from), toText(work, to), Number.POSITIVE_INFINITY),
  },
  date: {
    args: [1, 1],
    hint: 'a time, for example date: "%d %B %Y"',
    fault: (argument) => {
      const unknown = typeof argument === "string" ? unknownDirective(argument) : String(argument);
      return unknown === null
        ? null
        : `date does not know "${unknown}"; write for example date: "%Y-%m-%d %H:%M".`;
    },
    apply: (work, value, [pattern], scope) => dateText(work, value, toText(work, pattern), scope),
  },
};
// A Map, so that a name from a template can only ever find what stands here.
const filters = new Map(Object.entries(filterRules));
for (const [alias, name] of [
  ["upcase", "upper"],
  ["downcase", "lower"],
  ["strip", "trim"],
] as const)
  filters.set(alias, present(filterRules[name], "filterRules[name]"));

/** The filters for completion: their names with what they do. */
export const templateFilters: readonly { name: string; hint: string }[] = Object.entries(filterRules).map(
  ([name, { hint }]) => ({ name, hint }),
);

interface Output {
  /** Of the whole `{{...}}`. */
  from: number;
  to: number;
  head: Argument;
  filters: { rule: FilterRule; args: Argument[]; isDefault: boolean }[];
}

type Part = { text: string } | Output;

interface Parsed {
  parts: Part[];
  faults: TextFault[];
}

/**
 * Puts values into a template; a missing one becomes nothing. Input values win over the state. Throws
 * TemplateError where the template cannot be read.
 */
export function renderTemplate(
  text: string,
  scope: TemplateScope,
  work = new Work(),
  /** What is written in place of a value that the template names; the value itself where absent. */
  write: (value: WrittenValue) => string = ({ text: plain }) => plain,
): string {
  const { parts, faults } = parse(text);
  const fault = faults[0];
  if (fault) throw new TemplateError(fault.message, fault.from, fault.to);
  const written: string[] = [];
  let length = 0;
  for (const part of parts) {
    const piece = "text" in part ? part.text : pieceOf(part, scope, work, text, write);
    length += piece.length;
    if (length > WORK_LIMITS.textLength)
      throw new TemplateError("The text becomes too long.", 0, text.length);
    written.push(piece);
  }
  return written.join("");
}

/** A value as a template writes it. */
export interface WrittenValue {
  /** Where the value stands: its key, and what it is within that. */
  path: readonly string[];
  text: string;
  /** The value as it is, not a part of it or what a filter made of it. */
  isWhole: boolean;
}

function pieceOf(
  part: Output,
  scope: TemplateScope,
  work: Work,
  text: string,
  write: (value: WrittenValue) => string,
): string {
  try {
    const written = toText(work, valueOf(part, scope, work));
    const [read] = readOf(part.head, false);
    // What the template itself says instead of a value is no value.
    const isOwn = !read || (part.filters.some(({ isDefault }) => isDefault) && isBlank(valueAt(part, scope)));
    if (isOwn || written === "") return written;
    const isWhole = read.path.length === 1 && part.filters.every(({ isDefault }) => isDefault);
    return write({ path: read.path, text: written, isWhole });
  } catch (error) {
    if (!(error instanceof WorkError)) throw error;
    const { from, to } = part;
    throw new TemplateError(
      `${error.message} The place: ${text.slice(from, Math.min(to, from + 80))}`,
      from,
      to,
    );
  }
}

/** A template that renders to exactly this text, whatever stands in it. */
export function asTemplate(text: string): string {
  return text.replace(/\{\{|\{%/g, (opening) => `{{ "${opening}" }}`);
}

/** The keys that a template reads, each once. */
export function templateKeys(text: string): string[] {
  return [...new Set(templateReads(text).map(({ key }) => key))];
}

/** Every place where a template names a value. */
export function templateReads(text: string): TemplateRead[] {
  return parse(text).parts.flatMap((part) => {
    if ("text" in part) return [];
    const optional = part.filters.some(({ isDefault }) => isDefault);
    return [
      ...readOf(part.head, optional),
      ...part.filters.flatMap(({ args }) => args.flatMap((argument) => readOf(argument, false))),
    ];
  });
}

function readOf(argument: Argument, optional: boolean): TemplateRead[] {
  if (!("path" in argument)) return [];
  const { path, from, to } = argument;
  const inner = path.length > 1 && (path[0] === "state" || path[0] === "input") ? path.slice(1) : path;
  return [{ key: present(inner[0], "inner[0]"), path: inner, from, to, optional }];
}

/** The values that a template names, without saying what to write instead, and that are not there. */
export function missingKeys(text: string, scope: TemplateScope): string[] {
  const isMissing = (argument: Argument): argument is Path => {
    const value = "path" in argument ? find(argument.path, scope) : 0;
    return value === undefined || value === null;
  };
  const missing = parse(text).parts.flatMap((part) => {
    if ("text" in part) return [];
    const instead = part.filters.find(({ isDefault }) => isDefault);
    // What is written instead matters only where it is written.
    const head = isMissing(part.head) ? [part.head] : [];
    const args = part.filters
      .filter((filter) => filter !== instead || head.length > 0)
      .flatMap(({ args }) => args.filter(isMissing));
    return [...(instead ? [] : head), ...args].map(({ path }) => path.join("."));
  });
  return [...new Set(missing)];
}

/** What is wrong with a template; empty if nothing is. */
export function checkTemplate(text: string): TextFault[] {
  return parse(text).faults;
}

function parse(text: string): Parsed {
  if (text.length > MAX_TEMPLATE_LENGTH) {
    const message = `A template has at most ${MAX_TEMPLATE_LENGTH.toLocaleString("en-US")} characters. Shorten this one.`;
    return { parts: [], faults: [{ message, from: MAX_TEMPLATE_LENGTH, to: text.length }] };
  }
  const parts: Part[] = [];
  const faults: TextFault[] = [];
  let trimNext = false;
  let position = 0;
  const addText = (end: number, trimEnd: boolean) => {
    const piece = text.slice(position, end);
    const tag = piece.indexOf("{%");
    if (tag >= 0) {
      const close = text.indexOf("%}", position + tag);
      const to = close < 0 ? end : close + 2;
      faults.push({
        message:
          "Tags like {% if %} are not available. Use a router for decisions, and {{ key }} for values.",
        from: position + tag,
        to,
      });
    }
    const trimmed = trimNext ? piece.trimStart() : piece;
    const kept = trimEnd ? trimmed.trimEnd() : trimmed;
    if (kept) parts.push({ text: kept });
  };
  for (;;) {
    const open = text.indexOf("{{", position);
    if (open < 0) break;
    addText(open, text[open + 2] === "-");
    const read = readOutput(text, open);
    trimNext = false;
    if ("message" in read) {
      faults.push({ message: read.message, from: read.from, to: read.to });
      position = read.next;
      // What follows has no end either: one fault says it.
      if (text.indexOf("}}", open) < 0) break;
    } else {
      parts.push(read.output);
      position = read.output.to;
      trimNext = read.trimAfter;
    }
  }
  addText(text.length, false);
  return { parts, faults };
}

type Failure = TextFault & { next: number };

const NAME = /[A-Za-z_][A-Za-z0-9_-]*/y;
const NAME_START = /[A-Za-z_]/;
const NUMBER = /-?\d{1,15}(?:\.\d{1,15})?/y;
const INDEX = /\d{1,9}/y;
const SPACE = /[ \t\r\n]*/y;

/** Reads one `{{...}}` that begins at `open`. */
function readOutput(text: string, open: number): { output: Output; trimAfter: boolean } | Failure {
  let at = open + 2;
  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? null;
    if (found !== null) at += found.length;
    return found;
  };
  const fail = (message: string, from = at): Failure => {
    const close = text.indexOf("}}", open + 2);
    // An unclosed one must not swallow the rest of the text's faults.
    const next = close < 0 ? open + 2 : close + 2;
    return { message, from: Math.min(from, next), to: Math.max(next, from), next };
  };
  const literal = (escapes = false): { value: Literal } | null => {
    const quote = text[at];
    if (quote === '"' || quote === "'") {
      const end = text.indexOf(quote, at + 1);
      if (end < 0) return null;
      const value = text.slice(at + 1, end);
      at = end + 1;
      return {
        value: escapes ? value.replace(/\\([nt])/g, (_, kind) => (kind === "n" ? "\n" : "\t")) : value,
      };
    }
    const start = at;
    const number = take(NUMBER);
    if (number !== null) return { value: Number(number) };
    const word = take(NAME);
    if (word === "true" || word === "false") return { value: word === "true" };
    if (word === "null" || word === "nil") return { value: null };
    at = start;
    return null;
  };
  const skipSpace = () => take(SPACE);
  /** A name with what follows it, or what is wrong with it. */
  const readPath = (): Path | string | null => {
    const from = at;
    const name = take(NAME);
    if (name === null) return null;
    const path = [name];
    for (;;) {
      if (text[at] === ".") {
        at++;
        const segment = take(INDEX) ?? take(NAME);
        if (segment === null) return "After the dot comes a name, for example {{ result.title }}.";
        path.push(segment);
      } else if (text[at] === "[") {
        at++;
        const inner = literal();
        if (!inner || typeof inner.value === "boolean" || inner.value === null || text[at] !== "]")
          return "In [ ] stands a number or a text in quotes, for example {{ list[0] }}.";
        path.push(String(inner.value));
        at++;
      } else break;
    }
    // "-" may stand in a name, but the last one may also belong to the closing "-}}".
    const last = present(path[path.length - 1], "path[path.length - 1]");
    if (text[at - 1] === "-" && last.endsWith("-") && text.startsWith("}}", at)) {
      path[path.length - 1] = last.slice(0, -1);
      at--;
    }
    return { path, from, to: at };
  };

  if (text.indexOf("}}", at) < 0) return fail('This "{{" is never closed; end it with "}}".', open);
  if (text[at] === "-") at++;
  skipSpace();
  const start = at;
  let head: Output["head"];
  const value = literal();
  const written = text.slice(start, at);
  if (value) {
    // A number is printed as one with a point where it is written so.
    const keepsPoint =
      typeof value.value === "number" && /\.0+$/.test(written) && /^\s*-?\}\}/.test(text.slice(at, at + 50));
    head = { literal: keepsPoint ? `${value.value}.0` : value.value };
  } else {
    if (!NAME_START.test(text.charAt(at)))
      return fail(
        text.startsWith("}}", at) ? "Name a value here, for example {{ user_request }}." : badName(text, at),
        open,
      );
    const path = readPath();
    if (path === null || typeof path === "string") return fail(path ?? badName(text, at), open);
    head = path;
  }

  const used: Output["filters"] = [];
  for (;;) {
    skipSpace();
    const trimAfter = text.startsWith("-}}", at);
    if (trimAfter || text.startsWith("}}", at)) {
      at += trimAfter ? 3 : 2;
      return { output: { from: open, to: at, head, filters: used }, trimAfter };
    }
    if (text[at] !== "|")
      return fail('Only filters can follow a value, for example {{ name | default: "you" }}.', open);
    at++;
    skipSpace();
    const from = at;
    const name = take(NAME);
    if (name === null) return fail("After | comes the name of a filter.", open);
    const rule = filters.get(name);
    if (!rule)
      return fail(
        `There is no filter "${name}". There are ${templateFilters.map((filter) => filter.name).join(", ")}.`,
        from,
      );
    skipSpace();
    const args: Argument[] = [];
    if (text[at] === ":") {
      do {
        at++;
        skipSpace();
        const argument = literal(rule.escapes);
        if (argument) {
          const fault = rule.fault?.(argument.value, args.length);
          if (fault) return fail(fault, from);
          args.push({ literal: argument.value });
        } else {
          const path = readPath();
          if (path === null || typeof path === "string")
            return fail(
              path ?? `What follows "${name}:" is a number, a text in quotes or the name of a value.`,
              from,
            );
          args.push(path);
        }
        skipSpace();
      } while (text[at] === ",");
    }
    const [least, most] = rule.args;
    if (args.length < least) return fail(`"${name}" needs a value, for example ${name}: "none".`, from);
    if (args.length > most)
      return fail(
        most === 0 ? `"${name}" takes no value after a colon.` : `"${name}" takes at most ${most} values.`,
        from,
      );
    used.push({ rule, args, isDefault: rule === filterRules.default });
  }
}

function badName(text: string, at: number): string {
  const found = text.charAt(at);
  if (found === "{") return "Three braces in a row; write {{ key }} with two.";
  return `A value's name begins with a letter, not with "${found}".`;
}

function valueOf(output: Output, scope: TemplateScope, work: Work): Value {
  const read = (argument: Argument): Value =>
    "literal" in argument ? argument.literal : find(argument.path, scope);
  return output.filters.reduce<Value>((value, { rule, args }) => {
    work.spend(FILTER_UNITS);
    return rule.apply(work, value, args.map(read), scope);
  }, read(output.head));
}

const FILTER_UNITS = 10;

/** The value that a `{{...}}` begins with, before any filter. */
const valueAt = ({ head }: Output, scope: TemplateScope): Value =>
  "literal" in head ? head.literal : find(head.path, scope);

function find(path: readonly string[], scope: TemplateScope): Json | undefined {
  const [head, ...rest] = path;
  if (head === undefined) return undefined;
  if (scope.input && Object.hasOwn(scope.input, head)) return follow(scope.input[head], rest);
  if (Object.hasOwn(scope.state, head)) return follow(scope.state[head], rest);
  const [key, ...more] = rest;
  if (key === undefined) return undefined;
  const named = head === "state" ? scope.state : head === "input" ? (scope.input ?? {}) : {};
  return Object.hasOwn(named, key) ? follow(named[key], more) : undefined;
}

function follow(value: Value, path: readonly string[]): Value {
  let current = value;
  for (const segment of path) {
    if (current === null || current === undefined) return undefined;
    if (typeof current === "string") {
      if (segment !== "size") return undefined;
      current = current.length;
    } else if (Array.isArray(current)) {
      if (segment === "size") current = current.length;
      else if (segment === "first") current = at(current, 0);
      else if (segment === "last") current = at(current, -1);
      else if (/^-?\d{1,9}$/.test(segment)) current = at(current, Number(segment));
      else return undefined;
    } else if (typeof current === "object") {
      if (Object.hasOwn(current, segment)) current = current[segment];
      else if (segment === "size") current = sizeIn(current);
      else return undefined;
    } else return undefined;
  }
  return current;
}

/** An item of a list, counted from behind below zero. */
const at = (value: Value, index: number): Value => (Array.isArray(value) ? value.at(index) : undefined);

function sizeIn(value: Value): number {
  if (typeof value === "string" || Array.isArray(value)) return value.length;
  return value !== null && typeof value === "object" ? Object.keys(value).length : 0;
}

/** How a value reads in a text: text as it is, the rest as JSON, nothing as nothing. */
function toText(work: Work, value: Value): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : jsonText(work, value);
}

function jsonText(work: Work, value: Json): string {
  work.read(sizeOf(value), 2);
  return JSON.stringify(value);
}

/** A value's text, which is then gone through. `times`: what a character costs. */
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

/** A time by a pattern; what is no time stays as it is. */
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

function isBlank(value: Value): boolean {
  if (value === undefined || value === null || value === false || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

function truncate(text: string, length: number, ellipsis: string): string {
  if (text.length <= length) return text;
  let end = Math.max(0, length - ellipsis.length);
  // Not between the two halves of one character.
  if (end > 0 && /[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end--;
  return text.slice(0, end) + ellipsis;
}
