import { isObject } from "@/server/domain/base/guards";
import { propertiesOf } from "@/server/domain/base/json-schema";
import type { JsonSchema } from "@/server/domain/base/values";
import type { WorkflowGraph } from "../graph";

/** Merge rules for parallel writes to a state key, with their labels. `last` replaces. */
export const REDUCERS = {
  last: "The last one wins",
  append: "Appended to a list",
  concat_text: "Joined as text",
  union: "A list without doubles",
  merge: "Merged objects",
  deep_merge: "Merged objects, deeply",
  add: "Added up",
  max: "The largest",
  min: "The smallest",
  first: "The first one wins",
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
