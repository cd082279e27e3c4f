import { type Json, type JsonObject, StateKey } from "@/server/domain/base/values";
import { type Fault, faultTexts, readSchema } from "@/server/domain/schema/schema";
import type { WorkflowGraph } from "./graph";
import { inputFields, inputSchema, type RunInputField } from "./run-input";
import { keySchema } from "./state-check";

/** What is wrong with the input of a run, by key; empty where it may start. */
export function findInputErrors(graph: WorkflowGraph, input: JsonObject): KeyFault[] {
  const errors: KeyFault[] = [];
  for (const key of Object.keys(input))
    if (!StateKey.safeParse(key).success)
      errors.push({ key, message: "This is not a possible key: use letters, digits and _." });
  const given: JsonObject = { ...input };
  for (const field of inputFields(graph)) {
    const value = input[field.key];
    if (value === undefined || value === null) {
      if (field.required) errors.push({ key: field.key, message: "Please fill this in." });
      if (field.default !== undefined) given[field.key] = field.default;
      else delete given[field.key];
      continue;
    }
    const message = fieldFault(field, value);
    if (message !== undefined) errors.push({ key: field.key, message });
  }
  // What holds between keys is only worth telling where each of them is right.
  const schema = inputSchema(graph);
  if (errors.length > 0 || !schema) return errors;
  return faultsByKey(readSchema(schema).faults(given));
}

/** What its own schema has against what was entered in a field, as a sentence; undefined where it fits. */
export function fieldFault(field: Pick<RunInputField, "schema" | "around">, value: Json): string | undefined {
  const [fault] = faultTexts(keySchema(field.schema, field.around).faults(value));
  return fault === undefined ? undefined : said(fault);
}

/** What is wrong with one thing that was entered. */
export interface KeyFault {
  key: string;
  message: string;
}

/** Faults of an object as sentences about its keys. */
export const faultsByKey = (faults: readonly Fault[]): KeyFault[] =>
  faults.map(({ path: [key = "", ...path], message }) => ({
    key: String(key),
    message: said(faultTexts([{ path, message }])[0] ?? ""),
  }));

const said = (fault: string) => `This ${fault.includes(": ") ? "does not fit: " : ""}${fault}.`;
