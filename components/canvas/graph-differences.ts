import { isSameJson } from "@/server/domain/base/values";
import type { WorkflowEdge, WorkflowGraph } from "@/server/domain/graph/graph";

/** What one version has otherwise than another, in words. */
export interface Difference {
  kind: "added" | "removed" | "changed" | "moved";
  text: string;
}

/** A workflow as it stood at some moment. */
interface Version {
  name: string;
  graph: WorkflowGraph;
}

/** How `after` differs from `before`; what only moved stands last, as it matters least. */
export function differences(before: Version, after: Version): Difference[] {
  const list: Difference[] = [];
  if (before.name !== after.name)
    list.push({ kind: "changed", text: `Renamed from “${before.name}” to “${after.name}”` });
  const a = before.graph;
  const b = after.graph;
  for (const node of Object.values(b.nodes)) {
    const old = a.nodes[node.id];
    if (!old) list.push({ kind: "added", text: `Node “${node.name}”` });
    else {
      const { ui: oldPlace, ...oldRest } = old;
      const { ui: place, ...rest } = node;
      if (!isSameJson(oldRest, rest)) list.push({ kind: "changed", text: `Node “${node.name}”` });
      else if (!isSameJson(oldPlace ?? null, place ?? null))
        list.push({ kind: "moved", text: `Node “${node.name}”` });
    }
  }
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
  if (!isSameJson(settings(a), settings(b))) list.push({ kind: "changed", text: "Settings of the workflow" });
  return list.sort((x, y) => Number(x.kind === "moved") - Number(y.kind === "moved"));
}

const settings = ({ nodes: _nodes, edges: _edges, ...rest }: WorkflowGraph) => rest;

function connection(graph: WorkflowGraph, edge: WorkflowEdge): string {
  const name = (id: string) => graph.nodes[id]?.name ?? id;
  const label = edge.edge_label ? ` (${edge.edge_label})` : "";
  return `Connection ${name(edge.source_node_id)} → ${name(edge.target_node_id)}${label}`;
}
