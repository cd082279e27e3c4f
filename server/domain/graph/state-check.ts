import type { Json, JsonSchema } from "@/server/domain/base/values";
import { errorTexts, readSchema, type Schema } from "@/server/domain/schema/schema";
import type { WorkflowGraph } from "./graph";
import { propertyOf } from "./keys/state-properties";

const ready = new WeakMap<JsonSchema, { around: unknown; schema: Schema }>();

/** The schema of one key, ready to be checked. `around`: the schema that holds it, whose definitions it may name. */
export function keySchema(own: JsonSchema, around: JsonSchema | null | undefined): Schema {
  const known = ready.get(own);
  if (known && known.around === around) return known.schema;
  const schema = readSchema(withDefinitions(own, around));
  ready.set(own, { around, schema });
  return schema;
}

/** The schema of one key together with the definitions of the schema that holds it. */
export function withDefinitions(own: JsonSchema, around: JsonSchema | null | undefined): JsonSchema {
  const held = Object.entries(around ?? {}).filter(
    ([word]) => (word === "$defs" || word === "definitions" || word === "$schema") && !(word in own),
  );
  return held.length > 0 ? { ...Object.fromEntries(held), ...own } : own;
}

/** Errors of a value for a state key, as messages; empty if it is valid. Merged values are checked as written. */
export function findInvalid(graph: WorkflowGraph, key: string, value: Json, reducer: string): string[] {
  const own = propertyOf(graph, key);
  if (!own) return [];
  // An item appended to a list is not the list itself.
  const whole = (reducer === "append" || reducer === "union") && !Array.isArray(value) ? [value] : value;
  return errorTexts(keySchema(own, graph.global_state_schema).errors(whole)).slice(0, 5);
}
