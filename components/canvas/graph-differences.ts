import { recordOf } from "@/server/domain/base/guards";
import { isSameJson } from "@/server/domain/base/json";
import type { WorkflowEdge, WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind } from "@/server/domain/nodes";

/** One difference between two versions. */
export interface Difference {
  kind: "added" | "removed" | "changed" | "moved";
  text: string;
  /** The parts that changed. */
  details?: string;
}

interface Version {
  name: string;
  graph: WorkflowGraph;
}

/** How `after` differs from `before`; nodes that only moved come last, since they matter least. */
export function differences(before: Version, after: Version): Difference[] {
  const list: Difference[] = [];
  if (before.name !== after.name)
    list.push({ kind: "changed", text: `Renamed from “${before.name}” to “${after.name}”` });
  const a = before.graph;
  const b = after.graph;
  for (const node of Object.values(b.nodes)) list.push(...nodeDifference(a.nodes[node.id], node));
  for (const node of Object.values(a.nodes))
    if (!b.nodes[node.id]) list.push({ kind: "removed", text: `Node “${node.name}”` });
  const oldEdges = new Map(a.edges.map((edge) => [edge.id, edge]));
  const newEdges = new Map(b.edges.map((edge) => [edge.id, edge]));
  for (const edge of b.edges) {
    const old = oldEdges.get(edge.id);
    if (!old) list.push({ kind: "added", text: connection(b, edge) });
    else if (!isSameJson(old, edge)) list.push({ kind: "changed", text: connection(b, edge) });
  }
  for (const edge of a.edges)
    if (!newEdges.has(edge.id)) list.push({ kind: "removed", text: connection(a, edge) });
  if (!isSameJson(settings(a), settings(b))) list.push({ kind: "changed", text: "Workflow settings" });
  return list.sort((x, y) => Number(x.kind === "moved") - Number(y.kind === "moved"));
}

function nodeDifference(old: WorkflowNode | undefined, node: WorkflowNode): Difference[] {
  const text = `Node “${node.name}”`;
  if (!old) return [{ kind: "added", text }];
  const { ui: oldPlace, ...oldRest } = old;
  const { ui: place, ...rest } = node;
  if (!isSameJson(oldRest, rest)) return [{ kind: "changed", text, details: changedParts(old, node) }];
  return isSameJson(oldPlace ?? null, place ?? null) ? [] : [{ kind: "moved", text }];
}

/** was “Ask”, Task, Writes */
function changedParts(before: WorkflowNode, after: WorkflowNode): string {
  const labels = new Map(getNodeKind(after.node_type).fields.map(({ key, label }) => [key, label]));
  const parts = (a: object, b: object, nameOf: (key: string) => string) =>
    [...new Set([...Object.keys(a), ...Object.keys(b)])]
      .filter((key) => !isSameJson(valueAt(a, key), valueAt(b, key)))
      .map(nameOf);
  const own = parts({ ...before, ui: null, config: null }, { ...after, ui: null, config: null }, (key) =>
    key === "name" ? `was “${before.name}”` : (OWN_PARTS[key] ?? key.replaceAll("_", " ")),
  );
  const config = parts(before.config, after.config, (key) => labels.get(key) ?? key.replaceAll("_", " "));
  return [...new Set([...own, ...config])].join(", ");
}

const valueAt = (of: object, key: string): unknown => recordOf(of)[key] ?? null;

const OWN_PARTS: Readonly<Record<string, string>> = {
  node_type: "Kind",
  description: "Description",
  when: "Condition",
  input_keys: "Reads",
  optional_input_keys: "Optional inputs",
  output_keys: "Writes",
  input_mapping: "Input mapping",
  output_mapping: "Output mapping",
  on_error: "On error",
  default_output: "Default output",
};

const settings = ({ nodes: _nodes, edges: _edges, ...rest }: WorkflowGraph) => rest;

function connection(graph: WorkflowGraph, edge: WorkflowEdge): string {
  const name = (id: string) => graph.nodes[id]?.name ?? id;
  const label = edge.edge_label ? ` (${edge.edge_label})` : "";
  return `Connection ${name(edge.source_node_id)} → ${name(edge.target_node_id)}${label}`;
}
