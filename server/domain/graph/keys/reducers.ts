import { canonicalJson } from "@/server/domain/base/json";
import { present } from "@/server/domain/base/must";
import type { Json, JsonObject } from "@/server/domain/base/values";
import { isReducer, type Reducer } from "./state-properties";

const isObject = (value: Json | undefined): value is JsonObject =>
  value !== null && typeof value === "object" && !Array.isArray(value);
const asList = (value: Json | undefined): Json[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];

type Merge = (present: Json | undefined, value: Json) => Json;

const onNumbers =
  (merge: (present: number, value: number) => number): Merge =>
  (present, value) =>
    typeof present === "number" && typeof value === "number" ? merge(present, value) : value;

const MERGES: Readonly<Record<Reducer, Merge>> = {
  last: (_present, value) => value,
  first: (present, value) => present ?? value,
  append: (present, value) => [...asList(present), ...asList(value)],
  union(present, value) {
    const seen = new Set<string>();
    return [...asList(present), ...asList(value)].filter((item) => {
      const text = canonicalJson(item);
      return !seen.has(text) && seen.add(text);
    });
  },
  concat_text: (present, value) =>
    present === undefined || present === null ? value : `${asText(present)}${asText(value)}`,
  merge: (present, value) => (isObject(present) && isObject(value) ? { ...present, ...value } : value),
  deep_merge: (present, value) => deepMerge(present, value, 0),
  add: onNumbers((present, value) => present + value),
  max: onNumbers(Math.max),
  min: onNumbers(Math.min),
};

/**
 * Merges a written value into the present one by the reducer of its key. Values that don't fit the reducer replace, so
 * that no run fails because of a merge.
 */
export const reduceValue = (reducer: string, present: Json | undefined, value: Json): Json =>
  isReducer(reducer) ? MERGES[reducer](present, value) : value;

/** Merges several values one after another, as reduceValue would. */
export function reduceAll(reducer: string, base: Json | undefined, values: readonly Json[]): Json {
  if (reducer !== "append" && reducer !== "union")
    return present(
      values.reduce<Json | undefined>((all, value) => reduceValue(reducer, all, value), base),
      "a value to merge",
    );
  // All items at once: one by one, each would copy the whole list.
  return reduceValue(reducer, base, values.flatMap(asList));
}

const asText = (value: Json) => (typeof value === "string" ? value : JSON.stringify(value));

function deepMerge(present: Json | undefined, value: Json, depth: number): Json {
  if (!isObject(present) || !isObject(value) || depth > 32) return value;
  const merged: JsonObject = { ...present };
  for (const [key, added] of Object.entries(value)) {
    if (key === "__proto__") continue;
    merged[key] = deepMerge(Object.hasOwn(present, key) ? present[key] : undefined, added, depth + 1);
  }
  return merged;
}
