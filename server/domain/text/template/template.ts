import { must } from "@/server/domain/base/must";
import { namedError } from "@/server/domain/base/named-error";
import { WORK_LIMITS, Work, WorkError } from "@/server/domain/base/work-budget";
import type { TextDiagnostic } from "../text-diagnostic";
import { type Argument, type Output, type Path, parseTemplate } from "./template-parser";
import { find, isBlank, type TemplateScope, toText, type Value } from "./template-values";

/**
 * Templates of task texts: `{{path | filter}}` and nothing else. There is no logic and no way to JavaScript's
 * objects, and a value is put in once: what it contains is never read as a template again.
 *
 * The language is a small part of Liquid (template.test.ts compares the two), with names that JSON allows. Lists and
 * objects print as JSON; `blank` and `empty` are names like all others; what is not in it is refused while it is
 * written. The work of filters is counted (work.ts), so that no template can hold the server.
 */

/** A template that cannot be read, or whose text would grow beyond its limit. */
export class TemplateError extends namedError("TemplateError") {
  constructor(
    message: string,
    readonly from: number,
    readonly to: number,
  ) {
    super(message);
  }
}

/** A place where a template names a value. `optional`: it says what to write where the value is missing. */
export interface TemplateRead extends Omit<TextDiagnostic, "message"> {
  key: string;
  path: readonly string[];
  optional: boolean;
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
  const { parts, diagnostics } = parseTemplate(text);
  const diagnostic = diagnostics[0];
  if (diagnostic) throw new TemplateError(diagnostic.message, diagnostic.from, diagnostic.to);
  const written: string[] = [];
  let length = 0;
  for (const part of parts) {
    const piece = "text" in part ? part.text : pieceOf(part, scope, work, text, write);
    length += piece.length;
    if (length > WORK_LIMITS.textLength) throw new TemplateError("The text is too long.", 0, text.length);
    written.push(piece);
  }
  return written.join("");
}

/** A value as a template writes it. */
export interface WrittenValue {
  /** The path of the value: its key, and the place within it. */
  path: readonly string[];
  text: string;
  /** The unchanged value, not a part of it or a filter's result. */
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
    throw new TemplateError(`${error.message} At: ${text.slice(from, Math.min(to, from + 80))}`, from, to);
  }
}

/** A template that renders to exactly this text, whatever it contains. */
export function asTemplate(text: string): string {
  return text.replace(/\{\{|\{%/g, (opening) => `{{ "${opening}" }}`);
}

/** The keys that a template reads, each once. */
export function templateKeys(text: string): string[] {
  return [...new Set(templateReads(text).map(({ key }) => key))];
}

/** Every place where a template names a value. */
export function templateReads(text: string): TemplateRead[] {
  return parseTemplate(text).parts.flatMap((part) => {
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
  return [{ key: must(inner, 0), path: inner, from, to, optional }];
}

/** The values that a template names, without saying what to write instead, and that are not there. */
export function missingKeys(text: string, scope: TemplateScope): string[] {
  const isMissing = (argument: Argument): argument is Path => {
    const value = "path" in argument ? find(argument.path, scope) : 0;
    return value === undefined || value === null;
  };
  const missing = parseTemplate(text).parts.flatMap((part) => {
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
export function checkTemplate(text: string): TextDiagnostic[] {
  return parseTemplate(text).diagnostics;
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
