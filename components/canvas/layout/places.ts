import { portsOf } from "@/components/forms/ports";
import type { WorkflowEdge, WorkflowGraph } from "@/server/domain/graph/graph";
import { getNodeKind } from "@/server/domain/nodes";
import { CARD_WIDTH, cardHeight } from "../cards/card-size";

export interface XY {
  x: number;
  y: number;
}

/** The distance of columns, from left side to left side, with room for edges and labels. */
export const COLUMN = CARD_WIDTH + 64;
/** The distance of rows: a card, and the caption of a run below it. */
export const ROW = 152;

/** Places for files that say none: columns by distance from the start, at once and without the layout library. */
export function fallbackPlaces(graph: WorkflowGraph): Map<string, XY> {
  const depth = depths(graph);
  const rows = new Map<number, number>();
  const places = new Map<string, XY>();
  for (const node of Object.values(graph.nodes)) {
    const column = depth.get(node.id) ?? 0;
    const row = rows.get(column) ?? 0;
    rows.set(column, row + 1);
    places.set(node.id, { x: column * COLUMN, y: row * ROW });
  }
  return places;
}

/** Enough for most graphs; more would pull them apart. */
const MAX_SCALE = 2;

/** The graph, stretched vertically until each card has this much room below. */
export function withRoomBelow(graph: WorkflowGraph, room: number): WorkflowGraph {
  const outgoing = groupBySource(graph.edges);
  const cards = Object.values(graph.nodes)
    .flatMap((node) =>
      node.ui ? [{ ...node.ui, height: cardHeight(node, portsOf(node, outgoing.get(node.id) ?? [])) }] : [],
    )
    .sort((a, b) => a.x - b.x);
  let scale = 1;
  for (const [at, a] of cards.entries())
    for (let next = at + 1; next < cards.length; next++) {
      const b = cards[next];
      if (!b || b.x - a.x >= CARD_WIDTH) break;
      const [upper, lower] = a.y < b.y ? [a, b] : [b, a];
      const apart = lower.y - upper.y;
      // Cards that lie on each other are no reason to move all others.
      if (apart >= upper.height) scale = Math.max(scale, (upper.height + room + 8) / apart);
    }
  if (scale === 1) return graph;
  const by = Math.min(scale, MAX_SCALE);
  return {
    ...graph,
    nodes: Object.fromEntries(
      Object.entries(graph.nodes).map(([id, node]) => [
        id,
        node.ui ? { ...node, ui: { ...node.ui, y: Math.round(node.ui.y * by) } } : node,
      ]),
    ),
  };
}

/** Distance of every node from the start, breadth first; what cannot be reached counts from its own beginning. */
export function depths(graph: WorkflowGraph): Map<string, number> {
  const outgoing = groupBySource(graph.edges);
  const hasIncoming = new Set(graph.edges.map(({ target_node_id }) => target_node_id));
  const all = Object.values(graph.nodes);
  const first = all.filter(
    ({ id, node_type }) => id === graph.start_node_id || !!getNodeKind(node_type).begins,
  );
  const depth = new Map<string, number>();
  for (const root of [...first, ...all.filter(({ id }) => !hasIncoming.has(id)), ...all]) {
    if (depth.has(root.id)) continue;
    depth.set(root.id, 0);
    const queue = [root.id];
    for (let id = queue.shift(); id !== undefined; id = queue.shift())
      for (const { target_node_id } of outgoing.get(id) ?? [])
        if (!depth.has(target_node_id) && graph.nodes[target_node_id]) {
          depth.set(target_node_id, (depth.get(id) ?? 0) + 1);
          queue.push(target_node_id);
        }
  }
  return depth;
}

/** The edges from each node. */
export function groupBySource(edges: readonly WorkflowEdge[]): Map<string, WorkflowEdge[]> {
  const groups = new Map<string, WorkflowEdge[]>();
  for (const edge of edges) {
    const group = groups.get(edge.source_node_id);
    if (group) group.push(edge);
    else groups.set(edge.source_node_id, [edge]);
  }
  return groups;
}
