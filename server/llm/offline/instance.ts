import { defined } from "@/server/domain/base/defined";
import { isList, isText, textsOf } from "@/server/domain/base/guards";
import { asSchema, enumOf, optionsOf } from "@/server/domain/base/json-schema";
import type { Json, JsonSchema } from "@/server/domain/base/values";
import { WorkError } from "@/server/domain/base/work-budget";
import type { Work } from "@/server/domain/regex/work";
import { newWork, readSchema } from "@/server/domain/schema/schema";
import { sampleOf } from "./pattern";

/** What the value of a field could be; answers undefined where it has no opinion. */
export type Suggest = (key: string, schema: JsonSchema) => Json | undefined;

interface Making {
  root: JsonSchema;
  suggest: Suggest;
  /** For all attempts together. */
  work: Work;
  /** "rich" fills optional fields and two items per list; "small" leaves out whatever may be left out. */
  size: "rich" | "small";
}

const FORMATS: Record<string, string> = {
  email: "demo@example.org",
  uri: "https://example.org/demo",
  "uri-reference": "https://example.org/demo",
  uuid: "3f0c1f5e-8d2a-4c57-9b1e-2a6f0d4c8b11",
  guid: "3f0c1f5e-8d2a-4c57-9b1e-2a6f0d4c8b11",
  "date-time": "2026-01-15T09:30:00Z",
  date: "2026-01-15",
  time: "09:30:00Z",
  duration: "PT15M",
  hostname: "example.org",
  ipv4: "192.0.2.10",
  ipv6: "2001:db8::10",
};
const MAX_DEPTH = 7;
/** Schemas may lead to themselves. */
const DEEPEST = 60;
const MAX_CHARS = 100_000;

/**
 * Makes a JSON value that is valid for the schema: the same value for the same arguments. What `suggest`
 * proposes is used where the schema allows it.
 */
export function instanceOf(schema: JsonSchema, suggest: Suggest): Json {
  const work = newWork();
  const attempts: Making[] = [
    { root: schema, suggest, work, size: "rich" },
    { root: schema, suggest, work, size: "small" },
    { root: schema, suggest: () => undefined, work, size: "rich" },
    { root: schema, suggest: () => undefined, work, size: "small" },
  ];
  let last: Json = null;
  try {
    for (const making of attempts) {
      last = make(schema, "answer", making, 0);
      if (isValid(schema, making, last)) return last;
    }
  } catch (error) {
    if (!(error instanceof WorkError)) throw error;
  }
  return last;
}

/** Whether a value matches a schema, which may refer to definitions of `root`; true if it can't be determined. */
function isValid(schema: JsonSchema, { root, work }: Making, value: Json): boolean {
  const whole = schema === root ? schema : { ...definitions(root), ...schema };
  // A schema assembled here has to be compiled.
  work.spend(whole === root ? 10 : 2000);
  return readSchema(whole).fits(value, work);
}

function definitions(root: JsonSchema): JsonSchema {
  return {
    ...defined({ $defs: root.$defs || undefined, definitions: root.definitions || undefined }),
  };
}

function make(schema: Json | undefined, key: string, making: Making, depth: number): Json {
  making.work.spend(50);
  if (depth > DEEPEST) throw new WorkError("This is nested too deeply.");
  if (schema === false) return null;
  const plain = flatten(asSchema(schema), making, 0);
  if (plain.const !== undefined) return plain.const;
  const values = enumOf(plain);
  if (values) return pick(values, making.suggest(key, plain));
  const wish = wholeWish(plain, key, making);
  if (wish !== undefined) return wish;
  if (optionsOf(plain)?.length) return makeChoice(plain, key, making, depth);
  switch (typeOf(plain, depth)) {
    case "object":
      return makeObject(plain, key, making, depth);
    case "array":
      return makeArray(plain, key, making, depth);
    case "number":
      return makeNumber(plain, making.suggest(key, plain), false);
    case "integer":
      return makeNumber(plain, making.suggest(key, plain), true);
    case "boolean":
      return makeBoolean(making.suggest(key, plain));
    case "null":
      return null;
    default:
      return makeString(plain, key, making);
  }
}

/** A proposal for a whole list; proposals for single values are asked for where those are made. */
function wholeWish(schema: JsonSchema, key: string, making: Making): Json | undefined {
  if (schema.type !== "array" || making.size === "small") return undefined;
  const wish = making.suggest(key, schema);
  return Array.isArray(wish) && isValid(schema, making, wish) ? wish : undefined;
}

/** Follows references and joins the parts of `allOf`. */
function flatten(schema: JsonSchema, making: Making, hops: number): JsonSchema {
  making.work.spend(20);
  if (hops > 10) return {};
  if (typeof schema.$ref === "string") return flatten(refer(schema.$ref, making.root), making, hops + 1);
  const { allOf, ...rest } = schema;
  if (!Array.isArray(allOf)) return schema;
  return allOf.reduce<JsonSchema>(
    (joined, part) => join(joined, flatten(asSchema(part), making, hops + 1)),
    rest,
  );
}

function refer(ref: string, root: JsonSchema): JsonSchema {
  const steps = ref.replace(/^#\/?/, "").split("/").filter(Boolean);
  let place: Json | undefined = root;
  for (const step of steps) place = asSchema(place)[step.replace(/~1/g, "/").replace(/~0/g, "~")];
  return asSchema(place);
}

/** Both schemas at once, as far as a generator needs it. */
function join(a: JsonSchema, b: JsonSchema): JsonSchema {
  const joined: JsonSchema = { ...a, ...b };
  const both = (key: string) =>
    [a[key], b[key]].filter((value): value is number => typeof value === "number");
  for (const key of ["minimum", "exclusiveMinimum", "minLength", "minItems"])
    if (both(key).length > 0) joined[key] = Math.max(...both(key));
  for (const key of ["maximum", "exclusiveMaximum", "maxLength", "maxItems"])
    if (both(key).length > 0) joined[key] = Math.min(...both(key));
  if (a.properties || b.properties)
    joined.properties = { ...asSchema(a.properties), ...asSchema(b.properties) };
  if (a.required || b.required)
    joined.required = [...new Set([...textsOf(a.required), ...textsOf(b.required)])];
  return joined;
}

function typeOf(schema: JsonSchema, depth: number): string {
  if (isList(schema.type)) {
    const types = schema.type.filter(isText);
    if (depth >= MAX_DEPTH && types.includes("null")) return "null";
    return types.find((type) => type !== "null") ?? "null";
  }
  if (typeof schema.type === "string") return schema.type;
  if (schema.properties || schema.required || schema.additionalProperties) return "object";
  if (schema.items || schema.prefixItems) return "array";
  if (schema.minimum !== undefined || schema.maximum !== undefined || schema.multipleOf !== undefined)
    return "number";
  return "string";
}

/** A case-insensitive match with the suggestion, else the first. */
function pick(values: readonly Json[], wish: Json | undefined): Json {
  if (wish !== undefined) {
    const same = values.find((value) => value === wish || plainWord(value) === plainWord(wish));
    if (same !== undefined) return same;
  }
  return values[0] ?? null;
}
const plainWord = (value: Json) =>
  JSON.stringify(value)
    .replace(/^"|"$/g, "")
    .toLowerCase()
    .replace(/[\s_-]+/g, "");

function makeChoice(schema: JsonSchema, key: string, making: Making, depth: number): Json {
  const { anyOf: _anyOf, oneOf: _oneOf, ...rest } = schema;
  const choices = optionsOf(schema) ?? [];
  const isNull = (choice: Json) => asSchema(choice).type === "null";
  // Null ends a recursion; otherwise a real value shows more.
  const ordered = [...choices].sort((a, b) => Number(isNull(a)) - Number(isNull(b)));
  if (depth >= MAX_DEPTH - 2) ordered.sort((a, b) => weight(a) - weight(b));
  let first: Json | undefined;
  for (const choice of ordered) {
    const value = make(join(rest, flatten(asSchema(choice), making, 0)), key, making, depth + 1);
    first ??= value;
    if (isValid(schema, making, value)) return value;
  }
  return first ?? null;
}

/** How much a schema may lead to: what refers to others comes last. */
function weight(choice: Json): number {
  const schema = asSchema(choice);
  if (schema.type === "null") return 0;
  if (schema.$ref) return 3;
  return schema.type === "object" || schema.type === "array" ? 2 : 1;
}

function makeObject(schema: JsonSchema, key: string, making: Making, depth: number): Json {
  const properties = asSchema(schema.properties);
  const required = new Set(textsOf(schema.required));
  const most = typeof schema.maxProperties === "number" ? schema.maxProperties : Number.POSITIVE_INFINITY;
  const least = typeof schema.minProperties === "number" ? schema.minProperties : 0;
  const entries: [string, Json][] = [];
  const names = [...Object.keys(properties)].sort(
    (a, b) => Number(required.has(b)) - Number(required.has(a)),
  );
  for (const name of names) {
    const optional = !required.has(name);
    if (optional && entries.length >= most) continue;
    if (optional && (making.size === "small" || depth >= 3) && entries.length >= least) continue;
    entries.push([name, make(properties[name], name, making, depth + 1)]);
  }
  for (const name of required)
    if (!(name in properties)) entries.push([name, make(rest(schema), name, making, depth + 1)]);
  for (let n = 1; entries.length < least && n <= 100; n++)
    entries.push([`item_${n}`, make(rest(schema), `item_${n}`, making, depth + 1)]);
  const free =
    entries.length === 0 && schema.additionalProperties !== false && making.size === "rich" && depth < 3;
  if (free && most > 0 && schema.properties === undefined) {
    const wish =
      schema.additionalProperties === undefined || schema.additionalProperties === true
        ? making.suggest(key, schema)
        : undefined;
    if (wish !== undefined && wish !== null && typeof wish === "object" && !Array.isArray(wish)) return wish;
    entries.push(["note", make(rest(schema), "note", making, depth + 1)]);
  }
  return Object.fromEntries(entries);
}

/** What properties without a name of their own must look like. */
const rest = (schema: JsonSchema): Json =>
  schema.additionalProperties !== null && typeof schema.additionalProperties === "object"
    ? schema.additionalProperties
    : {};

function makeArray(schema: JsonSchema, key: string, making: Making, depth: number): Json {
  const fixed = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
  const least = typeof schema.minItems === "number" ? schema.minItems : 0;
  const most = typeof schema.maxItems === "number" ? schema.maxItems : Number.POSITIVE_INFINITY;
  const items = fixed.map((item) => make(item, key, making, depth + 1));
  if (schema.items === false) return items.slice(0, most);
  const wanted = making.size === "small" || depth >= MAX_DEPTH - 2 ? least : Math.max(least, 2);
  const item = schema.items ?? schema.contains ?? {};
  for (let n = items.length; n < Math.min(wanted, most); n++)
    items.push(distinct(make(item, singular(key), making, depth + 1), n, asSchema(item), making));
  return items;
}

const singular = (key: string) =>
  key.length > 3 && key.endsWith("s") && !key.endsWith("ss") ? key.slice(0, -1) : key;

/** The nth of several like values, told apart where the schema allows. */
function distinct(value: Json, n: number, schema: JsonSchema, making: Making): Json {
  if (n === 0) return value;
  const plain = flatten(schema, making, 0);
  const values = enumOf(plain);
  if (values) return values[n % values.length] ?? value;
  let other: Json = value;
  if (typeof value === "string") other = `${value} (${n + 1})`;
  else if (typeof value === "number")
    other = value + n * (typeof plain.multipleOf === "number" ? plain.multipleOf : 1);
  else if (typeof value === "boolean") other = n % 2 === 1 ? !value : value;
  else if (value !== null && !Array.isArray(value)) {
    const properties = asSchema(plain.properties);
    const entry = Object.entries(value).find(
      ([, inner]) => typeof inner === "string" || typeof inner === "number",
    );
    if (entry)
      other = { ...value, [entry[0]]: distinct(entry[1], n, asSchema(properties[entry[0]]), making) };
  }
  return isValid(schema, making, other) ? other : value;
}

function makeBoolean(wish: Json | undefined): boolean {
  return typeof wish === "boolean"
    ? wish
    : wish === undefined || (wish !== "no" && wish !== "rejected" && wish !== 0);
}

function makeNumber(schema: JsonSchema, wish: Json | undefined, whole: boolean): number {
  const step =
    typeof schema.multipleOf === "number" && schema.multipleOf > 0 ? schema.multipleOf : whole ? 1 : 0;
  const number = (value: unknown) => (typeof value === "number" ? value : undefined);
  const below = schema.exclusiveMinimum === true ? number(schema.minimum) : number(schema.exclusiveMinimum);
  const above = schema.exclusiveMaximum === true ? number(schema.maximum) : number(schema.exclusiveMaximum);
  const least = Math.max(
    number(schema.minimum) ?? Number.NEGATIVE_INFINITY,
    below ?? Number.NEGATIVE_INFINITY,
  );
  const most = Math.min(
    number(schema.maximum) ?? Number.POSITIVE_INFINITY,
    above ?? Number.POSITIVE_INFINITY,
  );
  const fits = (value: number) =>
    value >= least &&
    value <= most &&
    (below === undefined || value > below) &&
    (above === undefined || value < above);
  const snap = (value: number) => (step === 0 ? value : Math.round(value / step) * step);
  const middle =
    Number.isFinite(least) && Number.isFinite(most)
      ? (least + most) / 2
      : Number.isFinite(least)
        ? least
        : most;
  const tries = [
    ...(typeof wish === "number" ? [wish] : []),
    1,
    3,
    0,
    ...(Number.isFinite(middle)
      ? [middle, middle + (step || 0.5), middle - (step || 0.5), middle + 1, middle - 1]
      : []),
    ...(Number.isFinite(least)
      ? [step ? Math.ceil(least / step) * step : least, step ? (Math.floor(least / step) + 1) * step : least]
      : []),
    ...(Number.isFinite(most) ? [step ? Math.floor(most / step) * step : most] : []),
  ];
  const found = tries.map(snap).find((value) => fits(value) && (!whole || Number.isInteger(value)));
  return found ?? snap(Number.isFinite(middle) ? middle : 0);
}

function makeString(schema: JsonSchema, key: string, making: Making): string {
  const wish = making.suggest(key, schema);
  const text =
    typeof wish === "string"
      ? wish
      : wish === undefined || wish === null
        ? key.replaceAll("_", " ")
        : JSON.stringify(wish);
  const least = typeof schema.minLength === "number" ? Math.min(schema.minLength, MAX_CHARS) : 0;
  const most = typeof schema.maxLength === "number" ? schema.maxLength : Number.POSITIVE_INFINITY;
  if (typeof schema.pattern === "string") return sampleOf(schema.pattern, text, least, most);
  const format = typeof schema.format === "string" ? FORMATS[schema.format] : undefined;
  if (format !== undefined) return format;
  const long = text.length >= least ? text : text.padEnd(least, ".");
  return long.length <= most ? long : long.slice(0, most);
}
