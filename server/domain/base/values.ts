import { z } from "zod";

/** Words that name something on every object's prototype; as keys they are how prototype pollution begins. */
const FORBIDDEN = new Set(["__proto__", "prototype", "constructor"]);

/** An identifier in a workflow file: nodes, edges, agents, tasks. */
export const Id = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/, "Use letters, digits, _ . - and start with a letter (at most 64)")
  .refine((id) => !FORBIDDEN.has(id), "This word is reserved");
export type Id = z.infer<typeof Id>;

/** A key of the run's state. */
export const StateKey = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, "Use letters, digits and _ (at most 64), no spaces")
  .refine((key) => !FORBIDDEN.has(key), "This word is reserved");

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export const Json: z.ZodType<Json> = z.json();
export type JsonObject = { [key: string]: Json };
export const JsonObject: z.ZodType<JsonObject> = z.record(z.string(), Json);

/** JSON Schema, draft 2020-12 or an older one; server/domain/schema checks by it. */
export const JsonSchema = z.record(z.string(), z.unknown());
export type JsonSchema = z.infer<typeof JsonSchema>;

/**
 * A CEL expression; see expression.ts. Its length is for the check of the drawing to judge, which makes an error of it:
 * a schema that refuses it would have it left out of a file, and an edge without its condition is always taken.
 */
export const Expr = z.string();

/** A text with values in {{ }}; see template.ts. As with an expression, the check of the drawing judges its length. */
export const Template = z.string();

/** A duration in whole milliseconds. */
export const Ms = z.number().int().nonnegative();

/** A record without a prototype: `record["constructor"]` is undefined, as it should be. */
export function newRecord<T>(
  entries?: Iterable<readonly [string, T]> | Record<string, T>,
): Record<string, T> {
  const record = Object.create(null) as Record<string, T>;
  if (!entries) return record;
  const pairs = Symbol.iterator in entries ? entries : Object.entries(entries);
  for (const [key, value] of pairs) record[key] = value;
  return record;
}

/** The value of a JSON text. Throws SyntaxError where it is none. */
export const parseJson = (text: string): Json => JSON.parse(text) as Json;

/** A value as it comes back from the log: what its JSON says of it. */
export const asStored = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** Whether two JSON values are the same, whatever the order of their keys. */
export function isSameJson(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

/** JSON text with sorted keys: equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === "object" && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : inner,
  );
}

/** Every text in a value, with the names of its fields left out. */
export function textsIn(value: Json): string[] {
  if (typeof value === "string") return [value];
  if (value === null || typeof value !== "object") return typeof value === "number" ? [String(value)] : [];
  return (Array.isArray(value) ? value : Object.values(value)).flatMap((each) =>
    each === undefined ? [] : textsIn(each),
  );
}
