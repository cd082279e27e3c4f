import type { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import { must } from "@/server/domain/base/must";
import { isList } from "./guards";
import { issueText } from "./issues/issue-text";
import { isReserved } from "./names";

/**
 * Reading what comes from outside: what fits is kept, what does not is left out, and each loss is named with its
 * place. Nothing that is read is run, resolved or fetched.
 */

/** What can become of something in a file, the worst first; `placeholder`: a step stands for it that somebody has to fill. */
export const FINDING_LEVELS = ["error", "dropped", "placeholder", "changed", "kept", "info"] as const;

/** What became of something in a file. `at`: its place, dotted. */
export interface Finding {
  level: (typeof FINDING_LEVELS)[number];
  at: string;
  message: string;
  /** Of several files, the path of the one it is about. */
  file?: string;
  /** In that file, from 1. */
  line?: number;
  /** The node that came of it. */
  node_id?: string;
  /** What a person can add elsewhere instead, ready to copy. */
  snippet?: string;
}

/** Where findings of one file are; `at`: the place as they are told it, dotted. */
export type PlaceOf = (at: string) => Partial<Pick<Finding, "at" | "file" | "line">>;

const MAX_FINDINGS = 200;
export const MAX_DEPTH = 32;

/** Collects findings, up to a number that a person can still read. */
export class Findings {
  constructor(
    private readonly kept: { list: Finding[]; more: number } = { list: [], more: 0 },
    private readonly place: PlaceOf = () => ({}),
  ) {}
  /** Adds to the same list, with the file and line of each. */
  of(place: PlaceOf): Findings {
    return new Findings(this.kept, place);
  }

  /** Adds to the same list; every place lies under this one. */
  under(part: string): Findings {
    return new Findings(this.kept, (at) => {
      const whole = part && at ? `${part}.${at}` : part || at;
      return { at: whole, ...this.place(whole) };
    });
  }

  get list(): readonly Finding[] {
    return this.kept.list;
  }
  add(
    level: Finding["level"],
    at: string,
    message: string,
    more: { [K in "node_id" | "snippet"]?: Finding[K] | undefined } = {},
  ): void {
    const { list } = this.kept;
    if (list.length < MAX_FINDINGS || (level === "error" && !this.hasError()))
      list.push({ level, at, message, ...this.place(at), ...defined(more) });
    else this.kept.more++;
  }
  info(at: string, message: string): void {
    this.add("info", at, message);
  }
  keeps(at: string, message: string, node_id?: string): void {
    this.add("kept", at, message, { node_id });
  }
  changed(at: string, message: string, node_id?: string): void {
    this.add("changed", at, message, { node_id });
  }
  placeholder(at: string, message: string, node_id?: string): void {
    this.add("placeholder", at, message, { node_id });
  }
  dropped(at: string, message: string, node_id?: string): void {
    this.add("dropped", at, message, { node_id });
  }
  /** Not imported; `snippet`: what the person can add elsewhere instead. */
  suggests(at: string, message: string, snippet: string): void {
    this.add("dropped", at, message, { snippet });
  }
  error(at: string, message: string): void {
    this.add("error", at, message);
  }
  hasError(): boolean {
    return this.list.some(({ level }) => level === "error");
  }
  all(): Finding[] {
    const { list, more } = this.kept;
    if (more === 0) return [...list];
    const message = `${more} more ${more === 1 ? "finding" : "findings"} not shown.`;
    return [...list, { level: "info", at: "", message }];
  }
}

export type Raw = Record<string, unknown>;

export const isRaw = (value: unknown): value is Raw =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** Text of a file without what editors and chat windows put around it: a byte order mark, a fence of backticks. */
export function unwrapText(text: string): string {
  const plain = text.startsWith("\uFEFF") ? text.slice(1) : text;
  const fenced = plain.trim();
  if (!fenced.startsWith("```")) return plain;
  const firstBreak = fenced.indexOf("\n");
  const end = fenced.lastIndexOf("```");
  return firstBreak < 0 || end <= firstBreak ? plain : fenced.slice(firstBreak + 1, end);
}

/** A copy of a value without words that could reach an object's prototype; null where it is nested too deeply. */
export function cleanCopy(value: unknown, findings: Findings, at = "", depth = 0): { value: unknown } | null {
  if (value === null || typeof value !== "object") return { value };
  if (depth >= MAX_DEPTH) return null;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const [position, item] of value.entries()) {
      const copy = cleanCopy(item, findings, join(at, position), depth + 1);
      if (!copy) return null;
      items.push(copy.value);
    }
    return { value: items };
  }
  const record: Raw = {};
  for (const [key, inner] of Object.entries(value)) {
    if (isReserved(key)) {
      findings.dropped(join(at, key), `"${key}" is a reserved word and was left out.`);
      continue;
    }
    const copy = cleanCopy(inner, findings, join(at, key), depth + 1);
    if (!copy) return null;
    record[key] = copy.value;
  }
  return { value: record };
}

export const join = (at: string, key: string | number | symbol) =>
  at === "" ? String(key) : `${at}.${String(key)}`;

/**
 * Parses a value with a schema and leaves out what does not fit, piece by piece, naming each; null where nothing
 * useful is left. What the schema does not know is named as dropped, too.
 */
export function readLeniently<S extends z.ZodType>(
  schema: S,
  value: unknown,
  at: string,
  findings: Findings,
): z.output<S> | null {
  let current = value;
  for (let round = 0; round < 50; round++) {
    const parsed = schema.safeParse(current);
    if (parsed.success) {
      nameUnknown(current, parsed.data, at, findings);
      return parsed.data;
    }
    // One at a time: leaving one piece out often mends the others.
    const issue = must(parsed.error.issues, 0);
    const path = issue.path.map((step) => (typeof step === "symbol" ? String(step) : step));
    const culprit = placeToRemove(current, path);
    if (culprit === null) {
      findings.dropped(at, `${at || "This"} can't be read: ${issueSentence(issue)}`);
      return null;
    }
    // Files from Python write what is absent as null.
    if (valueAt(current, culprit) !== null)
      findings.dropped(
        culprit.reduce<string>(join, at),
        `"${culprit.join(".")}" was left out: ${issueSentence(issue)}`,
      );
    current = without(current, culprit);
  }
  findings.dropped(at, `${at || "This"} has too many errors to be read.`);
  return null;
}

/** The path itself where something stands there, else the nearest part around it; null for the whole. */
function placeToRemove(value: unknown, path: readonly (string | number)[]): (string | number)[] | null {
  let current = value;
  let depth = 0;
  for (const step of path) {
    const next = inside(current, step);
    if (next === undefined) break;
    current = next;
    depth++;
  }
  return depth === 0 ? null : path.slice(0, depth);
}

function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(inside, value);
}

/** The item or the field of a value; undefined where it has none. */
function inside(value: unknown, step: string | number): unknown {
  if (isList(value)) return value[Number(step)];
  return isRaw(value) ? value[String(step)] : undefined;
}

function without(value: unknown, path: readonly (string | number)[]): unknown {
  const [step, ...rest] = path;
  if (Array.isArray(value)) {
    return rest.length === 0
      ? value.filter((_item, position) => position !== Number(step))
      : value.map((item: unknown, position) => (position === Number(step) ? without(item, rest) : item));
  }
  if (!isRaw(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => {
      if (key !== String(step)) return [[key, inner]];
      return rest.length === 0 ? [] : [[key, without(inner, rest)]];
    }),
  );
}

function issueSentence(issue: { message: string }): string {
  const text = issueText(issue);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Names what stood in a file and is not in what was read from it. */
function nameUnknown(raw: unknown, read: unknown, at: string, findings: Findings): void {
  if (Array.isArray(raw) && Array.isArray(read) && raw.length === read.length)
    for (const [position, item] of raw.entries())
      nameUnknown(item, read[position], join(at, position), findings);
  if (!isRaw(raw) || !isRaw(read)) return;
  for (const [key, inner] of Object.entries(raw)) {
    if (inner === undefined || (inner === null && read[key] === undefined)) continue;
    if (Object.hasOwn(read, key)) nameUnknown(inner, read[key], join(at, key), findings);
    else findings.dropped(join(at, key), `Unknown field "${key}" was left out.`);
  }
}

/** The first of several names under which a value stands; moves it to the first name and says so. */
export function renameField(raw: Raw, names: readonly [string, ...string[]]): void {
  const [name, ...others] = names;
  for (const other of others) {
    if (!Object.hasOwn(raw, other)) continue;
    if (raw[name] === undefined) {
      raw[name] = raw[other];
      delete raw[other];
    } else if (JSON.stringify(raw[name]) === JSON.stringify(raw[other])) delete raw[other];
  }
}

/** Without fields that say null: files from Python write what is absent so. */
export function withoutNulls(raw: Raw): Raw {
  return Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== null));
}
