import type { JsonSchema } from "@/server/domain/base/values";

export const fieldTypes = ["text", "choice", "number", "whole", "yes_no", "list", "object"] as const;
export type FieldType = (typeof fieldTypes)[number];

/** One property of an object schema in a form that people can fill in. */
export interface SchemaField {
  name: string;
  type: FieldType;
  required: boolean;
  description: string;
  /** For `choice`. */
  choices: string[];
}

/** The fields of a schema, or null where it says more than fields can: then it is edited as JSON. */
export function toFields(schema: JsonSchema | undefined): SchemaField[] | null {
  if (!schema) return [];
  const { type, properties, required, ...rest } = schema;
  const known = ["additionalProperties", "title", "description", "$schema"];
  if (type !== "object" || Object.keys(rest).some((key) => !known.includes(key))) return null;
  // What the fields cannot show would be lost on the way back.
  if (Object.keys(rest).length > 0) return null;
  if (properties === undefined) return [];
  if (!isRecord(properties)) return null;
  const must = Array.isArray(required) ? required : [];
  const fields = Object.entries(properties).map(([name, property]) =>
    toField(name, property, must.includes(name)),
  );
  return fields.some((field) => field === null) ? null : (fields as SchemaField[]);
}

/** The schema of fields; undefined where there are none. */
export function fromFields(fields: readonly SchemaField[]): JsonSchema | undefined {
  const named = fields.filter(({ name }) => name.trim() !== "");
  if (named.length === 0) return undefined;
  const required = named.filter((field) => field.required).map(({ name }) => name);
  return {
    type: "object",
    properties: Object.fromEntries(named.map((field) => [field.name, fromField(field)])),
    ...(required.length > 0 ? { required } : {}),
  };
}

function toField(name: string, property: unknown, required: boolean): SchemaField | null {
  if (!isRecord(property)) return null;
  const { type, description = "", enum: choices, items, ...rest } = property;
  if (Object.keys(rest).length > 0 || typeof description !== "string") return null;
  const field = { name, required, description, choices: [] as string[] };
  if (type === "string" && isTextList(choices)) return { ...field, type: "choice", choices };
  if (choices !== undefined) return null;
  if (type === "array")
    return isRecord(items) && items.type === "string" && Object.keys(items).length === 1
      ? { ...field, type: "list" }
      : null;
  if (items !== undefined) return null;
  if (type === "string") return { ...field, type: "text" };
  if (type === "number") return { ...field, type: "number" };
  if (type === "integer") return { ...field, type: "whole" };
  if (type === "boolean") return { ...field, type: "yes_no" };
  if (type === "object") return { ...field, type: "object" };
  return null;
}

function fromField({ type, description, choices }: SchemaField): JsonSchema {
  const shape: Record<FieldType, JsonSchema> = {
    text: { type: "string" },
    choice: { type: "string", enum: choices.filter((choice) => choice.trim() !== "") },
    number: { type: "number" },
    whole: { type: "integer" },
    yes_no: { type: "boolean" },
    list: { type: "array", items: { type: "string" } },
    object: { type: "object" },
  };
  return { ...shape[type], ...(description ? { description } : {}) };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === "object" && !Array.isArray(value);
const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === "string");
