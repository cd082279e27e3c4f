import type { Json, JsonObject, JsonSchema } from "@/server/domain/base/values";
import { type Choice, choicesOf, objectOf } from "@/server/domain/graph/form-fields";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { type RunInputField, inputFields as runInputFields } from "@/server/domain/graph/run-input";

/** One thing that a run asks for when it starts. */
export interface InputField {
  key: string;
  title: string;
  description?: string | undefined;
  as: "text" | "line" | "number" | "switch" | "choice" | "choices" | "json";
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

/** What people typed, by key. */
export type InputValues = Record<string, Entered>;

export interface InputError {
  key: string;
  message: string;
}

/** The form that a workflow's start node asks for. */
export const inputFields = (graph: WorkflowGraph): InputField[] => runInputFields(graph).map(toField);

/** A field as it is entered. */
export function toField({ key, schema, required, default: fallback }: RunInputField): InputField {
  const as = lookOf(schema);
  const options = choicesOf(as === "choices" ? (schema.items as JsonSchema) : schema);
  return {
    key,
    title: typeof schema.title === "string" ? schema.title : titleOf(key),
    ...(typeof schema.description === "string" ? { description: schema.description } : {}),
    as,
    ...(schema.type === "integer" ? { isInteger: true } : {}),
    ...(options ? { options } : {}),
    ...exampleOf(as, schema),
    isRequired: required,
    initial: fallback === undefined ? emptyOf(as) : shown(as, fallback),
  };
}

const emptyOf = (as: InputField["as"]) => (as === "switch" ? false : as === "choices" ? [] : "");

function exampleOf(as: InputField["as"], schema: JsonSchema): { example?: string } {
  const first: unknown = Array.isArray(schema.examples) ? schema.examples[0] : undefined;
  return (as === "text" || as === "line") && typeof first === "string" && first !== ""
    ? { example: first }
    : {};
}

/** What the fields say, as the run's input; or what is wrong, field by field. */
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

/** A run's input as the form shows it. */
export function toValues(fields: readonly InputField[], input: JsonObject): InputValues {
  return Object.fromEntries(
    fields.map((field) => [
      field.key,
      Object.hasOwn(input, field.key) ? shown(field.as, input[field.key]) : field.initial,
    ]),
  );
}

/** Which models the agents of a workflow ask for; null stands for the default provider. */
export function modelsAskedFor(graph: WorkflowGraph): { provider_id: string | null; model: string | null }[] {
  const asked = new Map<string, { provider_id: string | null; model: string | null }>();
  const add = (config: { provider_id?: string | undefined; model?: string | undefined } | undefined) => {
    const choice = { provider_id: config?.provider_id ?? null, model: config?.model ?? null };
    asked.set(JSON.stringify(choice), choice);
  };
  for (const node of Object.values(graph.nodes)) {
    if (node.node_type === "agent_task") add(node.config.llm_config);
    if (node.node_type === "conditional_router" && node.config.kind === "llm") add(node.config.llm_config);
    if (node.node_type === "crew_task")
      for (const agent of node.config.crew?.agents ?? []) add(agent.llm_config);
  }
  return [...asked.values()];
}

function lookOf(shape: JsonSchema): InputField["as"] {
  if (choicesOf(shape)) return "choice";
  if (shape.type === "array" && choicesOf(objectOf(shape.items) ?? {})) return "choices";
  switch (shape.type) {
    case "boolean":
      return "switch";
    case "number":
    case "integer":
      return "number";
    case "object":
    case "array":
      return "json";
    case "string":
      return typeof shape.format === "string" ||
        (typeof shape.maxLength === "number" && shape.maxLength <= 120)
        ? "line"
        : "text";
    default:
      return "text";
  }
}

function readField(field: InputField, value: Entered): { value?: Json; message?: string } {
  if (typeof value === "boolean") return { value };
  if (typeof value !== "string") return readChoices(field, value);
  const text = value.trim();
  if (text === "") return field.isRequired ? { message: "Please fill this in." } : {};
  switch (field.as) {
    case "number": {
      const number = Number(text);
      if (!Number.isFinite(number)) return { message: "This is not a number." };
      if (field.isInteger && !Number.isInteger(number)) return { message: "This must be a whole number." };
      return { value: number };
    }
    case "json":
      try {
        return { value: JSON.parse(text) as Json };
      } catch {
        return { message: "This is not valid JSON." };
      }
    case "choice": {
      const option = optionOf(field, value);
      return option ? { value: option.value } : { message: "Choose one of the options." };
    }
    default:
      return { value };
  }
}

function readChoices(field: InputField, ticked: readonly string[]): { value?: Json; message?: string } {
  if (ticked.length === 0 && !field.isRequired) return {};
  return { value: ticked.flatMap((one) => optionOf(field, one)?.value ?? []) };
}

const optionOf = ({ options = [] }: InputField, text: string) =>
  options.find(({ value }) => textOf(value) === text);

/** A value that can be chosen, as its field holds it. */
export const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

function shown(as: InputField["as"], value: Json | undefined): Entered {
  if (as === "switch") return value === true;
  if (as === "choices") return Array.isArray(value) ? value.map(textOf) : [];
  if (value === undefined || value === null) return "";
  if (typeof value === "string" && as !== "json") return value;
  return as === "json" ? JSON.stringify(value, null, 2) : JSON.stringify(value);
}

/** "user_request" -> "User request". */
export function titleOf(key: string): string {
  const words = key.replaceAll("_", " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
