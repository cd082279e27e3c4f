import { must } from "@/server/domain/base/must";
import type { Json, JsonObject } from "@/server/domain/base/values";

/** What an agent said, in one value: its only output, or all of them. */
export function valueOf(output: JsonObject): Json {
  const values = Object.values(output);
  return values.length === 1 ? must(values, 0) : output;
}

export const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));
