import { isText, textsOf } from "@/server/domain/base/guards";
import { asSchema } from "@/server/domain/base/json-schema";
import type { Json, JsonSchema } from "@/server/domain/base/values";
import { mapSchema } from "../tool-calls/schema";

const MAX_PROPERTIES = 100;
const MAX_DEPTH = 5;
/** Keywords that strict mode refuses; they go into the description. */
const DESCRIBED_KEYWORDS = [
  "minLength",
  "maxLength",
  "pattern",
  "format",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minItems",
  "maxItems",
  "uniqueItems",
  "default",
];
const KEPT = new Set([
  "type",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "enum",
  "anyOf",
  "$ref",
  "$defs",
  "description",
]);

/**
 * The schema for strict mode: every property required, optional ones nullable, no unknown keywords. Null if the schema
 * can't be expressed that way.
 */
export function strictSchema(schema: JsonSchema): JsonSchema | null {
  try {
    const strict = mapSchema(schema, strictPart);
    return strict.type === "object" &&
      countProperties(strict) <= MAX_PROPERTIES &&
      depthOf(strict) <= MAX_DEPTH
      ? strict
      : null;
  } catch (error) {
    if (error instanceof NotStrict) return null;
    throw error;
  }
}

class NotStrict extends Error {}

const UNSUPPORTED = ["definitions", "allOf", "prefixItems", "patternProperties", "not", "if"];

function strictPart(schema: JsonSchema): JsonSchema {
  const part: JsonSchema = { ...schema };
  if (UNSUPPORTED.some((word) => part[word])) throw new NotStrict();
  if (part.oneOf) {
    part.anyOf = part.oneOf;
    delete part.oneOf;
  }
  if ("const" in part) {
    part.enum = [part.const];
    delete part.const;
  }
  const described = DESCRIBED_KEYWORDS.filter((word) => word in part).map(
    (word) => `${word}: ${JSON.stringify(part[word])}`,
  );
  if (described.length > 0)
    part.description = `${isText(part.description) ? `${part.description} ` : ""}(${described.join(", ")})`;
  for (const word of Object.keys(part)) if (!KEPT.has(word)) delete part[word];
  if (part.type === undefined && !part.anyOf && !part.$ref) part.type = typeOf(part.enum);
  const types = [part.type].flat();
  if (types.includes("array") && !part.items) throw new NotStrict();
  return types.includes("object") ? strictObject(part) : part;
}

/** The type, or types, of the values of an enum. */
function typeOf(values: Json | undefined): Json {
  if (!Array.isArray(values)) throw new NotStrict();
  const types = [...new Set(values.map((value): string => (value === null ? "null" : typeof value)))];
  return types.length === 1 ? (types[0] ?? null) : types;
}

function strictObject(part: JsonSchema): JsonSchema {
  const properties = asSchema(part.properties);
  if (
    Object.keys(properties).length === 0 ||
    (part.additionalProperties !== undefined && part.additionalProperties !== false)
  )
    throw new NotStrict();
  const required = new Set(textsOf(part.required));
  return {
    ...part,
    properties: Object.fromEntries(
      Object.entries(properties).map(([key, inner]) => [
        key,
        required.has(key) ? inner : orNull(asSchema(inner)),
      ]),
    ),
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

function orNull(schema: JsonSchema): JsonSchema {
  if (typeof schema.type === "string" && !schema.enum)
    return schema.type === "null" ? schema : { ...schema, type: [schema.type, "null"] };
  if (Array.isArray(schema.type) && schema.type.includes("null")) return schema;
  return { anyOf: [schema, { type: "null" }] };
}

const children = (schema: JsonSchema): JsonSchema[] => [
  ...Object.values(asSchema(schema.properties)).map(asSchema),
  ...Object.values(asSchema(schema.$defs)).map(asSchema),
  ...(Array.isArray(schema.anyOf) ? schema.anyOf.map(asSchema) : []),
  ...(schema.items ? [asSchema(schema.items)] : []),
];

function countProperties(schema: JsonSchema): number {
  return (
    Object.keys(asSchema(schema.properties)).length +
    children(schema).reduce((sum, child) => sum + countProperties(child), 0)
  );
}

function depthOf(schema: JsonSchema): number {
  const own = schema.properties ? 1 : 0;
  return own + Math.max(0, ...children(schema).map(depthOf));
}
