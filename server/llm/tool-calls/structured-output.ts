import { asSchema } from "@/server/domain/base/json-schema";
import { must } from "@/server/domain/base/must";
import type { Json, JsonObject, JsonSchema } from "@/server/domain/base/values";
import type { Work } from "@/server/domain/regex/work";
import { type Fault, newWork, placeText, readSchema } from "@/server/domain/schema/schema";
import { coerce } from "./coerce";
import { guessed, isTooDeep, MAX_REPAIR_CHARS, parseJson, parseMended } from "./json";

export type OutputShape =
  | { kind: "text"; key: string }
  /** `whole`: the key whose value is the whole answer; otherwise the answer holds a value for each key. */
  | { kind: "json"; schema: JsonSchema; whole?: string };
export type Repair = "none" | "jsonrepair" | "coerced" | "extracted";
export type ParsedOutput = { ok: true; value: Json; repair: Repair } | { ok: false; errors: string[] };

/** The key of an answer that no output key asks for. */
const FREE_KEY = "result";

/**
 * The schema of an answer that fills the output keys. The type of a key comes from the node's schema, else the role's,
 * else the state's, else it is text. One key of plain text needs no JSON. A single key that isn't in the role's schema
 * takes the whole answer of that schema.
 */
export function outputSchema(
  outputKeys: readonly string[],
  from: {
    nodeSchema?: JsonSchema;
    roleSchema?: JsonSchema;
    stateProperties?: Readonly<Record<string, JsonSchema>>;
  } = {},
): OutputShape {
  const node = from.nodeSchema ?? {};
  const keys = outputKeys.length > 0 ? [...outputKeys] : Object.keys(asSchema(node.properties));
  if (keys.length === 0) return { kind: "text", key: FREE_KEY };
  const whole = keys.length === 1 ? wholeAnswer(must(keys, 0), from) : null;
  if (whole) return { kind: "json", schema: whole, whole: must(keys, 0) };
  const properties: Record<string, JsonSchema> = {};
  for (const key of keys) properties[key] = schemaOf(key, keys.length, node, from);
  const [only] = keys;
  if (keys.length === 1 && only !== undefined && isPlainText(must(properties, only)))
    return { kind: "text", key: only };
  const defs = (name: "$defs" | "definitions") => {
    const all = { ...asSchema(from.roleSchema?.[name]), ...asSchema(node[name]) };
    return Object.keys(all).length > 0 ? { [name]: all } : {};
  };
  return {
    kind: "json",
    schema: {
      type: "object",
      properties,
      required: keys,
      additionalProperties: false,
      ...defs("$defs"),
      ...defs("definitions"),
    },
  };
}

/** The role's schema, where it describes what this one key takes as its value. */
function wholeAnswer(
  key: string,
  from: {
    nodeSchema?: JsonSchema;
    roleSchema?: JsonSchema;
    stateProperties?: Readonly<Record<string, JsonSchema>>;
  },
): JsonSchema | null {
  const { nodeSchema = {}, roleSchema, stateProperties = {} } = from;
  if (roleSchema?.type !== "object" || Object.keys(asSchema(roleSchema.properties)).length === 0) return null;
  if (Object.keys(nodeSchema).length > 0 || own(asSchema(roleSchema.properties), key)) return null;
  // The state may want another type, such as text.
  const { type } = own(stateProperties, key) ?? {};
  return type === undefined || type === "object" ? roleSchema : null;
}

function schemaOf(
  key: string,
  count: number,
  node: JsonSchema,
  from: { roleSchema?: JsonSchema; stateProperties?: Readonly<Record<string, JsonSchema>> },
): JsonSchema {
  const named = own(asSchema(node.properties), key);
  if (named) return named;
  // A node with one output key may describe the value itself instead of an object that holds it.
  if (
    count === 1 &&
    Object.keys(node).some((word) => ["type", "enum", "anyOf", "oneOf", "$ref"].includes(word))
  ) {
    const { $defs: _defs, definitions: _definitions, ...value } = node;
    return value;
  }
  return (
    own(asSchema(from.roleSchema?.properties), key) ??
    own(from.stateProperties ?? {}, key) ?? { type: "string" }
  );
}

const own = (schemas: Readonly<Record<string, Json>>, key: string): JsonSchema | undefined =>
  Object.hasOwn(schemas, key) && Object.keys(asSchema(schemas[key])).length > 0
    ? asSchema(schemas[key])
    : undefined;

/** Whether any text will do. */
function isPlainText(schema: JsonSchema): boolean {
  if (schema.type !== "string") return false;
  return !["enum", "const", "pattern", "format", "minLength", "maxLength", "anyOf", "oneOf", "allOf"].some(
    (word) => word in schema,
  );
}

/**
 * Reads a model's answer as a value of the given shape: the whole text, an object in it, or a repaired version of it;
 * then harmless corrections of types and spelling. Of several objects that fit, the last is the answer: what comes
 * before it explains the format. `mostGuessed`: where longer texts are repaired by guessing, too.
 */
export function parseOutput(
  content: string,
  schema: JsonSchema,
  { mostGuessed }: { mostGuessed?: number | undefined } = {},
): ParsedOutput {
  const text = content.trim();
  if (text === "") return { ok: false, errors: ["The answer was empty."] };
  let errors: string[] = [];
  // All readings of an answer together may take what one check may.
  const work = newWork();
  for (const group of readings(text, mostGuessed)) {
    const fits = group.map(({ value, repair }) => ({ repair, checked: fit(value, schema, work) }));
    const found = likeliest(fits.filter(({ checked }) => checked.ok));
    if (found?.checked.ok) {
      const { value, coerced } = found.checked;
      return {
        ok: true,
        value,
        repair: found.repair === "jsonrepair" || !coerced ? found.repair : "coerced",
      };
    }
    // The first readings are the likeliest, so their faults are the ones worth reporting.
    const last = fits.at(-1)?.checked;
    if (errors.length === 0 && last && !last.ok) errors = last.errors;
  }
  const bare = bareValue(text, schema);
  if (bare) {
    const checked = fit(bare, schema, work);
    if (checked.ok) return { ok: true, value: checked.value, repair: "coerced" };
    if (errors.length === 0) errors = checked.errors;
  }
  if (isCut(text)) return { ok: false, errors: [CUT] };
  return { ok: false, errors: errors.length > 0 ? errors : ["The answer contained no JSON object."] };
}

interface Candidate {
  repair: Repair;
  checked: Fit;
}

/** Of what fits, the last that needed no correction and is no mere example of the format. */
function likeliest(fits: Candidate[]): Candidate | undefined {
  const straight = fits.filter(({ checked }) => checked.ok && !checked.coerced);
  const best = straight.length > 0 ? straight : fits;
  const real = best.filter(({ checked }) => checked.ok && !isExample(checked.value));
  return (real.length > 0 ? real : best).at(-1);
}

/** Whether all that is said in it is "...", or words in angle brackets. */
function isExample(value: Json): boolean {
  if (typeof value === "string") return /^(?:\.\.\.|…|<[^<>]*>)$/.test(value.trim());
  if (value === null || typeof value !== "object") return false;
  const inner = Object.values(value);
  return inner.length > 0 && inner.every(isExample);
}

/** What to tell a model whose answer had the wrong shape. */
export function reaskMessage(errors: readonly string[]): string {
  return `Your answer did not match: ${errors.map((error) => error.replace(/\.$/, "")).join("; ")}. Return only the corrected JSON.`;
}

interface Reading {
  value: Json;
  repair: Repair;
}
const isWhole = (value: Json | undefined): value is Json => typeof value === "object" && value !== null;

/** Every way to read the text as JSON, the most literal first; in a group, in the order of the text. */
function* readings(text: string, mostGuessed?: number): Generator<Reading[]> {
  const whole = parseJson(text);
  if (isWhole(whole)) {
    yield [{ value: whole, repair: "none" }];
    return;
  }
  const fenced = [...text.matchAll(/```[\w-]*[ \t]*\n([\s\S]*?)```/g)].map((found) => ({
    at: found.index,
    part: must(found, 1).trim(),
    isTorn: false,
  }));
  const parts = [...fenced, ...balancedObjects(text)].sort((a, b) => a.at - b.at);
  yield parts.flatMap(({ part, isTorn }): Reading[] => {
    const value = parseJson(part);
    return isWhole(value) ? [{ value, repair: isTorn ? "jsonrepair" : "extracted" }] : [];
  });
  const start = text.indexOf("{");
  // A truncated answer can't be repaired: the rest is unknown.
  if (text.length > MAX_REPAIR_CHARS || isCut(text)) return;
  for (const broken of [
    ...fenced.flatMap(({ part }) => (part.includes("{") ? [part] : [])).slice(0, MAX_OBJECTS),
    ...(start < 0 ? [] : [text.slice(start)]),
  ]) {
    const value = repaired(broken, mostGuessed);
    if (isWhole(value)) yield [{ value, repair: "jsonrepair" }];
  }
}

const CUT = "The answer was cut off before its end";

/** Whether the text ends inside of a string, or where a value or a key has to follow. */
function isCut(text: string): boolean {
  const start = text.indexOf("{");
  if (start < 0 || /[}\]`]$/.test(text)) return false;
  let depth = 0;
  let inString = false;
  for (let at = start; at < text.length; at++) {
    const sign = text[at];
    if (inString) {
      if (sign === "\\") at++;
      else if (sign === '"') inString = false;
    } else if (sign === '"') inString = depth > 0;
    else if (sign === "{" || sign === "[") depth++;
    else if (sign === "}" || sign === "]") depth--;
  }
  return depth > 0 && (inString || /[:,]$/.test(text));
}

function repaired(text: string, mostGuessed?: number): Json | undefined {
  if (isTooDeep(text)) return undefined;
  const end = text.lastIndexOf("}");
  for (const candidate of end > 0 ? [text.slice(0, end + 1), text] : [text]) {
    const value = parseMended(candidate, { isCautious: true })?.value ?? guessed(candidate, mostGuessed);
    // Text after an object makes jsonrepair see a list of both; the object is what was meant.
    const meant = Array.isArray(value)
      ? value.find((item) => item !== null && typeof item === "object" && !Array.isArray(item))
      : value;
    if (meant !== undefined) return meant;
  }
  return undefined;
}

const MAX_OBJECTS = 20;
/** What follows the end of an object that was closed too early: a comma and the next key. */
const NEXT_KEY = /\s*,\s*"[^"\\\n]{0,200}"\s*:/y;

/** The last objects at the outermost level of a text. Braces inside strings do not count. */
function balancedObjects(text: string): { at: number; part: string; isTorn: boolean }[] {
  const found: { at: number; part: string; isTorn: boolean }[] = [];
  let start = -1;
  let depth = 0;
  let inString = false;
  /** What of the object was read before a bracket that closed it too early. */
  let before = "";
  let from = -1;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (inString) {
      if (sign === "\\") at++;
      else if (sign === '"') inString = false;
    } else if (sign === '"') inString = depth > 0;
    else if (sign === "{" && depth++ === 0) {
      start = at;
      from = at;
      before = "";
    } else if (sign === "}" && depth > 0 && --depth === 0) {
      NEXT_KEY.lastIndex = at + 1;
      if (NEXT_KEY.test(text)) {
        before += text.slice(from, at);
        from = at + 1;
        depth = 1;
        continue;
      }
      found.push({ at: start, part: before + text.slice(from, at + 1), isTorn: before !== "" });
      if (found.length > MAX_OBJECTS) found.shift();
    }
  }
  return found;
}

/** Where the shape has a single key, an answer without JSON can only be its value. */
function bareValue(text: string, schema: JsonSchema): JsonObject | null {
  const keys = Object.keys(asSchema(schema.properties));
  const [only] = keys;
  if (keys.length !== 1 || only === undefined || text.startsWith("{")) return null;
  return { [only]: parseJson(text) ?? text };
}

type Fit = { ok: true; value: Json; coerced: boolean } | { ok: false; errors: string[] };

function fit(value: Json, schema: JsonSchema, work: Work): Fit {
  const ready = readSchema(schema);
  const check = (value: Json) => ready.errors(value, work).map(sentence);
  const straight = check(value);
  if (straight.length === 0) return { ok: true, value, coerced: false };
  const better = coerce(value, schema, check, work);
  const errors = check(better);
  return errors.length === 0 ? { ok: true, value: better, coerced: true } : { ok: false, errors };
}

function sentence({ path, message }: Fault): string {
  const place = placeText(path);
  return `${place === "" ? "answer" : place}: ${message}`;
}
