import { must } from "@/server/domain/base/must";
import type { TextDiagnostic } from "../text-diagnostic";
import { type FilterRule, filters, isDefault, type Literal, templateFilters } from "./template-filters";

/** Parses a template into plain texts and the expressions in double braces. */

export const MAX_TEMPLATE_LENGTH = 65_536;

export type Path = { path: string[]; from: number; to: number };
/** An argument of a filter: written there, or a value of the state. */
export type Argument = { literal: Literal } | Path;

export interface Output {
  /** Of the whole `{{...}}`. */
  from: number;
  to: number;
  head: Argument;
  filters: { rule: FilterRule; args: Argument[]; isDefault: boolean }[];
}

type Part = { text: string } | Output;

interface Parsed {
  parts: Part[];
  diagnostics: TextDiagnostic[];
}

export function parseTemplate(text: string): Parsed {
  if (text.length > MAX_TEMPLATE_LENGTH) {
    const message = `A template has at most ${MAX_TEMPLATE_LENGTH.toLocaleString("en-US")} characters. Shorten this one.`;
    return { parts: [], diagnostics: [{ message, from: MAX_TEMPLATE_LENGTH, to: text.length }] };
  }
  const parts: Part[] = [];
  const diagnostics: TextDiagnostic[] = [];
  let trimNext = false;
  let position = 0;
  const addText = (end: number, trimEnd: boolean) => {
    const piece = text.slice(position, end);
    const tag = piece.indexOf("{%");
    if (tag >= 0) {
      const close = text.indexOf("%}", position + tag);
      const to = close < 0 ? end : close + 2;
      diagnostics.push({
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
      diagnostics.push({ message: read.message, from: read.from, to: read.to });
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
  return { parts, diagnostics };
}

type Failure = TextDiagnostic & { next: number };

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
    // "-" is allowed in a name, but the last one may also belong to the closing "-}}".
    const last = must(path, path.length - 1);
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
          const error = rule.validate?.(argument.value, args.length);
          if (error) return fail(error, from);
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
    used.push({ rule, args, isDefault: isDefault(rule) });
  }
}

function badName(text: string, at: number): string {
  const found = text.charAt(at);
  if (found === "{") return "Three braces in a row; write {{ key }} with two.";
  return `A value's name begins with a letter, not with "${found}".`;
}
