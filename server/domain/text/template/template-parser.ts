import { must } from "@/server/domain/base/must";
import type { TextDiagnostic } from "../text-diagnostic";
import { type FilterRule, filters, isDefault, type Literal, templateFilters } from "./template-filters";

/** Parses a template into plain texts and the expressions in double braces. */

export const MAX_TEMPLATE_LENGTH = 65_536;

export type Path = { path: string[]; from: number; to: number };
/** An argument of a filter: a literal, or a value of the state. */
export type Argument = { literal: Literal } | Path;

export interface Output {
  /** Offsets of the whole `{{...}}`. */
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
    const message = `A template can have at most ${MAX_TEMPLATE_LENGTH.toLocaleString("en-US")} characters. Shorten this one.`;
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
          "Tags like {% if %} are not supported. Use a router for decisions, and {{ key }} for values.",
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
    const read = new OutputReader(text, open).read();
    trimNext = false;
    if ("message" in read) {
      diagnostics.push({ message: read.message, from: read.from, to: read.to });
      position = read.next;
      // What follows has no end either: one error is enough.
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
class OutputReader {
  private at: number;

  constructor(
    private readonly text: string,
    private readonly open: number,
  ) {
    this.at = open + 2;
  }

  read(): { output: Output; trimAfter: boolean } | Failure {
    const { text, open } = this;
    if (text.indexOf("}}", this.at) < 0) return this.fail('This "{{" is never closed. Add "}}".', open);
    if (text[this.at] === "-") this.at++;
    this.take(SPACE);
    const head = this.head();
    if ("message" in head) return head;
    const filters: Output["filters"] = [];
    for (;;) {
      this.take(SPACE);
      const trimAfter = text.startsWith("-}}", this.at);
      if (trimAfter || text.startsWith("}}", this.at)) {
        this.at += trimAfter ? 3 : 2;
        return { output: { from: open, to: this.at, head, filters }, trimAfter };
      }
      if (text[this.at] !== "|")
        return this.fail('Only filters can follow a value, for example {{ name | default: "you" }}.', open);
      this.at++;
      const filter = this.filter();
      if ("message" in filter) return filter;
      filters.push(filter);
    }
  }

  private take(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? null;
    if (found !== null) this.at += found.length;
    return found;
  }

  private fail(message: string, from = this.at): Failure {
    const close = this.text.indexOf("}}", this.open + 2);
    // An unclosed one must not swallow the errors of the rest of the text.
    const next = close < 0 ? this.open + 2 : close + 2;
    return { message, from: Math.min(from, next), to: Math.max(next, from), next };
  }

  private head(): Argument | Failure {
    const { text, open, at: start } = this;
    const value = this.literal();
    if (value) {
      // A number is printed with a point if it is written with one.
      const keepsPoint =
        typeof value.literal === "number" &&
        /\.0+$/.test(text.slice(start, this.at)) &&
        /^\s*-?\}\}/.test(text.slice(this.at, this.at + 50));
      return keepsPoint ? { literal: `${value.literal}.0` } : value;
    }
    if (!NAME_START.test(text.charAt(this.at)))
      return this.fail(
        text.startsWith("}}", this.at)
          ? "Enter a value, for example {{ user_request }}."
          : badName(text, this.at),
        open,
      );
    const path = this.path();
    if (path === null || typeof path === "string") return this.fail(path ?? badName(text, this.at), open);
    return path;
  }

  private literal(escapes = false): { literal: Literal } | null {
    const { text, at: start } = this;
    const quote = text[start];
    if (quote === '"' || quote === "'") {
      const end = text.indexOf(quote, start + 1);
      if (end < 0) return null;
      const value = text.slice(start + 1, end);
      this.at = end + 1;
      return {
        literal: escapes ? value.replace(/\\([nt])/g, (_, kind) => (kind === "n" ? "\n" : "\t")) : value,
      };
    }
    const number = this.take(NUMBER);
    if (number !== null) return { literal: Number(number) };
    const word = this.take(NAME);
    if (word === "true" || word === "false") return { literal: word === "true" };
    if (word === "null" || word === "nil") return { literal: null };
    this.at = start;
    return null;
  }

  /** A name with what follows it, the error in what follows, or null if there is no name. */
  private path(): Path | string | null {
    const { text, at: from } = this;
    const name = this.take(NAME);
    if (name === null) return null;
    const path = [name];
    for (;;) {
      if (text[this.at] === ".") {
        this.at++;
        const segment = this.take(INDEX) ?? this.take(NAME);
        if (segment === null) return "Add a name after the dot, for example {{ result.title }}.";
        path.push(segment);
      } else if (text[this.at] === "[") {
        this.at++;
        const inner = this.literal()?.literal ?? null;
        if (typeof inner === "boolean" || inner === null || text[this.at] !== "]")
          return "Put a number or quoted text in [ ], for example {{ list[0] }}.";
        path.push(String(inner));
        this.at++;
      } else break;
    }
    // "-" is allowed in a name, but the last one may also belong to the closing "-}}".
    const last = must(path, path.length - 1);
    if (text[this.at - 1] === "-" && last.endsWith("-") && text.startsWith("}}", this.at)) {
      path[path.length - 1] = last.slice(0, -1);
      this.at--;
    }
    return { path, from, to: this.at };
  }

  /** What follows a "|". */
  private filter(): Output["filters"][number] | Failure {
    this.take(SPACE);
    const from = this.at;
    const name = this.take(NAME);
    if (name === null) return this.fail("Add the name of a filter after |.", this.open);
    const rule = filters.get(name);
    if (!rule)
      return this.fail(
        `There is no filter "${name}". Available: ${templateFilters.map((filter) => filter.name).join(", ")}.`,
        from,
      );
    this.take(SPACE);
    const args: Argument[] = [];
    if (this.text[this.at] === ":")
      do {
        this.at++;
        this.take(SPACE);
        const argument = this.argument(name, rule, args.length);
        if (typeof argument === "string") return this.fail(argument, from);
        args.push(argument);
        this.take(SPACE);
      } while (this.text[this.at] === ",");
    const [least, most] = rule.args;
    if (args.length < least) return this.fail(`"${name}" needs a value, for example ${name}: "none".`, from);
    if (args.length > most)
      return this.fail(
        most === 0 ? `"${name}" takes no value after a colon.` : `"${name}" takes at most ${most} values.`,
        from,
      );
    return { rule, args, isDefault: isDefault(rule) };
  }

  /** An argument of a filter, or the error in it. */
  private argument(name: string, rule: FilterRule, position: number): Argument | string {
    const value = this.literal(rule.escapes);
    if (value) return rule.validate?.(value.literal, position) ?? value;
    return this.path() ?? `Add a number, quoted text or the name of a value after "${name}:".`;
  }
}

function badName(text: string, at: number): string {
  const found = text.charAt(at);
  if (found === "{") return "Use two braces, {{ key }}, not three.";
  return `A name must start with a letter, not "${found}".`;
}
