import { isObject } from "@/server/domain/base/guards";
import { asSchema } from "@/server/domain/base/json-schema";
import type { Json, JsonSchema } from "@/server/domain/base/values";

/** Follows a reference such as "#/$defs/Task" inside the root schema. */
export function deref(schema: JsonSchema, root: JsonSchema): JsonSchema {
  let place = schema;
  for (let hops = 0; typeof place.$ref === "string" && hops < 10; hops++) {
    let target: Json | undefined = root;
    for (const step of place.$ref.replace(/^#\/?/, "").split("/").filter(Boolean))
      target = asSchema(target)[step.replace(/~1/g, "/").replace(/~0/g, "~")];
    place = asSchema(target);
  }
  return place;
}

/** Applies a change to a schema and every schema inside it, from the inside out. */
export function mapSchema(schema: JsonSchema, change: (inner: JsonSchema) => JsonSchema): JsonSchema {
  const each = (value: Json): Json => {
    if (Array.isArray(value)) return value.map((item) => (isObject(item) ? mapSchema(item, change) : item));
    return isObject(value) ? mapSchema(value, change) : value;
  };
  const mapped: JsonSchema = {};
  for (const [word, value] of Object.entries(schema)) {
    if (NAMED.has(word))
      mapped[word] = Object.fromEntries(
        Object.entries(asSchema(value)).map(([name, inner]) => [name, each(inner)]),
      );
    else mapped[word] = NESTED.has(word) ? each(value) : value;
  }
  return change(mapped);
}

const NAMED = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
const NESTED = new Set([
  "items",
  "prefixItems",
  "additionalItems",
  "additionalProperties",
  "contains",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
  "allOf",
  "anyOf",
  "oneOf",
  "unevaluatedItems",
  "unevaluatedProperties",
]);
