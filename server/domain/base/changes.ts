import { defined } from "@/server/domain/base/defined";
import { must, present } from "@/server/domain/base/must";
import { asStored, newRecord } from "./json";
import { sizeOf } from "./sizes";
import type { Json, JsonObject } from "./values";

/**
 * A change of a value, where that is shorter than the value: a part of a text or a list that is replaced (`at`: its
 * offset; `drop`: its length), or the keys of an object that are set, changed and gone.
 */
export type Change =
  | { at: number; drop: number; text: string }
  | { at: number; drop: number; items: Json[] }
  | { set?: JsonObject; changed?: Record<string, Change>; gone?: string[] };

/** Characters; smaller values are written whole. */
export const WORTH_REFERRING = 256;

const isObject = (value: Json | undefined): value is JsonObject =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** The change from one value to another; null if it isn't much shorter than the new value. */
export function changeOf(before: Json | undefined, after: Json): Change | null {
  const size = sizeOf(after);
  if (before === undefined || size < WORTH_REFERRING) return null;
  const change = difference(before, after, 0);
  return change && sizeOf(change) < size / 2 ? change : null;
}

function difference(before: Json, after: Json, depth: number): Change | null {
  if (typeof before === "string" && typeof after === "string") {
    const { head, tail } = after.startsWith(before)
      ? { head: before.length, tail: 0 }
      : common(before, after, (x, y) => before.charCodeAt(x) === after.charCodeAt(y));
    return {
      at: head,
      drop: before.length - head - tail,
      text: ownText(after.slice(head, after.length - tail)),
    };
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const { head, tail } = common(before, after, (x, y) => isEqual(must(before, x), must(after, y)));
    return { at: head, drop: before.length - head - tail, items: after.slice(head, after.length - tail) };
  }
  return isObject(before) && isObject(after) && depth < 8 ? objectChange(before, after, depth) : null;
}

function objectChange(before: JsonObject, after: JsonObject, depth: number): Change | null {
  const set: JsonObject = {};
  const changed: Record<string, Change> = {};
  for (const key of Object.keys(after)) {
    const [old, now] = [Object.hasOwn(before, key) ? before[key] : undefined, must(after, key)];
    if (old !== undefined && isEqual(old, now)) continue;
    const inner = old === undefined || sizeOf(now) < WORTH_REFERRING ? null : difference(old, now, depth + 1);
    if (inner && sizeOf(inner) < sizeOf(now) / 2) changed[key] = inner;
    else set[key] = now;
  }
  const gone = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  const change: Change = defined({
    set: isEmpty(set) ? undefined : set,
    changed: isEmpty(changed) ? undefined : changed,
    gone: gone.length > 0 ? gone : undefined,
  });
  // Keys keep their places and new ones come last; an object with another order is written whole.
  const order = [...Object.keys(before).filter((key) => Object.hasOwn(after, key)), ...Object.keys(set)];
  return Object.keys(after).every((key, at) => [...new Set(order)][at] === key) ? change : null;
}

/** Whether a change changes nothing. */
export const isNothing = (change: Change): boolean =>
  "text" in change || "items" in change
    ? change.drop === 0 && ("text" in change ? change.text : change.items).length === 0
    : isEmpty(change);

/** The changed value; the given one stays. Throws TypeError if the change is for another type of value. */
export function changed(before: Json | undefined, change: Change): Json {
  if ("text" in change) {
    if (typeof before !== "string") throw new TypeError("A text change applies only to text.");
    return before.slice(0, change.at) + change.text + before.slice(change.at + change.drop);
  }
  if ("items" in change) {
    if (!Array.isArray(before)) throw new TypeError("A list change applies only to a list.");
    return [...before.slice(0, change.at), ...change.items, ...before.slice(change.at + change.drop)];
  }
  if (!isObject(before)) throw new TypeError("An object change applies only to an object.");
  const after: JsonObject = {};
  const gone = new Set(change.gone);
  for (const key of Object.keys(before)) if (!gone.has(key)) put(after, key, must(before, key));
  for (const [key, inner] of Object.entries(change.changed ?? {}))
    put(after, key, changed(before[key], inner));
  for (const [key, value] of Object.entries(change.set ?? {})) put(after, key, value);
  return after;
}

/** Sets a key of any name, also `__proto__`. */
function put(record: JsonObject, key: string, value: Json): void {
  Object.defineProperty(record, key, { value, enumerable: true, configurable: true, writable: true });
}

function common(
  before: { length: number },
  after: { length: number },
  isSame: (x: number, y: number) => boolean,
): { head: number; tail: number } {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && isSame(head, head)) head++;
  let tail = 0;
  while (tail < most - head && isSame(before.length - 1 - tail, after.length - 1 - tail)) tail++;
  return { head, tail };
}

/** A copy of a part of a text, so that the whole text isn't kept in memory. */
const ownText = (text: string): string => asStored(text);

function isEqual(one: Json, other: Json): boolean {
  if (one === other) return true;
  if (one === null || other === null || typeof one !== "object" || typeof other !== "object") return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const others = Object.entries(other);
  return (
    Object.keys(one).length === others.length &&
    Object.entries(one).every(([key, value], at) => {
      const [otherKey, otherValue] = must(others, at);
      return otherKey === key && isEqual(value, otherValue);
    })
  );
}

function isEmpty(record: object): boolean {
  for (const _key in record) return false;
  return true;
}

/**
 * A former value of a state key, stored as the change from the one before. A run that changes a long value a thousand
 * times keeps a thousand changes, not a thousand long values.
 */
export interface Version {
  before: Version | null;
  make: (before: Json | undefined) => Json;
}

/** The value of a version, computed each time. */
export function valueOf(version: Version): Json {
  const steps: Version[] = [];
  for (let at: Version | null = version; at; at = at.before) steps.push(at);
  let value: Json | undefined;
  for (let at = steps.length - 1; at >= 0; at--) value = must(steps, at).make(value);
  return present(value, "value");
}

/** A record of plain values and of versions, whose values are computed when they are read. */
export function withVersions(
  plain: JsonObject,
  versions: Readonly<Record<string, Version>>,
  keys: readonly string[] | undefined,
): JsonObject {
  if (!keys || keys.length === 0) return plain;
  const record = newRecord(plain);
  for (const key of keys) {
    const version = versions[key];
    if (version) Object.defineProperty(record, key, { enumerable: true, get: () => valueOf(version) });
  }
  return record;
}
