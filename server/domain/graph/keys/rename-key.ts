import { defined } from "@/server/domain/base/defined";
import { isObject } from "@/server/domain/base/guards";
import { type JsonSchema, StateKey } from "@/server/domain/base/values";
import { getNodeKind, settingsOf, type WorkflowNode, withSettings } from "@/server/domain/nodes";
import { expressionReads } from "@/server/domain/text/expression/expression";
import { templateReads } from "@/server/domain/text/template/template";
import type { WorkflowGraph } from "../graph";
import { allKeys, textSites } from "../search/search";

/** What is wrong with a new name for a key; null if nothing is. */
export function keyNameError(graph: WorkflowGraph, from: string, to: string): string | null {
  const read = StateKey.safeParse(to);
  if (!read.success) return read.error.issues[0]?.message ?? "Invalid key. Use letters, digits and _.";
  return to !== from && allKeys(graph).includes(to) ? `The key "${to}" already exists` : null;
}

/**
 * Renames a state key wherever the workflow uses it: inputs and outputs, templates and expressions, mappings, and
 * schemas of inputs, results and the state. Returns the workflow unchanged if the new name is invalid or taken.
 */
export function renameKey(graph: WorkflowGraph, from: string, to: string): WorkflowGraph {
  if (from === to || keyNameError(graph, from, to) !== null) return graph;
  const written = textSites(graph).reduce((drawn, { sort, text, write }) => {
    if (sort === "key") return text === from ? write(drawn, to) : drawn;
    if (sort === "template") return writeIfNew(drawn, text, inTemplate(text, from, to), write);
    if (sort === "expression") return writeIfNew(drawn, text, inExpression(text, from, to), write);
    return drawn;
  }, graph);
  return {
    ...written,
    nodes: Object.fromEntries(
      Object.entries(written.nodes).map(([id, node]) => [
        id,
        withReturnedKeys(inShapes(node, from, to), graph.nodes[id]?.output_keys ?? [], { from, to }),
      ]),
    ),
    ...defined({
      global_state_schema: written.global_state_schema
        ? inSchema(written.global_state_schema, from, to)
        : undefined,
    }),
  };
}

function writeIfNew(
  graph: WorkflowGraph,
  before: string,
  after: string,
  write: (graph: WorkflowGraph, text: string) => WorkflowGraph,
): WorkflowGraph {
  return before === after ? graph : write(graph, after);
}

const inTemplate = (text: string, from: string, to: string) =>
  rewritten(
    text,
    templateReads(text).filter(({ key }) => key === from),
    from,
    to,
  );

const inExpression = (text: string, from: string, to: string) =>
  rewritten(
    text,
    expressionReads(text).filter(({ variable, key }) => key === from && variable === "state"),
    from,
    to,
  );

/** Writes the new name at each place, from behind, so that the places before it stay. */
function rewritten(
  text: string,
  places: readonly { from: number; to: number }[],
  old: string,
  name: string,
): string {
  return places
    .toSorted((a, b) => b.from - a.from)
    .reduce((written, place) => {
      const read = written.slice(place.from, place.to);
      // In `state.state` the key is the last; in `a.b` of a template the key is the first.
      const hasScope = /^(state|input)\s*[.[]/.test(read);
      const at = occurrencesIn(read, old).find((start) => start > 0 || !hasScope);
      if (at === undefined) return written;
      const start = place.from + at;
      return written.slice(0, start) + name + written.slice(start + old.length);
    }, text);
}

/** Where a name occurs as a whole word. */
function occurrencesIn(text: string, name: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const isInside = /\w$/.test(text.slice(0, at)) || /^\w/.test(text.slice(at + name.length));
    if (!isInside) places.push(at);
  }
  return places;
}

/** The outputs of another workflow keep their names: they are mapped to the new key. */
function withReturnedKeys(
  node: WorkflowNode,
  before: readonly string[],
  { from, to }: { from: string; to: string },
): WorkflowNode {
  const { calls, body } = getNodeKind(node.node_type);
  if (!calls || body || !before.includes(from)) return node;
  const returned = before.map((key) => [key === from ? to : key, `output.${key}`] as const);
  const output_mapping = node.output_mapping ?? Object.fromEntries(returned);
  return { ...node, output_keys: [...before], output_mapping };
}

/** Names of keys that are names of properties: in mappings, defaults and shapes. */
function inShapes(node: WorkflowNode, from: string, to: string): WorkflowNode {
  const config: Record<string, unknown> = { ...node.config };
  const settings = settingsOf(node);
  for (const field of ["input_schema", "output_schema"] as const) {
    const schema = settings[field];
    if (schema) config[field] = inSchema(schema, from, to);
  }
  const kind = getNodeKind(node.node_type);
  // The presets of a start node are stored in its config under the names of the keys.
  if (Object.hasOwn(kind.presets?.(node.config) ?? {}, from)) {
    config[to] = config[from];
    delete config[from];
  }
  for (const field of kind.fields) {
    // The inputs of another workflow have other names.
    const isHere = field.as === "assignments" && !kind.calls?.(node.config);
    const assigned = isHere ? settings[field.key] : undefined;
    if (assigned) config[field.key] = renamedIn(assigned, from, to);
  }
  return {
    ...withSettings(node, config),
    ...defined({
      input_mapping: node.input_mapping ? renamedIn(node.input_mapping, from, to) : undefined,
      output_mapping: node.output_mapping ? renamedIn(node.output_mapping, from, to) : undefined,
      default_output: node.default_output ? renamedIn(node.default_output, from, to) : undefined,
    }),
  };
}

function inSchema(schema: JsonSchema, from: string, to: string): JsonSchema {
  const { properties } = schema;
  const required = schema.required;
  return {
    ...schema,
    ...defined({
      properties: isObject(properties) ? renamedIn(properties, from, to) : undefined,
      required: Array.isArray(required) ? required.map((key) => (key === from ? to : key)) : undefined,
    }),
  };
}

const renamedIn = <V>(record: Record<string, V>, from: string, to: string): Record<string, V> =>
  Object.fromEntries(Object.entries(record ?? {}).map(([key, value]) => [key === from ? to : key, value]));
