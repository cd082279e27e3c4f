import { defined } from "@/server/domain/base/defined";
import { isObject } from "@/server/domain/base/guards";
import { freshEdgeId, freshId } from "@/server/domain/base/ids";
import { withBodyId } from "@/server/domain/graph/bodies";
import type { NodeGroup, WorkflowEdge, WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { withGroups } from "@/server/domain/graph/groups";
import { type Place, placeOf } from "./placing";

/** A copied part of a graph: nodes, the edges between them, and the groups it contains completely. */
export interface Fragment {
  nodes: Record<string, WorkflowNode>;
  edges: WorkflowEdge[];
  groups?: NodeGroup[];
  /** How many nodes of a copied text are not known here. */
  leftOut?: number;
}

/** The marker of copied text. */
export const FRAGMENT_FORMAT = "troupe-fragment";

/** These nodes and the edges between them. */
export function fragmentOf(graph: WorkflowGraph, ids: Iterable<string>): Fragment {
  const nodes: Record<string, WorkflowNode> = {};
  for (const id of ids) {
    const node = graph.nodes[id];
    if (node) nodes[id] = { ...node, ui: { ...node.ui, ...placeOf(graph, id) } };
  }
  const groups = (graph.groups ?? []).filter(({ node_ids }) => node_ids.every((id) => nodes[id]));
  return {
    nodes,
    edges: graph.edges.filter(
      ({ source_node_id, target_node_id }) => nodes[source_node_id] && nodes[target_node_id],
    ),
    ...defined({ groups: groups.length > 0 ? groups : undefined }),
  };
}

/** The text for the clipboard: readable JSON. */
export function writeFragment(fragment: Fragment): string {
  return JSON.stringify({ format: FRAGMENT_FORMAT, version: 1, ...fragment }, null, 2);
}

/** Whether a text was copied from here. */
export const isFragmentText = (text: string): boolean => {
  const value = parseJson(text);
  return isObject(value) && value.format === FRAGMENT_FORMAT;
};

/** Unused ids for pasted nodes and edges. */
export function freshIds(graph: WorkflowGraph, fragment: Fragment): Record<string, string> {
  const taken = new Set(Object.keys(graph.nodes));
  const ids: Record<string, string> = {};
  for (const id of Object.keys(fragment.nodes)) {
    const fresh = freshId(id.replace(/_\d+$/, "") || id, taken);
    taken.add(fresh);
    ids[id] = fresh;
  }
  return ids;
}

/** Adds a fragment, its upper left corner at the given place. Never replaces anything. */
export function withFragment(
  graph: WorkflowGraph,
  { fragment, at, ids }: { fragment: Fragment; at: Place; ids: Record<string, string> },
): WorkflowGraph {
  const corner = cornerOf(fragment);
  const nodes = { ...graph.nodes };
  for (const node of Object.values(fragment.nodes)) {
    const id = ids[node.id];
    if (id === undefined || Object.hasOwn(nodes, id)) continue;
    const { x = 0, y = 0 } = node.ui ?? {};
    nodes[id] = { ...node, id, ui: { ...node.ui, x: x - corner.x + at.x, y: y - corner.y + at.y } };
  }
  const taken = new Set(graph.edges.map(({ id }) => id));
  const edges = fragment.edges.flatMap((edge) => {
    const source = ids[edge.source_node_id];
    const target = ids[edge.target_node_id];
    if (source === undefined || target === undefined) return [];
    const id = freshEdgeId(taken);
    taken.add(id);
    return [{ ...edge, id, source_node_id: source, target_node_id: target }];
  });
  const added = { ...graph, nodes, edges: [...graph.edges, ...edges] };
  return withCopiedParts(added, fragment.groups ?? [], ids);
}

/** With the groups of a fragment around the nodes that came of it, and with bodies that are copies, too. */
function withCopiedParts(
  graph: WorkflowGraph,
  groups: readonly NodeGroup[],
  ids: Record<string, string>,
): WorkflowGraph {
  const known = graph.groups ?? [];
  const taken = new Set([...Object.keys(graph.nodes), ...known.map(({ id }) => id)]);
  const groupIds = new Map<string, string>();
  const copies = groups.map((group) => {
    const id = freshId("group", taken);
    taken.add(id);
    groupIds.set(group.id, id);
    return { ...group, id, node_ids: group.node_ids.flatMap((node) => ids[node] ?? []) };
  });
  const added = new Set(Object.values(ids));
  const bodyOf = (body: string) => groupIds.get(body) ?? ids[body];
  const nodes = Object.entries(graph.nodes).map(
    ([id, node]) => [id, added.has(id) ? withBodyId(node, bodyOf) : node] as const,
  );
  const copied: WorkflowGraph = { ...graph, nodes: Object.fromEntries(nodes) };
  return groups.length > 0 ? withGroups(copied, [...known, ...copies]) : copied;
}

/** The upper left corner of what a fragment covers. */
export function cornerOf(fragment: Fragment): Place {
  const places = Object.values(fragment.nodes).map(({ ui }) => ui ?? { x: 0, y: 0 });
  return {
    x: Math.min(...places.map(({ x }) => x), Number.POSITIVE_INFINITY) || 0,
    y: Math.min(...places.map(({ y }) => y), Number.POSITIVE_INFINITY) || 0,
  };
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
