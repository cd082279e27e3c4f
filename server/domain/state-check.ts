import { z } from "zod";
import { stateProperties, type WorkflowGraph } from "./graph";
import type { Json, JsonSchema } from "./values";

const compiled = new WeakMap<object, z.ZodType | null>();

/** A checker for a JSON Schema, or null where the schema says nothing or cannot be read. */
export function schemaChecker(schema: JsonSchema): z.ZodType | null {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  let checker: z.ZodType | null = null;
  try {
    const { "x-reducer": _reducer, default: _default, ...plain } = schema;
    checker = Object.keys(plain).some((key) => key !== "description" && key !== "title")
      ? z.fromJSONSchema(plain)
      : null;
  } catch {
    checker = null;
  }
  compiled.set(schema, checker);
  return checker;
}

/** What is wrong with a value of a state key, in words; empty where it fits. Merged values are checked as written. */
export function findInvalid(graph: WorkflowGraph, key: string, value: Json, reducer: string): string[] {
  const properties = stateProperties(graph);
  if (!Object.hasOwn(properties, key)) return [];
  const schema = properties[key]!;
  const checker = schemaChecker(schema);
  if (!checker) return [];
  // An item appended to a list is not the list itself.
  const whole = (reducer === "append" || reducer === "union") && !Array.isArray(value) ? [value] : value;
  const result = checker.safeParse(whole);
  if (result.success) return [];
  return result.error.issues
    .slice(0, 5)
    .map((issue) => (issue.path.length > 0 ? `${issue.path.join(".")}: ${issue.message}` : issue.message));
}
