import { isObject } from "@/server/domain/base/guards";
import { propertiesOf } from "@/server/domain/base/json-schema";
import type { JsonSchema } from "@/server/domain/base/values";
import type { WorkflowGraph } from "../graph";

/** Merge rules for parallel writes to a state key, with their labels. `last` replaces. */
export const REDUCERS = {
  last: "Last write wins",
  append: "Append to list",
  concat_text: "Join text",
  union: "Append unique items",
  merge: "Merge objects",
  deep_merge: "Deep-merge objects",
  add: "Sum",
  max: "Maximum",
  min: "Minimum",
  first: "First write wins",
} as const;
export type Reducer = keyof typeof REDUCERS;

export const isReducer = (name: unknown): name is Reducer =>
  typeof name === "string" && Object.hasOwn(REDUCERS, name);

/** The properties of the state schema, or an empty record. */
export const stateProperties = (graph: WorkflowGraph): Record<string, JsonSchema> =>
  propertiesOf(graph.global_state_schema ?? undefined);

/** The schema of one key of the state; undefined where it has none. Only this property is read: it is asked for each value that is written. */
export function propertyOf(graph: WorkflowGraph, key: string): JsonSchema | undefined {
  const properties = graph.global_state_schema?.properties;
  const own = isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
  return isObject(own) ? own : undefined;
}

/** How values of a key merge. */
export function reducerOf(graph: WorkflowGraph, key: string): Reducer {
  const named = propertyOf(graph, key)?.["x-reducer"];
  return isReducer(named) ? named : "last";
}
