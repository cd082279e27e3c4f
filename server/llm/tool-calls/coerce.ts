import { isText, textsOf } from "@/server/domain/base/guards";
import { parseJson } from "@/server/domain/base/json";
import { asSchema, enumOf, optionsOf } from "@/server/domain/base/json-schema";
import { must } from "@/server/domain/base/must";
import type { Json, JsonObject, JsonSchema } from "@/server/domain/base/values";
import { WorkError } from "@/server/domain/base/work-budget";
import type { Work } from "@/server/domain/regex/work";
import { deref } from "./schema";

/**
 * Corrects frequent small mistakes of models that don't change the meaning: numbers and booleans in quotes, the case of
 * enum values, one value instead of a list, null for an optional value, extra keys. Leaves a value unchanged if it
 * takes too much work.
 */
export function coerce(value: Json, schema: JsonSchema, check: (value: Json) => string[], work: Work): Json {
  const properties = Object.keys(asSchema(schema.properties));
  const root: Root = { schema, work };
  try {
    for (const candidate of unwrapped(value, properties)) {
      const better = correct(candidate, schema, root, 0);
      if (check(better).length === 0) return better;
    }
    return correct(value, schema, root, 0);
  } catch (error) {
    if (error instanceof WorkError) return value;
    throw error;
  }
}

/** The whole schema, to which references go, and what may still be spent on it. */
interface Root {
  schema: JsonSchema;
  work: Work;
}
/** Schemas may lead to themselves. */
const MAX_DEPTH = 100;

/** The value, and what it holds where it looks like a wrapping: a list of one, or an object of one unknown key. */
function unwrapped(value: Json, properties: readonly string[]): Json[] {
  const found = [value];
  if (Array.isArray(value) && value.length === 1) found.push(must(value, 0));
  if (value !== null && typeof value === "object" && !Array.isArray(value)) {
    const entries = Object.entries(value);
    const [first] = entries;
    if (entries.length === 1 && first && !properties.includes(first[0])) found.push(first[1]);
  }
  return found;
}

function correct(value: Json, schema: JsonSchema, root: Root, depth: number): Json {
  root.work.spend(20);
  if (depth > MAX_DEPTH) throw new WorkError("This is nested too deeply.");
  const plain = deref(schema, root.schema);
  const values = enumOf(plain);
  if (values) return sameValue(value, values, root.work);
  const options = optionsOf(plain);
  if (options) return correctChoice(value, options, root, depth);
  const types = [plain.type ?? (plain.properties ? "object" : undefined)].flat().filter(isText);
  if (types.includes(typeName(value)) || (types.includes("number") && typeof value === "number"))
    return inside(value, plain, root, depth);
  for (const type of types) {
    const better = convert(value, { ...plain, type }, root, depth);
    if (better !== undefined) return better;
  }
  return inside(value, plain, root, depth);
}

const typeName = (value: Json) =>
  value === null
    ? "null"
    : Array.isArray(value)
      ? "array"
      : Number.isInteger(value)
        ? "integer"
        : typeof value;

function inside(value: Json, schema: JsonSchema, root: Root, depth: number): Json {
  if (Array.isArray(value))
    return value.map((item) => correct(item, asSchema(schema.items), root, depth + 1));
  if (value !== null && typeof value === "object") return correctObject(value, schema, root, depth);
  return value;
}

function correctObject(value: JsonObject, schema: JsonSchema, root: Root, depth: number): Json {
  const properties = asSchema(schema.properties);
  const required = new Set(textsOf(schema.required));
  const names = Object.keys(properties);
  const better: JsonObject = {};
  for (const [key, inner] of Object.entries(value)) {
    const isNamed = Object.hasOwn(properties, key);
    root.work.spend(isNamed ? 4 : 4 + names.length * 10);
    const name = isNamed
      ? key
      : (names.find(
          (candidate) => plainWord(candidate) === plainWord(key) && !Object.hasOwn(value, candidate),
        ) ?? key);
    const known = Object.hasOwn(properties, name);
    if (!known && schema.additionalProperties === false) continue;
    const shape = known ? asSchema(properties[name]) : asSchema(schema.additionalProperties);
    if (inner === null && known && !required.has(name) && !allowsNull(shape, root, depth)) continue;
    better[name] = correct(inner, shape, root, depth + 1);
  }
  for (const name of names) {
    const standard = asSchema(properties[name]).default;
    if (Object.hasOwn(better, name) || standard === undefined) continue;
    // One default may be written into many places.
    root.work.spend(JSON.stringify(standard).length);
    better[name] = standard;
  }
  return better;
}

function allowsNull(schema: JsonSchema, root: Root, depth: number): boolean {
  root.work.spend(10);
  if (depth > MAX_DEPTH) return true;
  const plain = deref(schema, root.schema);
  const options = optionsOf(plain);
  if ([plain.type].flat().includes("null") || (Array.isArray(plain.enum) && plain.enum.includes(null)))
    return true;
  return (
    options?.some((option) => allowsNull(asSchema(option), root, depth + 1)) ??
    (plain.type === undefined && !plain.enum)
  );
}

/** The choice whose kind the value already has, else the first that it can become. */
function correctChoice(value: Json, options: readonly Json[], root: Root, depth: number): Json {
  const schemas = options.map((option) => deref(asSchema(option), root.schema));
  const same = schemas.find(
    (schema) =>
      [schema.type].flat().includes(typeName(value)) ||
      (typeof value === "number" && schema.type === "number"),
  );
  if (same) return correct(value, same, root, depth + 1);
  for (const schema of schemas) {
    const better = correct(value, schema, root, depth + 1);
    if (typeName(better) === schema.type) return better;
  }
  return value;
}

/** A value as a person would write it. */
const asText = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

/** The one of these values that is meant, however it is written; a value without a match stays unchanged. */
function sameValue(value: Json, values: readonly Json[], work: Work): Json {
  work.spend(values.length * 10);
  if (values.includes(value)) return value;
  const plain = plainWord(asText(value));
  return values.find((one) => one !== null && plainWord(asText(one)) === plain) ?? value;
}
const plainWord = (text: string) => text.toLowerCase().replace(/[\s_\-."'`*]+/g, "");

/** The value as the one type that the schema names; undefined if it isn't meant as that. */
function convert(value: Json, schema: JsonSchema, root: Root, depth: number): Json | undefined {
  switch (schema.type) {
    case "number":
      return asNumber(value);
    case "integer": {
      const number = asNumber(value);
      return Number.isInteger(number) ? number : undefined;
    }
    case "boolean":
      return BOOLEANS.get(asText(value).trim().toLowerCase());
    case "string":
      return asString(value);
    case "array":
    case "object": {
      const inner = typeof value === "string" ? parsedJson(value) : undefined;
      if (inner !== undefined && typeName(inner) === schema.type)
        return inside(inner, schema, root, depth + 1);
      return schema.type === "array" && value !== null && value !== ""
        ? [correct(value, asSchema(schema.items), root, depth + 1)]
        : undefined;
    }
    default:
      return undefined;
  }
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["yes", true],
  ["false", false],
  ["no", false],
]);

const asNumber = (value: Json): number | undefined =>
  typeof value === "string" && /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?\s*%?$/i.test(value.trim())
    ? Number.parseFloat(value)
    : undefined;

function asString(value: Json): string | undefined {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value.join("\n");
  return value !== null && typeof value === "object" ? JSON.stringify(value, null, 2) : undefined;
}

/** A value that came as JSON text inside a string. */
function parsedJson(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text) || text.length > 100_000) return undefined;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
