import { isList } from "@/server/domain/base/guards";
import type { JsonSchema } from "@/server/domain/base/values";
import { WorkError } from "@/server/domain/base/work-budget";
import { Work } from "../regex/work";
import { type Node, Run, type ValidationError, type Verdict } from "./check";
import { compile, type Unchecked } from "./compile";
import { isObject } from "./values";

export type { ValidationError as Fault } from "./check";
export type { Unchecked } from "./compile";

/**
 * The only entry point for JSON Schema. Schemas and values may be untrusted: whatever they hold, a check takes tens of
 * milliseconds at most, generates no code and fetches nothing.
 */
export interface Schema {
  /** The parts that aren't checked; they reject nothing. */
  readonly unchecked: readonly Unchecked[];
  /** What is wrong with a value, the first eight faults; empty where it fits. `work`: shared by several checks. */
  errors(value: unknown, work?: Work): ValidationError[];
  /** Whether a value fits; quicker than asking for the faults. */
  fits(value: unknown, work?: Work): boolean;
  /** The value with what its schema has as defaults where something is missing. */
  withDefaults(value: unknown): unknown;
}

/** Steps that one check may take: below 50 ms of a slow machine's thread, judged by the kinds that cost most (bench/freezing.ts). */
const MAX_WORK = 1_200_000;
/** What one check may take, or all that one answer needs. */
export const newWork = () => new Work(MAX_WORK);
const TOO_MUCH = "takes too much work to check by its JSON Schema: make it smaller, or the schema simpler";

/** How many schemas are kept ready; those of living objects are kept with them. */
const KEPT = 200;
const byObject = new WeakMap<object, Schema>();
const byText = new Map<string, Schema>();

/** A schema ready to be checked, made once for equal ones. Never throws; the schema must not be changed afterwards. */
export function readSchema(schema: JsonSchema | boolean): Schema {
  if (typeof schema === "boolean") return make(schema);
  const known = byObject.get(schema);
  if (known) return known;
  const text = textOf(schema);
  const made = (text !== null && byText.get(text)) || make(schema);
  byObject.set(schema, made);
  if (text !== null) {
    if (byText.size >= KEPT) byText.delete(byText.keys().next().value ?? "");
    byText.set(text, made);
  }
  return made;
}

const MAX_KEPT_CHARS = 100_000;
function textOf(schema: JsonSchema): string | null {
  try {
    const text = JSON.stringify(schema);
    return text.length > MAX_KEPT_CHARS ? null : text;
  } catch {
    return null; // Nested too deep, or no JSON; it is not checked then.
  }
}

function make(schema: JsonSchema | boolean): Schema {
  const { root, unchecked } = compile(schema);
  const run = (
    value: unknown,
    wantsErrors: boolean,
    work: Work = newWork(),
  ): { verdict: Verdict; errors: ValidationError[] } => {
    const one = new Run(work, wantsErrors);
    try {
      const verdict = one.check(root, value, null, null);
      return { verdict, errors: verdict === "no" ? (one.errors ?? []) : [] };
    } catch (error) {
      if (!(error instanceof WorkError)) throw error;
      return { verdict: "no", errors: [{ path: [], message: TOO_MUCH }] };
    }
  };
  return {
    unchecked,
    errors: (value, work) => run(value, true, work).errors,
    fits: (value, work) => run(value, false, work).verdict !== "no",
    withDefaults: (value) => {
      try {
        return filled(root, value, newWork(), 0);
      } catch (error) {
        if (error instanceof WorkError) return value;
        throw error;
      }
    },
  };
}

const MAX_DEPTH = 200;

function filled(node: Node, value: unknown, work: Work, depth: number): unknown {
  work.spend(8);
  if (depth > MAX_DEPTH || node.isEndless) return value;
  let result = value;
  for (const always of node.always) result = filled(always, result, work, depth + 1);
  if (isList(result) && node.items) {
    const { items } = node;
    return result.map((item) => filled(items, item, work, depth + 1));
  }
  if (!isObject(result) || node.properties.size === 0) return result;
  work.spend(Object.keys(result).length + node.properties.size);
  const whole: Record<string, unknown> = { ...result };
  for (const [key, inner] of node.properties) {
    const there = Object.hasOwn(whole, key) && whole[key] !== undefined;
    if (!there && inner.standard === undefined) continue;
    // One default may be written into many places.
    if (!there) work.spend(JSON.stringify(inner.standard).length);
    const next = filled(inner, there ? whole[key] : structuredClone(inner.standard), work, depth + 1);
    // A key that reaches prototypes is one like any other here.
    Object.defineProperty(whole, key, { value: next, enumerable: true, writable: true, configurable: true });
  }
  return whole;
}

/** Faults as people and models read them: the place, and what is wrong there. */
export const errorTexts = (errors: readonly ValidationError[]): string[] =>
  errors.map(({ path, message }) => (path.length > 0 ? `${placeText(path)}: ${message}` : message));

const MAX_KEY = 80;
/** The dotted path to a part of a value; keys are untrusted and may be long. */
export const placeText = (path: ValidationError["path"]): string =>
  path
    .map(String)
    .map((key) => (key.length > MAX_KEY ? `${key.slice(0, MAX_KEY)}…` : key))
    .join(".");
