import type { Json, JsonSchema } from "@/server/domain/base/values";

/** A property of an object as a person describes it. */
export interface SchemaRow {
  name: string;
  type: SchemaType;
  required: boolean;
  description: string;
  /** As it was typed: JSON, or else text. Empty: none. */
  preset: string;
  /** What the row does not show, kept as it is. */
  rest: Record<string, unknown>;
}

export const schemaTypes = ["string", "number", "integer", "boolean", "array", "object", "any"] as const;
export type SchemaType = (typeof schemaTypes)[number];

export const SCHEMA_TYPE_LABELS: Record<SchemaType, string> = {
  string: "Text",
  number: "Number",
  integer: "Whole number",
  boolean: "Yes or no",
  array: "List",
  object: "Object",
  any: "Anything",
};

/** The properties of an object schema as rows; null where it is something else, which only its JSON can show. */
export function readSchema(schema: JsonSchema | null | undefined): SchemaRow[] | null {
  if (!schema) return [];
  if (schema.type !== undefined && schema.type !== "object") return null;
  const properties = schema.properties ?? {};
  if (typeof properties !== "object" || properties === null || Array.isArray(properties)) return null;
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const rows: SchemaRow[] = [];
  for (const [name, property] of Object.entries(properties)) {
    if (typeof property !== "object" || property === null || Array.isArray(property)) return null;
    const { type, description, default: preset, ...rest } = property as Record<string, unknown>;
    const known = schemaTypes.find((known) => known === type);
    if (type !== undefined && !known) return null;
    rows.push({
      name,
      type: known ?? "any",
      required: required.has(name),
      description: typeof description === "string" ? description : "",
      preset: preset === undefined ? "" : typeof preset === "string" ? preset : JSON.stringify(preset),
      rest,
    });
  }
  return rows;
}

/** Rows as an object schema on top of what else it says; undefined if nothing is left of it. */
export function writeSchema(rows: readonly SchemaRow[], before?: JsonSchema | null): JsonSchema | undefined {
  const { type: _type, properties: _properties, required: _required, ...others } = before ?? {};
  const named = rows.filter(({ name }) => name !== "");
  if (named.length === 0 && Object.keys(others).length === 0) return undefined;
  const required = named.filter((row) => row.required).map(({ name }) => name);
  return {
    ...others,
    type: "object",
    properties: Object.fromEntries(named.map((row) => [row.name, writeRow(row)])),
    ...(required.length > 0 ? { required } : {}),
  };
}

function writeRow({ type, description, preset, rest }: SchemaRow): Record<string, unknown> {
  return {
    ...rest,
    ...(type === "any" ? {} : { type }),
    ...(description ? { description } : {}),
    ...(preset === "" ? {} : { default: presetValue(preset, type) }),
  };
}

/** What a typed default means for a type. */
export function presetValue(preset: string, type: SchemaType): Json {
  if (type === "string") return preset;
  try {
    return JSON.parse(preset) as Json;
  } catch {
    return preset;
  }
}

/** Why a typed default does not fit its type; null if it does. */
export function presetFault({ preset, type }: Pick<SchemaRow, "preset" | "type">): string | null {
  if (preset === "" || type === "string" || type === "any") return null;
  const value = presetValue(preset, type);
  const fits = {
    number: typeof value === "number",
    integer: Number.isInteger(value),
    boolean: typeof value === "boolean",
    array: Array.isArray(value),
    object: typeof value === "object" && value !== null && !Array.isArray(value),
  }[type];
  if (fits) return null;
  return {
    number: "A number",
    integer: "A whole number",
    boolean: "true or false",
    array: "JSON: [ … ]",
    object: "JSON: { … }",
  }[type];
}
