import { sizeOf } from "@/server/domain/base/sizes";
import type { Json } from "@/server/domain/base/values";
import type { Work } from "@/server/domain/base/work-budget";

/** The values that a template can name: where they are found, and how they read in a text. */

export interface TemplateScope {
  state: Readonly<Record<string, Json>>;
  /** Looked at before the state. */
  input?: Readonly<Record<string, Json>>;
  /** What "now" is for the filter `date`: the recorded time of the step, Unix time in milliseconds. */
  now?: number | undefined;
}

export type Value = Json | undefined;

/** The value at a path: of the input, else of the state. */
export function find(path: readonly string[], scope: TemplateScope): Json | undefined {
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
export const at = (value: Value, index: number): Value =>
  Array.isArray(value) ? value.at(index) : undefined;

export function sizeIn(value: Value): number {
  if (typeof value === "string" || Array.isArray(value)) return value.length;
  return value !== null && typeof value === "object" ? Object.keys(value).length : 0;
}

/** A value as template text: text as it is, null and undefined as "", the rest as JSON. */
export function toText(work: Work, value: Value): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : jsonText(work, value);
}

export function jsonText(work: Work, value: Json): string {
  work.read(sizeOf(value), 2);
  return JSON.stringify(value);
}

/** Whether there is nothing to write. */
export function isBlank(value: Value): boolean {
  if (value === undefined || value === null || value === false || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}
