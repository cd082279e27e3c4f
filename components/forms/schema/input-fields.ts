import { countOf } from "@/components/display/format";
import { defined } from "@/server/domain/base/defined";
import { Json, type JsonObject, type JsonSchema } from "@/server/domain/base/values";
import { type Choice, choicesOf, fieldsOfSchema, objectOf } from "@/server/domain/graph/form-fields";
import { fieldError } from "@/server/domain/graph/input-check";
import type { RunInputField } from "@/server/domain/graph/run-input";

/** A field of a form made from a schema: an input of a run, an argument of a tool, or an answer. */
export interface InputField extends Pick<RunInputField, "key" | "schema" | "around"> {
  title: string;
  description?: string | undefined;
  /** `any`: a text, or any other value as JSON. */
  as: "text" | "line" | "number" | "switch" | "choice" | "choices" | "json" | "any";
  isInteger?: boolean | undefined;
  options?: readonly Choice[] | undefined;
  isRequired: boolean;
  /** The initial content of the field. */
  initial: Entered;
  /** A value to try, from the schema's examples. */
  example?: Json | undefined;
}

/** The content of a field: a boolean for switches, the ticked options for `choices`, otherwise its text. */
export type Entered = string | boolean | readonly string[];

/** The content of the fields, by key. */
export type InputValues = Readonly<Record<string, Entered>>;

export interface InputError {
  key: string;
  message: string;
}

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

/** The arguments of a tool as fields, labeled by their names. */
export const argumentFields = (schema: JsonSchema): InputField[] =>
  fieldsOfSchema(schema).map((field) => {
    const isOpen = field.schema.type === "boolean" && !field.required && field.default === undefined;
    return {
      ...toField({
        ...field,
        around: schema,
        // Yes, no and unset are three values to a tool.
        schema: isOpen ? { ...field.schema, enum: [true, false], enumNames: ["Yes", "No"] } : field.schema,
        // A field with a default is never required, whatever the schema says.
        required: field.required && field.default === undefined,
      }),
      title: field.key,
    };
  });

/** The input, and the errors by field. Empty fields are left out. */
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

/** The content of a form for an object. */
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

/** The value of a field, or its error. Neither if it is empty. */
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
  if (text === "") return field.isRequired ? { message: "Required." } : {};
  switch (field.as) {
    case "number":
      return readNumber(field, Number(text));
    case "json": {
      const value = readJson(text);
      return value === undefined ? { message: "Invalid JSON." } : { value };
    }
    case "any":
      return readTextOrJson(field, entered);
    case "choice": {
      const option = optionOf(field, entered);
      return option ? { value: option.value } : { message: "Choose one of the options." };
    }
    default:
      return { value: entered };
  }
}

function readNumber({ isInteger }: InputField, value: number): Read {
  if (!Number.isFinite(value)) return { message: "Enter a number." };
  return isInteger && !Number.isInteger(value) ? { message: "Enter a whole number." } : { value };
}

function readTextOrJson(field: InputField, entered: string): Read {
  const text = entered.trim();
  const value = readJson(text);
  if (value !== undefined && fieldError(field, value) === undefined) return { value };
  // Half-written JSON is probably not meant as text, unless the field takes anything and says how it reads it.
  return value === undefined && !takesAnything(field) && /^["{[]/.test(text)
    ? { message: "Invalid JSON. To enter this as text, put it in quotes." }
    : { value: entered };
}

function readChoices(field: InputField, ticked: readonly string[]): Read {
  if (ticked.length === 0 && !field.isRequired) return {};
  return { value: ticked.flatMap((one) => optionOf(field, one)?.value ?? []) };
}

/** Keywords that do not constrain the value. */
const ANNOTATION_KEYWORDS: ReadonlySet<string> = new Set(["title", "description", "examples", "default"]);

/** Whether the schema of a field accepts any value. */
const takesAnything = ({ schema }: Pick<InputField, "schema">): boolean =>
  Object.keys(schema).every((word) => ANNOTATION_KEYWORDS.has(word));

/** How a field that accepts any value reads its content; undefined if it is plainly a text. */
export function takenFor(field: InputField, entered: Entered): string | undefined {
  if (field.as !== "any" || typeof entered !== "string" || !takesAnything(field)) return undefined;
  const text = entered.trim();
  const value = readJson(text);
  if (value === undefined)
    return /^["{[]/.test(text) ? "Read as text because this isn't valid JSON." : undefined;
  if (typeof value === "string") return "Read as the text inside the quotes.";
  const what =
    value === null
      ? "empty (null)"
      : Array.isArray(value)
        ? `a list of ${countOf(value.length, "item")}`
        : typeof value === "object"
          ? objectLabel(Object.keys(value).length)
          : typeof value === "number"
            ? "a number"
            : "true or false";
  return `Read as ${what}. Use quotes for text.`;
}

const objectLabel = (count: number) => `an object with ${countOf(count, "field")}`;

/** The option with this text. */
export const optionOf = ({ options = [] }: InputField, text: string): Choice | undefined =>
  options.find(({ value }) => textOf(value) === text);

/** The text that stands for an option in its field. */
export const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

/** Parses JSON; undefined if it is invalid. */
export function readJson(text: string): Json | undefined {
  try {
    return Json.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

export function shown(field: Pick<InputField, "as" | "schema">, value: Json | undefined): Entered {
  const { as } = field;
  if (as === "switch") return value === true;
  if (as === "choices") return Array.isArray(value) ? value.map(textOf) : [];
  if (value === undefined || value === null) return "";
  if (as === "any" && typeof value === "string")
    return isPlainText(field, value) ? value : JSON.stringify(value);
  if (typeof value === "string" && as !== "json") return value;
  return as === "json" || as === "any" ? JSON.stringify(value, null, 2) : JSON.stringify(value);
}

/** Whether a field that also takes JSON reads this text as text. */
const isPlainText = (field: Pick<InputField, "schema">, text: string) =>
  readJson(text) === undefined && (takesAnything(field) || !/^["{[]/.test(text.trim()));

const emptyOf = (as: InputField["as"]) => (as === "switch" ? false : as === "choices" ? [] : "");

function exampleOf(as: InputField["as"], schema: JsonSchema): { example?: Json } {
  const [first] = Array.isArray(schema.examples) ? schema.examples : [];
  const isText = as === "text" || as === "line";
  const fits = isText ? typeof first === "string" && first !== "" : as === "json" && first != null;
  return fits && first !== undefined ? { example: first } : {};
}

/** Drops null from a schema: an empty field means null. */
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
