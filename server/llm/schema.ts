import type { JsonSchema } from "@/server/domain/values";

export const asSchema = (value: unknown): JsonSchema =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? (value as JsonSchema) : {};

/** Follows a reference such as "#/$defs/Task" inside the root schema. */
export function deref(schema: JsonSchema, root: JsonSchema): JsonSchema {
  let place = schema;
  for (let hops = 0; typeof place.$ref === "string" && hops < 10; hops++) {
    let target: unknown = root;
    for (const step of place.$ref.replace(/^#\/?/, "").split("/").filter(Boolean))
      target = asSchema(target)[step.replace(/~1/g, "/").replace(/~0/g, "~")];
    place = asSchema(target);
  }
  return place;
}

/** Applies a change to a schema and every schema inside it, from the inside out. */
export function mapSchema(schema: JsonSchema, change: (inner: JsonSchema) => JsonSchema): JsonSchema {
  const each = (value: unknown): unknown => {
    if (Array.isArray(value))
      return value.map((item: unknown) => (isSchema(item) ? mapSchema(item, change) : item));
    return isSchema(value) ? mapSchema(value, change) : value;
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

const isSchema = (value: unknown): value is JsonSchema =>
  value !== null && typeof value === "object" && !Array.isArray(value);
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

/** Words that `z.fromJSONSchema` refuses; without them a schema says less, but what it says is checked. */
const UNREADABLE = [
  "not",
  "if",
  "then",
  "else",
  "unevaluatedItems",
  "unevaluatedProperties",
  "dependentSchemas",
  "dependentRequired",
];
/** Longer answers are not searched with patterns: what is quadratic on a page takes minutes on a book. */
const MAX_PATTERN_CHARS = 10_000;

/** The schema without what cannot be checked here, and without patterns that could search for ever. */
export function withoutUnsafeParts(schema: JsonSchema, chars: number): JsonSchema {
  return mapSchema(schema, (inner) => {
    const kept: JsonSchema = { ...inner };
    for (const word of UNREADABLE) delete kept[word];
    const fine = (pattern: unknown) =>
      typeof pattern === "string" && chars <= MAX_PATTERN_CHARS && isHarmlessPattern(pattern);
    if ("pattern" in kept && typeof kept.pattern !== "object" && !fine(kept.pattern)) delete kept.pattern;
    if ("patternProperties" in kept && !Object.keys(asSchema(kept.patternProperties)).every(fine))
      delete kept.patternProperties;
    return kept;
  });
}

/** Whether a pattern takes at most quadratic time: no repetition inside a repetition, and few of them. */
export function isHarmlessPattern(pattern: string): boolean {
  if (pattern.length > 200 || /\\[1-9k]|\(\?(?!:)/.test(pattern)) return false;
  const bare = pattern.replace(/\\./g, "x").replace(/\[(?:\^?\]?)[^\]]*\]/g, "x");
  // A repeated group that itself repeats or chooses can match the same text in many ways.
  if (/\([^()]*[*+?|}][^()]*\)(?:[*+]|\{)/.test(bare) || /\([^()]*\([\s\S]*\)[^()]*\)(?:[*+]|\{)/.test(bare))
    return false;
  const endless = bare.match(/[*+]|\{\d+,(?:\d{3,})?\}/g)?.length ?? 0;
  if (!isSyntaxValid(pattern)) return false;
  return endless + (bare.startsWith("^") && !bare.includes("|") ? 0 : 1) <= 2;
}

function isSyntaxValid(pattern: string): boolean {
  try {
    return Boolean(new RegExp(pattern));
  } catch {
    return false;
  }
}
