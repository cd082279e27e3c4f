import type { Json, JsonObject } from "./values";

/** The type itself where JSON can hold its values as they are; `never` where it holds a function, a Date, a Map, or `unknown`. */
type Storable<T> = T extends Json | undefined
  ? T
  : unknown extends T
    ? never
    : T extends (...args: never[]) => unknown
      ? never
      : T extends object
        ? { [K in keyof T]: Storable<T[K]> }
        : never;

/** A value as JSON. The compiler checks what it cannot by itself: that an interface has nothing in it that JSON has not. */
export const asJson = <T>(value: T & Storable<T>): JsonOf<T> => value as unknown as JsonOf<T>;
type JsonOf<T> = T extends readonly unknown[] ? Json[] : T extends object ? JsonObject : Json;

/** A record without a prototype: `record["constructor"]` is undefined, as it should be. */
export function newRecord<T>(
  entries?: Iterable<readonly [string, T]> | Record<string, T>,
): Record<string, T> {
  // What is made without a prototype has no type of its own.
  const record = Object.create(null) as Record<string, T>;
  if (!entries) return record;
  const pairs = Symbol.iterator in entries ? entries : Object.entries(entries);
  for (const [key, value] of pairs) record[key] = value;
  return record;
}

/**
 * The value of a JSON text, which is JSON whatever it is. Throws SyntaxError where it is none. `revive`: what becomes of
 * each value in it, the inner ones first; undefined leaves it out.
 */
export const parseJson = (
  text: string,
  revive?: (this: unknown, key: string, value: Json) => Json | undefined,
): Json => JSON.parse(text, revive) as Json;

/** A value as it comes back from the log: what its JSON says of it. For values that JSON can hold, whose type it keeps. */
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
export function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (value === null || typeof value !== "object") return typeof value === "number" ? [String(value)] : [];
  return Object.values(value).flatMap(textsIn);
}
