import type { ToolQuestion } from "@/server/domain/tool";
import type { Json, JsonObject, JsonSchema } from "@/server/domain/values";
import { checkBySchema } from "./schema-check";

// A tool may need something from a person that its caller did not give it. People answer in words; here they become
// what the tool asked for.

/** What a person wrote as the fields that were asked for, checked against their schema; or what is wrong with it. */
export function readAnswer(
  schema: JsonSchema,
  words: string,
): { ok: true; content: JsonObject } | { ok: false; errors: string[] } {
  const fields = fieldsOf(schema);
  const content: JsonObject = {};
  for (const [name, field] of fields) {
    const given = field.default as Json | undefined;
    if (given !== undefined) content[name] = given;
  }
  const read = readWords(fields, words.trim());
  if ("error" in read) return { ok: false, errors: [read.error] };
  Object.assign(content, read.values);
  const checked = checkBySchema({ type: "object", ...schema }, content);
  return checked.ok ? { ok: true, content } : { ok: false, errors: checked.errors };
}

/** What is asked, for a person to read: the fields with what each may hold, or where they are to go. */
export function aboutQuestion({ schema, url }: ToolQuestion): JsonObject {
  if (url !== undefined) return { host: URL.canParse(url) ? new URL(url).host : "", address: url };
  const required = Array.isArray(schema?.required) ? schema.required : [];
  return Object.fromEntries(
    fieldsOf(schema ?? {}).map(([name, field]) => [name, fieldWords(field, required.includes(name))]),
  );
}

/** How to answer. */
export function howToAnswer({ schema, url }: ToolQuestion): string {
  if (url !== undefined)
    return "It wants you to open the address in your browser. Look at the host first. Go on when you are done there.";
  const names = fieldsOf(schema ?? {}).map(([name]) => name);
  if (names.length === 0) return "Go on if you agree.";
  const how =
    names.length === 1
      ? "Write the answer"
      : `Write each on a line of its own, as in “${names[0]}: ...”; what you leave out is left as it is given`;
  return `${how}, and go on. It is sent to the server and kept in the run: enter no password and no key.`;
}

const fieldsOf = (schema: JsonSchema): [string, JsonSchema][] =>
  isObject(schema.properties)
    ? Object.entries(schema.properties).flatMap(([name, field]) => (isObject(field) ? [[name, field]] : []))
    : [];

function fieldWords(field: JsonSchema, isRequired: boolean): string {
  const options = optionsOf(field);
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  return [
    text(field.title),
    text(field.description),
    options.length > 0 ? `one of: ${options.join(", ")}` : text(field.type),
    field.default === undefined
      ? isRequired
        ? "needed"
        : "may be left out"
      : `given: ${JSON.stringify(field.default)}`,
  ]
    .filter(Boolean)
    .join("; ");
}

function optionsOf(field: JsonSchema): string[] {
  if (Array.isArray(field.enum)) return field.enum.map(String);
  const named = Array.isArray(field.oneOf) ? field.oneOf : [];
  return named.flatMap((one) => {
    if (!isObject(one) || one.const === undefined) return [];
    return [typeof one.const === "object" ? JSON.stringify(one.const) : String(one.const)];
  });
}

/** A JSON object, lines of `name: value`, or, where one thing is asked, just that. */
function readWords(
  fields: [string, JsonSchema][],
  words: string,
): { values: JsonObject } | { error: string } {
  if (words === "") return { values: {} };
  const known = new Map(fields);
  const [first, second] = fields;
  if (words.startsWith("{")) {
    try {
      const value = JSON.parse(words) as Json;
      if (isObject(value))
        return { values: Object.fromEntries(Object.entries(value).filter(([name]) => known.has(name))) };
    } catch {
      // Then they are words.
    }
  }
  const lines = words.split("\n").filter((line) => line.trim() !== "");
  const pairs = lines.map((line) => {
    const at = line.indexOf(":");
    const name = at < 0 ? "" : line.slice(0, at).trim();
    const field = known.get(name);
    return field ? ([name, valueOf(field, line.slice(at + 1).trim())] as const) : null;
  });
  if (pairs.length > 0 && pairs.every((pair) => pair !== null)) return { values: Object.fromEntries(pairs) };
  if (first && !second) return { values: { [first[0]]: valueOf(first[1], words) } };
  return { error: `Write each on a line of its own: ${fields.map(([name]) => `${name}: ...`).join(", ")}` };
}

/** A text as what the field holds; one that cannot be that stays a text, and is refused by the schema. */
function valueOf(field: JsonSchema, text: string): Json {
  if (field.type === "number" || field.type === "integer")
    return text !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
  if (field.type === "boolean")
    return /^(?:true|yes|y)$/i.test(text) ? true : /^(?:false|no|n)$/i.test(text) ? false : text;
  if (field.type === "array") return text.split(",").map((part) => part.trim());
  return text;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
