import { type Json, type JsonObject, StateKey } from "@/server/domain/base/values";
import { errorTexts, type Fault, readSchema } from "@/server/domain/schema/schema";
import type { WorkflowGraph } from "./graph";
import { inputFields, inputSchema, type RunInputField } from "./run-input";
import { keySchema } from "./state-check";

/** What is wrong with the input of a run, by key; empty where it may start. */
export function findInputErrors(graph: WorkflowGraph, input: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  for (const key of Object.keys(input))
    if (!StateKey.safeParse(key).success)
      errors.push({ key, message: "Invalid key: use letters, digits and _." });
  const given: JsonObject = { ...input };
  for (const field of inputFields(graph)) {
    const value = input[field.key];
    if (value === undefined || value === null) {
      if (field.required) errors.push({ key: field.key, message: "Required." });
      if (field.default !== undefined) given[field.key] = field.default;
      else delete given[field.key];
      continue;
    }
    const message = fieldError(field, value);
    if (message !== undefined) errors.push({ key: field.key, message });
  }
  // What holds between keys is only worth telling where each of them is right.
  const schema = inputSchema(graph);
  if (errors.length > 0 || !schema) return errors;
  return errorsByKey(readSchema(schema).errors(given));
}

/** What its own schema has against what was entered in a field, as a sentence; undefined where it fits. */
export function fieldError(field: Pick<RunInputField, "schema" | "around">, value: Json): string | undefined {
  const [error] = errorTexts(keySchema(field.schema, field.around).errors(value));
  return error === undefined ? undefined : sentenceOf(error);
}

/** What is wrong with one thing that was entered. */
export interface FieldError {
  key: string;
  message: string;
}

/** Faults of an object as sentences about its keys. */
export const errorsByKey = (errors: readonly Fault[]): FieldError[] =>
  errors.map(({ path: [key = "", ...path], message }) => ({
    key: String(key),
    message: sentenceOf(errorTexts([{ path, message }])[0] ?? ""),
  }));

const sentenceOf = (error: string) => `This ${error.includes(": ") ? "doesn't match: " : ""}${error}.`;
