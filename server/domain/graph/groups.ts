import { newNode } from "../nodes/new-node";
import type { NodeGroup, WorkflowGraph } from "./graph";

/** Frames around nodes: they are words for people, and nothing of a run. */

type Place = { x: number; y: number };

/** A new group of these nodes, which leave the groups they were in. Nodes that are not there are left out. */
export function grouped(graph: WorkflowGraph, id: string, nodes: readonly string[]): WorkflowGraph {
  const members = nodes.filter((node) => Object.hasOwn(graph.nodes, node));
  if (members.length === 0) return graph;
  const rest = (graph.groups ?? []).map((group) => ({
    ...group,
    node_ids: group.node_ids.filter((node) => !members.includes(node)),
  }));
  const made: NodeGroup = {
    id,
    name: "",
    color: "grey",
    node_ids: [...new Set(members)],
    is_collapsed: false,
  };
  return withGroups(graph, [...rest, made]);
}

/** Sets the groups; empty ones are dropped, and a workflow without groups has no `groups`. */
export function withGroups(graph: WorkflowGraph, groups: readonly NodeGroup[]): WorkflowGraph {
  const kept = groups.filter(({ node_ids }) => node_ids.length > 0);
  const { groups: _before, ...rest } = graph;
  return kept.length > 0 ? { ...rest, groups: kept } : rest;
}

/** Removes nodes from groups that no longer exist in the graph. */
export function withoutGone(graph: WorkflowGraph): WorkflowGraph {
  if (!graph.groups) return graph;
  return withGroups(
    graph,
    graph.groups.map((group) => ({
      ...group,
      node_ids: group.node_ids.filter((id) => Object.hasOwn(graph.nodes, id)),
    })),
  );
}

/** Where the card of a collapsed group stands: at the upper left of its nodes. */
export function cornerOfGroup(graph: WorkflowGraph, { node_ids }: NodeGroup): Place {
  const places = node_ids.flatMap((id) => graph.nodes[id]?.ui ?? []);
  if (places.length === 0) return { x: 0, y: 0 };
  return { x: Math.min(...places.map(({ x }) => x)), y: Math.min(...places.map(({ y }) => y)) };
}

/** The positions of a group's nodes after moving its corner. */
export function movedGroup(graph: WorkflowGraph, group: NodeGroup, to: Place): Record<string, Place> {
  const from = cornerOfGroup(graph, group);
  return Object.fromEntries(
    group.node_ids.flatMap((id) => {
      const at = graph.nodes[id]?.ui;
      return at ? [[id, { x: at.x + to.x - from.x, y: at.y + to.y - from.y }]] : [];
    }),
  );
}

/**
 * The workflow as displayed: one card stands for each collapsed group, and the group's external connections attach to
 * it. Never saved and never run.
 */
export function withFolded(graph: WorkflowGraph): WorkflowGraph {
  const folded = (graph.groups ?? []).filter(
    ({ is_collapsed, node_ids }) => is_collapsed && node_ids.some((id) => Object.hasOwn(graph.nodes, id)),
  );
  if (folded.length === 0) return graph;
  const groupOf = new Map(folded.flatMap(({ id, node_ids }) => node_ids.map((node) => [node, id] as const)));
  const end = (id: string) => groupOf.get(id) ?? id;
  const cards = folded.map((group) =>
    newNode("transform", {
      id: group.id,
      name: group.name || "Group",
      ui: cornerOfGroup(graph, group),
    }),
  );
  const left = Object.entries(graph.nodes).filter(([id]) => !groupOf.has(id));
  return {
    ...graph,
    nodes: Object.fromEntries([...left, ...cards.map((card) => [card.id, card] as const)]),
    edges: graph.edges.flatMap((edge) => {
      const source_node_id = end(edge.source_node_id);
      const target_node_id = end(edge.target_node_id);
      if (source_node_id === edge.source_node_id && target_node_id === edge.target_node_id) return edge;
      return source_node_id === target_node_id ? [] : { ...edge, source_node_id, target_node_id };
    }),
  };
}
