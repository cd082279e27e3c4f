import { defined } from "@/server/domain/base/defined";
import { isList } from "@/server/domain/base/guards";
import { isSameJson, parseJson } from "@/server/domain/base/json";
import type { Json, JsonObject, JsonSchema } from "@/server/domain/base/values";

/** A property of an object schema, as shown in the form. */
export interface SchemaRow {
  name: string;
  type: SchemaType;
  required: boolean;
  description: string;
  /** The options of type `choice`. */
  choices: readonly string[];
  /** The default as entered: JSON or text. Empty if there is none. */
  preset: string;
  /** Keywords that the row does not show, kept unchanged. */
  rest: JsonObject;
  /** The schema of type `json`, which no other type can represent. */
  json?: Json;
}

export const schemaTypes = [
  "string",
  "choice",
  "number",
  "integer",
  "boolean",
  "texts",
  "array",
  "object",
  "any",
  "json",
] as const;
export type SchemaType = (typeof schemaTypes)[number];

export const SCHEMA_TYPE_LABELS: Record<SchemaType, string> = {
  string: "Text",
  choice: "Choice",
  number: "Number",
  integer: "Whole number",
  boolean: "Yes or no",
  texts: "List of text",
  array: "List",
  object: "Object",
  any: "Anything",
  json: "As JSON",
};

/** A schema as rows, or why it can only be shown as JSON. */
export type SchemaReading = { rows: SchemaRow[]; reason: null } | { rows: null; reason: string };

/** The properties of an object schema as rows. The conversion is lossless. */
export function readSchema(schema: JsonSchema | null | undefined): SchemaReading {
  if (!schema) return { rows: [], reason: null };
  const { type = "object", properties = {}, required = [] } = schema;
  if (type !== "object") return asJson("it doesn't describe an object");
  if (!isRecord(properties)) return asJson("its “properties” isn't an object");
  if (!Array.isArray(required)) return asJson("its “required” isn't a list of names");
  return {
    rows: Object.entries(properties).map(([name, property]) =>
      readRow(name, property, required.includes(name)),
    ),
    reason: null,
  };
}

const asJson = (reason: string): SchemaReading => ({
  rows: null,
  reason: `Shown as JSON because ${reason}.`,
});

/** Rows as an object schema, merged with its other keywords; undefined if it is empty. */
export function writeSchema(rows: readonly SchemaRow[], before?: JsonSchema | null): JsonSchema | undefined {
  const { type: _type, properties, required, ...others } = before ?? {};
  // Keep required names that have no property, and so no row.
  const undeclared = (isList(required) ? required : []).filter(
    (name) => !(isRecord(properties) && typeof name === "string" && Object.hasOwn(properties, name)),
  );
  if (rows.length === 0 && undeclared.length === 0 && Object.keys(others).length === 0) return undefined;
  const must = [...rows.filter((row) => row.required).map(({ name }) => name), ...undeclared];
  return {
    ...others,
    type: "object",
    properties: Object.fromEntries(rows.map((row) => [row.name, writeRow(row)])),
    ...defined({ required: must.length > 0 ? must : undefined }),
  };
}

/** The keywords of a schema that its rows do not show. */
export const unlistedKeywords = (schema: JsonSchema | undefined): string[] =>
  Object.keys(schema ?? {}).filter((key) => !["type", "properties", "required"].includes(key));

export const newRow = (name: string): SchemaRow => ({
  name,
  type: "string",
  required: false,
  description: "",
  choices: [],
  preset: "",
  rest: {},
});

/** Keywords that a change of type replaces. */
const OF_TYPE = ["type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf", "not", "items", "properties"];

/** Changes the type of a row, dropping the keywords of the former type. */
export function withType(row: SchemaRow, type: SchemaType): SchemaRow {
  const source = isRecord(row.json) ? row.json : row.rest;
  const rest = Object.fromEntries(Object.entries(source).filter(([word]) => !OF_TYPE.includes(word)));
  const next = row.json === undefined ? { ...row, type, rest } : withAnnotations({ ...row, type, rest });
  delete next.json;
  if (type === "json") return { ...next, json: writeRow(row) };
  // A choice needs options: placeholders show where to enter them.
  if (type === "choice")
    return {
      ...next,
      choices: row.choices.length > 0 ? row.choices : ["yes", "no"],
      rest: { ...next.rest, type: "string" },
    };
  return next;
}

/** The row of a property. The conversion is lossless. */
export function readRow(name: string, property: Json, required: boolean): SchemaRow {
  const base = { ...newRow(name), required };
  const row = isRecord(property) ? readProperty(base, property) : null;
  return row && isSameJson(writeRow(row), property) ? row : { ...base, type: "json", json: property };
}

/** The row of a property; null if no type fits. */
function readProperty(base: SchemaRow, property: JsonObject): SchemaRow | null {
  if (["$ref", "anyOf", "oneOf", "allOf", "not", "const"].some((word) => word in property)) return null;
  const { type, ...rest } = property;
  if ("enum" in property) {
    const { enum: choices, ...others } = property;
    const areTexts = Array.isArray(choices) && choices.every(isLine);
    return areTexts && (type === undefined || type === "string")
      ? withAnnotations({ ...base, type: "choice", choices, rest: others })
      : null;
  }
  if (type === undefined) return withAnnotations({ ...base, type: "any", rest });
  const isTexts = type === "array" && isSameJson(rest.items ?? null, { type: "string" });
  if (isTexts) delete rest.items;
  const known = isTexts ? "texts" : PLAIN.find((plain) => plain === type);
  return known ? withAnnotations({ ...base, type: known, rest }) : null;
}

const PLAIN = ["string", "number", "integer", "boolean", "array", "object"] as const;

/** Separates the description and default from the keywords that the row does not show. */
function withAnnotations(row: SchemaRow): SchemaRow {
  const { description, default: preset, ...rest } = row.rest;
  return {
    ...row,
    description: typeof description === "string" ? description : "",
    preset: preset === undefined ? "" : presetText(preset, row.type),
    rest: {
      ...rest,
      // An empty default would look like none, so it stays in `rest`.
      ...defined({
        description: description === "" ? description : undefined,
        default: preset === "" ? preset : undefined,
      }),
    },
  };
}

/** The property of a row. */
export function writeRow({ type, description, choices, preset, rest, json }: SchemaRow): Json {
  if (type === "json") return json ?? null;
  const shape: JsonObject =
    type === "any"
      ? {}
      : type === "choice"
        ? { enum: [...choices] }
        : type === "texts"
          ? { type: "array", items: { type: "string" } }
          : { type };
  return {
    ...rest,
    ...shape,
    ...defined({
      description: description || undefined,
      default: preset === "" ? undefined : presetValue(preset, type),
    }),
  };
}

const isText = (type: SchemaType) => type === "string" || type === "choice";

function presetText(preset: Json, type: SchemaType): string {
  return typeof preset === "string" && (isText(type) || presetValue(preset, type) === preset)
    ? preset
    : JSON.stringify(preset);
}

/** The value of an entered default. */
export function presetValue(preset: string, type: SchemaType): Json {
  if (isText(type)) return preset;
  try {
    return parseJson(preset);
  } catch {
    return preset;
  }
}

/** Why an entered default does not fit its type; null if it does. */
export function presetError({
  preset,
  type,
  choices,
}: Pick<SchemaRow, "preset" | "type"> & Partial<Pick<SchemaRow, "choices">>): string | null {
  if (preset === "") return null;
  if (type === "choice") return choices?.includes(preset) ? null : "Enter one of the options.";
  const check = PRESET_CHECKS[type];
  return !check || check.fits(presetValue(preset, type)) ? null : check.error;
}

const PRESET_CHECKS: Partial<Record<SchemaType, { fits: (value: Json) => boolean; error: string }>> = {
  number: { fits: (value) => typeof value === "number", error: "Enter a number." },
  integer: { fits: Number.isInteger, error: "Enter a whole number." },
  boolean: { fits: (value) => typeof value === "boolean", error: "Enter true or false." },
  array: { fits: Array.isArray, error: "Enter a JSON array: [ … ]" },
  texts: {
    fits: (value) => Array.isArray(value) && value.every((one) => typeof one === "string"),
    error: 'Enter a JSON array of strings: ["…"]',
  },
  object: { fits: (value) => isRecord(value), error: "Enter a JSON object: { … }" },
};

/** The choices in a text, one per line. */
export const choicesOfText = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** Why the lines of a text are invalid choices; null if they are valid. */
export function choicesError(text: string): string | null {
  const choices = choicesOfText(text);
  if (choices.length === 0) return "Enter at least one option.";
  return new Set(choices).size < choices.length ? "Each option must be unique." : null;
}

/** Whether a choice can be written as one line of text. */
const isLine = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value === value.trim() && !value.includes("\n");

const isRecord = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === "object" && !Array.isArray(value);
