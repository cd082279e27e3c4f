import type { TextFault } from "./expression";
import type { Json } from "./values";

/**
 * Templates of task texts: `{{path | filter}}` and nothing else. There is no logic and no way to JavaScript's
 * objects, and a value is put in once: what it contains is never read as a template again.
 *
 * The language is a small part of Liquid (template.test.ts compares the two), with names that JSON allows.
 */

export interface TemplateScope {
  state: Readonly<Record<string, Json>>;
  /** Looked at before the state. */
  input?: Readonly<Record<string, Json>>;
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
const MAX_RENDERED_LENGTH = 4 * 1024 * 1024;

type Literal = string | number | boolean | null;

interface FilterRule {
  /** How many arguments it needs and takes. */
  args: readonly [least: number, most: number];
  hint: string;
  apply(value: Json | undefined, args: readonly Literal[]): Json | undefined;
}

const filterRules: Record<string, FilterRule> = {
  json: { args: [0, 0], hint: "as JSON", apply: (value) => JSON.stringify(value ?? null) },
  upper: { args: [0, 0], hint: "in capitals", apply: (value) => toText(value).toUpperCase() },
  lower: { args: [0, 0], hint: "in small letters", apply: (value) => toText(value).toLowerCase() },
  trim: { args: [0, 0], hint: "without spaces around it", apply: (value) => toText(value).trim() },
  truncate: {
    args: [0, 2],
    hint: "at most n characters",
    apply: (value, [length = 50, ellipsis = "..."]) =>
      truncate(toText(value), Number(length), String(ellipsis)),
  },
  default: {
    args: [1, 1],
    hint: "what to write where there is nothing",
    apply: (value, [fallback]) => (isBlank(value) ? fallback : value),
  },
};
// A Map, so that a name from a template can only ever find what stands here.
const filters = new Map(Object.entries(filterRules));
for (const [alias, name] of [
  ["upcase", "upper"],
  ["downcase", "lower"],
  ["strip", "trim"],
] as const)
  filters.set(alias, filterRules[name]!);

/** The filters for completion: their names with what they do. */
export const templateFilters: readonly { name: string; hint: string }[] = Object.entries(filterRules).map(
  ([name, { hint }]) => ({ name, hint }),
);

interface Output {
  /** Of the whole `{{...}}`. */
  from: number;
  to: number;
  head: { path: string[]; from: number; to: number } | { literal: Literal };
  filters: { rule: FilterRule; args: Literal[]; isDefault: boolean }[];
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
export function renderTemplate(text: string, scope: TemplateScope): string {
  const { parts, faults } = parse(text);
  const fault = faults[0];
  if (fault) throw new TemplateError(fault.message, fault.from, fault.to);
  const written: string[] = [];
  let length = 0;
  for (const part of parts) {
    const piece = "text" in part ? part.text : toText(valueOf(part, scope));
    length += piece.length;
    if (length > MAX_RENDERED_LENGTH) throw new TemplateError("The text becomes too long.", 0, text.length);
    written.push(piece);
  }
  return written.join("");
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
    if ("text" in part || !("path" in part.head)) return [];
    const { path, from, to } = part.head;
    const inner = path.length > 1 && (path[0] === "state" || path[0] === "input") ? path.slice(1) : path;
    return [
      { key: inner[0]!, path: inner, from, to, optional: part.filters.some(({ isDefault }) => isDefault) },
    ];
  });
}

/** The values that a template names, without saying what to write instead, and that are not there. */
export function missingKeys(text: string, scope: TemplateScope): string[] {
  const missing = parse(text).parts.flatMap((part) => {
    if ("text" in part || !("path" in part.head) || part.filters.some(({ isDefault }) => isDefault))
      return [];
    const value = find(part.head.path, scope);
    return value === undefined || value === null ? [part.head.path.join(".")] : [];
  });
  return [...new Set(missing)];
}

/** What is wrong with a template; empty if nothing is. */
export function checkTemplate(text: string): TextFault[] {
  return parse(text).faults;
}

function parse(text: string): Parsed {
  if (text.length > MAX_TEMPLATE_LENGTH) {
    const message = `A template has at most ${MAX_TEMPLATE_LENGTH} characters.`;
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
  const literal = (): { value: Literal } | null => {
    const quote = text[at];
    if (quote === '"' || quote === "'") {
      const end = text.indexOf(quote, at + 1);
      if (end < 0) return null;
      const value = text.slice(at + 1, end);
      at = end + 1;
      return { value };
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

  if (text.indexOf("}}", at) < 0) return fail('This "{{" is never closed; end it with "}}".', open);
  if (text[at] === "-") at++;
  skipSpace();
  const start = at;
  let head: Output["head"];
  const value = literal();
  if (value) head = { literal: value.value };
  else {
    const name = take(NAME);
    if (name === null)
      return fail(
        text.startsWith("}}", at) ? "Name a value here, for example {{ user_request }}." : badName(text, at),
        open,
      );
    // "-" may stand in a name, but the last one may also belong to the closing "-}}".
    const first = name.endsWith("-") && text.startsWith("}}", at) ? name.slice(0, -1) : name;
    if (first !== name) at--;
    const path = [first];
    for (;;) {
      if (text[at] === ".") {
        at++;
        const segment = take(INDEX) ?? take(NAME);
        if (segment === null)
          return fail("After the dot comes a name, for example {{ result.title }}.", open);
        path.push(segment);
      } else if (text[at] === "[") {
        at++;
        const inner = literal();
        if (!inner || typeof inner.value === "boolean" || inner.value === null || text[at] !== "]")
          return fail("In [ ] stands a number or a text in quotes, for example {{ list[0] }}.", open);
        path.push(String(inner.value));
        at++;
      } else break;
    }
    const last = path[path.length - 1]!;
    if (path.length > 1 && last.endsWith("-") && text.startsWith("}}", at)) {
      path[path.length - 1] = last.slice(0, -1);
      at--;
    }
    head = { path, from: start, to: at };
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
    const args: Literal[] = [];
    if (text[at] === ":") {
      do {
        at++;
        skipSpace();
        const argument = literal();
        if (!argument) return fail(`What follows "${name}:" must be a number or a text in quotes.`, from);
        args.push(argument.value);
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

function valueOf(output: Output, scope: TemplateScope): Json | undefined {
  const first = "literal" in output.head ? output.head.literal : find(output.head.path, scope);
  return output.filters.reduce<Json | undefined>((value, { rule, args }) => rule.apply(value, args), first);
}

function find(path: readonly string[], scope: TemplateScope): Json | undefined {
  const [head, ...rest] = path as [string, ...string[]];
  if (scope.input && Object.hasOwn(scope.input, head)) return follow(scope.input[head], rest);
  if (Object.hasOwn(scope.state, head)) return follow(scope.state[head], rest);
  const [key, ...more] = rest;
  if (key === undefined) return undefined;
  const named = head === "state" ? scope.state : head === "input" ? (scope.input ?? {}) : {};
  return Object.hasOwn(named, key) ? follow(named[key], more) : undefined;
}

function follow(value: Json | undefined, path: readonly string[]): Json | undefined {
  let current = value;
  for (const segment of path) {
    if (current === null || current === undefined) return undefined;
    if (typeof current === "string") {
      if (segment !== "size") return undefined;
      current = current.length;
    } else if (Array.isArray(current)) {
      if (segment === "size") current = current.length;
      else if (/^\d{1,9}$/.test(segment)) current = current[Number(segment)];
      else return undefined;
    } else if (typeof current === "object") {
      current = Object.hasOwn(current, segment) ? current[segment] : undefined;
    } else return undefined;
  }
  return current;
}

/** How a value reads in a text: text as it is, the rest as JSON, nothing as nothing. */
function toText(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function isBlank(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === false || value === "") return true;
  return Array.isArray(value) && value.length === 0;
}

function truncate(text: string, length: number, ellipsis: string): string {
  if (text.length <= length) return text;
  let end = Math.max(0, length - ellipsis.length);
  // Not between the two halves of one character.
  if (end > 0 && /[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end--;
  return text.slice(0, end) + ellipsis;
}
