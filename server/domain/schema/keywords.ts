import { allOf, choice, conditional, not } from "./keywords/choices";
import type { Keyword } from "./keywords/keyword";
import {
  exclusiveMaximum,
  exclusiveMinimum,
  maxItems,
  maximum,
  maxLength,
  maxProperties,
  minItems,
  minimum,
  minLength,
  minProperties,
  multipleOf,
} from "./keywords/limits";
import { contains, items, unevaluatedItems, uniqueItems } from "./keywords/lists";
import { dependent, properties, propertyNames, required, unevaluatedProperties } from "./keywords/objects";
import { constant, enumeration, format, pattern, type } from "./keywords/plain-values";

/** Keywords in the order in which they are checked, those about the rest last. */
export const KEYWORDS: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  ["type", type],
  ["const", constant],
  ["enum", enumeration],
  ["multipleOf", multipleOf],
  ["minimum", minimum],
  ["maximum", maximum],
  ["exclusiveMinimum", exclusiveMinimum],
  ["exclusiveMaximum", exclusiveMaximum],
  ["minLength", minLength],
  ["maxLength", maxLength],
  ["pattern", pattern],
  ["format", format],
  ["minItems", minItems],
  ["maxItems", maxItems],
  ["minProperties", minProperties],
  ["maxProperties", maxProperties],
  ["required", required],
  ["dependentRequired", dependent("dependentRequired")],
  ["dependentSchemas", dependent("dependentSchemas")],
  ["dependencies", dependent("dependencies")],
  ["propertyNames", propertyNames],
  ["properties", (_rule, making) => properties(making)],
  ["items", (_rule, making) => items(making)],
  ["contains", contains],
  ["uniqueItems", uniqueItems],
  ["allOf", allOf],
  ["anyOf", choice("anyOf", false)],
  ["oneOf", choice("oneOf", true)],
  ["not", not],
  ["if", (_rule, making) => conditional(making)],
  ["unevaluatedItems", unevaluatedItems],
  ["unevaluatedProperties", unevaluatedProperties],
]);

/** Keywords that another one reads, and the one that does. */
export const READ_BY: ReadonlyMap<string, string> = new Map([
  ["patternProperties", "properties"],
  ["additionalProperties", "properties"],
  ["prefixItems", "items"],
  ["additionalItems", "items"],
  ["minContains", "contains"],
  ["maxContains", "contains"],
  ["then", "if"],
  ["else", "if"],
]);

/** Words that describe and rule nothing. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  "$anchor",
  "$comment",
  "$defs",
  "$dynamicAnchor",
  "$id",
  "$recursiveAnchor",
  "$schema",
  "$vocabulary",
  "default",
  "definitions",
  "deprecated",
  "description",
  "discriminator",
  "example",
  "examples",
  "externalDocs",
  "id",
  "nullable",
  "propertyOrdering",
  "readOnly",
  "strict",
  "title",
  "writeOnly",
  "xml",
]);

/** Where schemas lie inside of a schema. */
export const SCHEMA_IN = new Set([
  "additionalItems",
  "additionalProperties",
  "contains",
  "contentSchema",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
]);
export const SCHEMAS_IN = new Set(["allOf", "anyOf", "oneOf", "prefixItems", "items"]);
export const NAMED_SCHEMAS_IN = new Set([
  "$defs",
  "definitions",
  "dependencies",
  "dependentSchemas",
  "patternProperties",
  "properties",
]);
