import { defined } from "@/server/domain/base/defined";
import { isObject } from "@/server/domain/base/guards";
import { enumOf } from "@/server/domain/base/json-schema";
import { must } from "@/server/domain/base/must";
import type { Json, JsonObject, JsonSchema } from "@/server/domain/base/values";
import type { RunInputField } from "./run-input";

/** The fields of a form from a schema of an object with plain values. */
export function fieldsOfSchema(schema: JsonSchema): RunInputField[] {
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(objectOf(schema.properties) ?? {}).map(([key, field]) => {
    const own = objectOf(field) ?? {};
    return {
      key,
      schema: own,
      required: required.includes(key),
      ...defined({ default: own.default }),
    };
  });
}

/** One option of a field: its value and label. */
export interface Choice {
  value: Json;
  title: string;
}

/** What a field lets people choose from; undefined where it takes anything. */
export function choicesOf(schema: JsonSchema): Choice[] | undefined {
  const named = [schema.oneOf, schema.anyOf].find(
    (list): list is JsonObject[] =>
      Array.isArray(list) && list.length > 0 && list.every((one) => objectOf(one)?.const !== undefined),
  );
  if (named)
    return named.map((one) => ({
      value: must(one, "const"),
      title: textOf(one.title, must(one, "const")),
    }));
  if (!Array.isArray(schema.enum) || schema.enum.length === 0) return undefined;
  const names: unknown[] = Array.isArray(schema.enumNames) ? schema.enumNames : [];
  return (enumOf(schema) ?? []).map((value, at) => ({ value, title: textOf(names[at], value) }));
}

const textOf = (title: unknown, value: Json) =>
  typeof title === "string" && title !== ""
    ? title
    : typeof value === "string"
      ? value
      : JSON.stringify(value);

export const objectOf = (value: Json | undefined): JsonObject | undefined =>
  isObject(value) ? value : undefined;
