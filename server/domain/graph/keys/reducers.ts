import { canonicalJson } from "@/server/domain/base/json";
import { present } from "@/server/domain/base/must";
import type { Json, JsonObject } from "@/server/domain/base/values";
import { isReducer } from "./state-properties";

const isObject = (value: Json | undefined): value is JsonObject =>
  value !== null && typeof value === "object" && !Array.isArray(value);
const asList = (value: Json | undefined): Json[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];

/**
 * Merges a written value into the present one, as the reducer of its key says. Values that do not fit the
 * reducer replace, so that a run never dies of a merge.
 */
export function reduceValue(reducer: string, present: Json | undefined, value: Json): Json {
  if (!isReducer(reducer)) return value;
  switch (reducer) {
    case "append":
      return [...asList(present), ...asList(value)];
    case "union": {
      const seen = new Set<string>();
      return [...asList(present), ...asList(value)].filter((item) => {
        const text = canonicalJson(item);
        return !seen.has(text) && seen.add(text);
      });
    }
    case "concat_text":
      return present === undefined || present === null ? value : `${asText(present)}${asText(value)}`;
    case "merge":
      return isObject(present) && isObject(value) ? { ...present, ...value } : value;
    case "deep_merge":
      return deepMerge(present, value, 0);
    case "add":
      return typeof present === "number" && typeof value === "number" ? present + value : value;
    case "max":
      return typeof present === "number" && typeof value === "number" ? Math.max(present, value) : value;
    case "min":
      return typeof present === "number" && typeof value === "number" ? Math.min(present, value) : value;
    case "first":
      return present === undefined || present === null ? value : present;
    case "last":
      return value;
  }
}

/** Merges several values one after another, as reduceValue would. */
export function reduceAll(reducer: string, base: Json | undefined, values: readonly Json[]): Json {
  if (reducer !== "append" && reducer !== "union")
    return present(
      values.reduce<Json | undefined>((all, value) => reduceValue(reducer, all, value), base),
      "a value to merge",
    );
  // All items at once: one by one each would copy the whole list.
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
