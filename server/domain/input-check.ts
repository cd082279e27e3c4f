import type { WorkflowGraph } from "./graph";
import { inputFields } from "./run-input";
import { schemaChecker } from "./state-check";
import { type JsonObject, StateKey } from "./values";

/** What is wrong with the input of a run, by key; empty where it may start. */
export function findInputErrors(graph: WorkflowGraph, input: JsonObject): { key: string; message: string }[] {
  const errors: { key: string; message: string }[] = [];
  for (const key of Object.keys(input))
    if (!StateKey.safeParse(key).success)
      errors.push({ key, message: "This is not a possible key: use letters, digits and _." });
  for (const field of inputFields(graph)) {
    const value = input[field.key];
    if (value === undefined || value === null) {
      if (field.required) errors.push({ key: field.key, message: "Please fill this in." });
      continue;
    }
    const result = schemaChecker(field.schema)?.safeParse(value);
    if (result && !result.success)
      errors.push({ key: field.key, message: result.error.issues[0]?.message ?? "This value does not fit." });
  }
  return errors;
}
