import { defined } from "@/server/domain/base/defined";
import { Json, type JsonObject, type JsonSchema } from "@/server/domain/base/values";
import { type Choice, choicesOf, fieldsOfSchema, objectOf } from "@/server/domain/graph/form-fields";
import { fieldError } from "@/server/domain/graph/input-check";
import type { RunInputField } from "@/server/domain/graph/run-input";

/** One thing that a form made of a schema asks for: an input of a run, an argument of a tool, an answer. */
export interface InputField extends Pick<RunInputField, "key" | "schema" | "around"> {
  title: string;
  description?: string | undefined;
  /** `any`: a text, or whatever else as JSON. */
  as: "text" | "line" | "number" | "switch" | "choice" | "choices" | "json" | "any";
  isInteger?: boolean | undefined;
  options?: readonly Choice[] | undefined;
  isRequired: boolean;
  /** What stands in the field at first. */
  initial: Entered;
  /** A text that people may try it with, from the schema's examples. */
  example?: string | undefined;
}

/** What a field holds: a switch a boolean, several choices those that are ticked, everything else its text. */
export type Entered = string | boolean | readonly string[];

/** What people entered, by key. */
export type InputValues = Readonly<Record<string, Entered>>;

export interface InputError {
  key: string;
  message: string;
}

/** A field as it is entered. */
export function toField({ key, schema, around, required, default: fallback }: RunInputField): InputField {
  const plain = withoutNull(schema);
  const as = kindOf(plain);
  const options = choicesOf(as === "choices" ? (objectOf(plain.items) ?? {}) : plain);
  return defined({
    key,
    schema,
    around,
    title: typeof schema.title === "string" ? schema.title : titleOf(key),
    description: typeof schema.description === "string" ? schema.description : undefined,
    as,
    isInteger: plain.type === "integer" || undefined,
    options,
    ...exampleOf(as, schema),
    isRequired: required,
    initial: fallback === undefined ? emptyOf(as) : shown({ as, schema }, fallback),
  });
}

/** The arguments of a tool as fields, called as the tool calls them. */
export const argumentFields = (schema: JsonSchema): InputField[] =>
  fieldsOfSchema(schema).map((field) => {
    const isOpen = field.schema.type === "boolean" && !field.required && field.default === undefined;
    return {
      ...toField({
        ...field,
        around: schema,
        // Yes, no and nothing said are three things to a tool.
        schema: isOpen ? { ...field.schema, enum: [true, false], enumNames: ["Yes", "No"] } : field.schema,
        // What has a standard value need not be entered, whatever the schema says.
        required: field.required && field.default === undefined,
      }),
      title: field.key,
    };
  });

/** What the fields say, as one object; or what is wrong, field by field. What is left empty is left out. */
export function readInput(
  fields: readonly InputField[],
  values: InputValues,
): { input: JsonObject; errors: InputError[] } {
  const input: JsonObject = {};
  const errors: InputError[] = [];
  for (const field of fields) {
    const read = readField(field, values[field.key] ?? field.initial);
    if (read.message) errors.push({ key: field.key, message: read.message });
    else if (read.value !== undefined) input[field.key] = read.value;
  }
  return { input, errors };
}

/** An object as its form shows it. */
export function toValues(fields: readonly InputField[], input: JsonObject): InputValues {
  return Object.fromEntries(
    fields.map((field) => [
      field.key,
      Object.hasOwn(input, field.key) ? shown(field, input[field.key]) : field.initial,
    ]),
  );
}

interface Read {
  value?: Json;
  message?: string;
}

/** What one field says, if anything; or what is wrong with it, also by its schema. */
export function readField(field: InputField, entered: Entered): Read {
  const read = readEntered(field, entered);
  if (read.message !== undefined || read.value === undefined) return read;
  const error = fieldError(field, read.value);
  return error === undefined ? read : { message: error };
}

function readEntered(field: InputField, entered: Entered): Read {
  if (typeof entered === "boolean") return { value: entered };
  if (typeof entered !== "string") return readChoices(field, entered);
  const text = entered.trim();
  if (text === "") return field.isRequired ? { message: "Please fill this in." } : {};
  switch (field.as) {
    case "number": {
      const number = Number(text);
      if (!Number.isFinite(number)) return { message: "This is not a number." };
      if (field.isInteger && !Number.isInteger(number)) return { message: "This must be a whole number." };
      return { value: number };
    }
    case "json": {
      const value = readJson(text);
      return value === undefined ? { message: "This is not valid JSON." } : { value };
    }
    case "any": {
      const value = readJson(text);
      if (value !== undefined && fieldError(field, value) === undefined) return { value };
      // Half-written JSON is no text that somebody means, unless anything goes: then the form says what it is taken for.
      return value === undefined && !takesAnything(field) && /^["{[]/.test(text)
        ? { message: "This is not valid JSON. A text that begins so stands in quotes." }
        : { value: entered };
    }
    case "choice": {
      const option = optionOf(field, entered);
      return option ? { value: option.value } : { message: "Choose one of the options." };
    }
    default:
      return { value: entered };
  }
}

function readChoices(field: InputField, ticked: readonly string[]): Read {
  if (ticked.length === 0 && !field.isRequired) return {};
  return { value: ticked.flatMap((one) => optionOf(field, one)?.value ?? []) };
}

/** Words of a schema that say nothing about the value. */
const ANNOTATION_KEYWORDS: ReadonlySet<string> = new Set(["title", "description", "examples", "default"]);

/** Whether a field takes any value at all: its schema asks for nothing. */
const takesAnything = ({ schema }: Pick<InputField, "schema">): boolean =>
  Object.keys(schema).every((word) => ANNOTATION_KEYWORDS.has(word));

/** What a field that takes anything makes of what stands in it, in words; undefined where it is plainly a text. */
export function takenFor(field: InputField, entered: Entered): string | undefined {
  if (field.as !== "any" || typeof entered !== "string" || !takesAnything(field)) return undefined;
  const text = entered.trim();
  const value = readJson(text);
  if (value === undefined) return /^["{[]/.test(text) ? "Taken as a text: this is not JSON." : undefined;
  if (typeof value === "string") return "Taken as the text in the quotes.";
  const what =
    value === null
      ? "empty (null)"
      : Array.isArray(value)
        ? `a list of ${value.length}`
        : typeof value === "object"
          ? `an object of ${Object.keys(value).length}`
          : typeof value === "number"
            ? "a number"
            : "true or false";
  return `Taken as ${what}. In quotes it is a text.`;
}

/** The choice that a field's text stands for. */
export const optionOf = ({ options = [] }: InputField, text: string): Choice | undefined =>
  options.find(({ value }) => textOf(value) === text);

/** A value that can be chosen, as its field holds it. */
export const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

/** The value that a text is as JSON; undefined where it is none. */
export function readJson(text: string): Json | undefined {
  try {
    return Json.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function shown(field: Pick<InputField, "as" | "schema">, value: Json | undefined): Entered {
  const { as } = field;
  if (as === "switch") return value === true;
  if (as === "choices") return Array.isArray(value) ? value.map(textOf) : [];
  if (value === undefined || value === null) return "";
  if (as === "any" && typeof value === "string")
    return isPlainText(field, value) ? value : JSON.stringify(value);
  if (typeof value === "string" && as !== "json") return value;
  return as === "json" || as === "any" ? JSON.stringify(value, null, 2) : JSON.stringify(value);
}

/** Whether a text would be read as itself where JSON may stand, too. */
const isPlainText = (field: Pick<InputField, "schema">, text: string) =>
  readJson(text) === undefined && (takesAnything(field) || !/^["{[]/.test(text.trim()));

const emptyOf = (as: InputField["as"]) => (as === "switch" ? false : as === "choices" ? [] : "");

function exampleOf(as: InputField["as"], schema: JsonSchema): { example?: string } {
  const first: unknown = Array.isArray(schema.examples) ? schema.examples[0] : undefined;
  return (as === "text" || as === "line") && typeof first === "string" && first !== ""
    ? { example: first }
    : {};
}

/** A schema that also takes null, as what it takes beside: nothing entered is null enough. */
function withoutNull(schema: JsonSchema): JsonSchema {
  const types = Array.isArray(schema.type) ? schema.type.filter((type) => type !== "null") : [];
  if (types[0] !== undefined && types.length === 1) return { ...schema, type: types[0] };
  const others = [schema.anyOf, schema.oneOf].flatMap((list): Json[] =>
    Array.isArray(list) ? list.filter((one) => objectOf(one)?.type !== "null") : [],
  );
  const only = others.length === 1 ? objectOf(others[0]) : undefined;
  return only && !choicesOf(schema) ? { ...schema, ...only } : schema;
}

function kindOf(schema: JsonSchema): InputField["as"] {
  if (choicesOf(schema)) return "choice";
  if (schema.type === "array" && choicesOf(objectOf(schema.items) ?? {})) return "choices";
  switch (schema.type) {
    case "boolean":
      return "switch";
    case "number":
    case "integer":
      return "number";
    case "object":
    case "array":
      return "json";
    case "string":
      return typeof schema.format === "string" ||
        (typeof schema.maxLength === "number" && schema.maxLength <= 120)
        ? "line"
        : "text";
    default:
      return "any";
  }
}

/** "user_request" -> "User request". */
function titleOf(key: string): string {
  const text = key.replaceAll("_", " ").trim();
  return text.charAt(0).toUpperCase() + text.slice(1);
}
