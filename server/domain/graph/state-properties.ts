import { isObject } from "@/server/domain/base/guards";
import { propertiesOf } from "@/server/domain/base/json-schema";
import type { JsonSchema } from "@/server/domain/base/values";
import type { WorkflowGraph } from "./graph";

/** How values of one state key merge, with what becomes of what several nodes write, in words. `last` replaces. */
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

/** How values of a key merge; asked for each value that is written, so that only this property is read. */
export function reducerOf(graph: WorkflowGraph, key: string): Reducer {
  const properties = graph.global_state_schema?.properties;
  const own = isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
  const named = isObject(own) ? own["x-reducer"] : undefined;
  return isReducer(named) ? named : "last";
}
