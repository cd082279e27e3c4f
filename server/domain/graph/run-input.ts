import { defined } from "@/server/domain/base/defined";
import { propertiesOf, requiredOf } from "@/server/domain/base/json-schema";
import { must } from "@/server/domain/base/must";
import type { Json, JsonObject, JsonSchema } from "@/server/domain/base/values";
import { settingsOf, writtenKeys } from "@/server/domain/nodes";
import { getNodeKind } from "../nodes";
import { startOf } from "./analysis";
import type { WorkflowGraph, WorkflowNode } from "./graph";
import { stateProperties } from "./keys/state-properties";

export const isStartNode = (node: WorkflowNode): boolean => getNodeKind(node.node_type).begins === true;

/** What a run asks for when it starts. */
export interface RunInputField {
  key: string;
  schema: JsonSchema;
  /** The schema that holds it, whose definitions it may name. */
  around?: JsonSchema;
  required: boolean;
  default?: Json;
}

/** The schema that the start node has for the whole input, if any. */
export function inputSchema(graph: WorkflowGraph): JsonSchema | undefined {
  const start = startNode(graph);
  return start && settingsOf(start).input_schema;
}

/** The inputs of a workflow: the start node's output keys and the properties of its input schema. A key without a schema takes any value. */
export function inputFields(graph: WorkflowGraph): RunInputField[] {
  const start = startNode(graph);
  if (!start) return [];
  const presets = getNodeKind(start.node_type).presets?.(start.config) ?? {};
  const schema = inputSchema(graph);
  const properties = propertiesOf(schema);
  const required = requiredOf(schema);
  const known = stateProperties(graph);
  const keys = [...new Set([...start.output_keys, ...Object.keys(properties)])];
  return keys.map((key) => {
    const [own, around] = Object.hasOwn(properties, key)
      ? [must(properties, key), schema]
      : Object.hasOwn(known, key)
        ? [must(known, key), graph.global_state_schema]
        : [{}, undefined];
    const preset = Object.hasOwn(presets, key) ? presets[key] : own.default;
    const isRequired = schema ? required.has(key) : true;
    return {
      key,
      schema: own,
      ...defined({ around: around || undefined }),
      required: isRequired && preset === undefined,
      ...defined({ default: preset }),
    };
  });
}

/** The state key that holds a run's variables. */
export const VARS = "vars";

/** Whether a workflow has its own state key of that name. It then keeps its meaning, and the workflow reads no variables. */
export const hasOwnVars = (graph: WorkflowGraph): boolean =>
  Object.hasOwn(stateProperties(graph), VARS) ||
  inputFields(graph).some(({ key }) => key === VARS) ||
  Object.values(graph.nodes).some((node) => writtenKeys(node).includes(VARS));

/** A run's initial state: schema defaults, the start node's defaults, then the given input, and its variables. */
export function startingState(
  graph: WorkflowGraph,
  input: JsonObject,
  variables?: JsonObject,
): { state: JsonObject; defaults: string[] } {
  const state: JsonObject = {};
  const defaults: string[] = [];
  for (const [key, schema] of Object.entries(stateProperties(graph)))
    if (schema.default !== undefined) {
      state[key] = schema.default;
      defaults.push(key);
    }
  for (const field of inputFields(graph))
    if (field.default !== undefined) {
      state[field.key] = field.default;
      defaults.push(field.key);
    }
  for (const [key, value] of Object.entries(input)) if (value !== undefined) state[key] = value;
  // An older workflow keeps its own key of that name.
  if (variables && !hasOwnVars(graph)) {
    delete state[VARS];
    if (Object.keys(variables).length > 0) state[VARS] = variables;
  }
  return { state, defaults: [...new Set(defaults)].filter((key) => !Object.hasOwn(input, key)) };
}

function startNode(graph: WorkflowGraph): WorkflowNode | undefined {
  const id = startOf(graph);
  return id === null ? undefined : graph.nodes[id];
}
