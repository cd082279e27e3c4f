import type { DropPoint } from "@/components/canvas/canvas-context";
import { CARD_WIDTH, ENTRY_LINE } from "@/components/canvas/cards/card-size";
import { COLUMN, fallbackPlaces, ROW } from "@/components/canvas/layout/places";
import type { WorkflowEdge, WorkflowGraph } from "@/server/domain/graph/graph";
import { getNodeKind, isExecutable } from "@/server/domain/nodes";

export interface Place {
  x: number;
  y: number;
}

/** The start node of a workflow that contains nothing else yet, except notes. */
export function loneStart(graph: WorkflowGraph): string | null {
  const [start, ...others] = Object.values(graph.nodes).filter(isExecutable);
  return start && others.length === 0 && getNodeKind(start.node_type).begins ? start.id : null;
}

/** Snapped to the grid. */
export const snap = (value: number) => Math.round(value / 8) * 8;

/** The position of a card whose entry is at this point. */
export const centredAt = ({ x, y }: Place): Place => ({
  x: snap(x - CARD_WIDTH / 2),
  y: snap(y - ENTRY_LINE),
});

/** The position of a card that was dropped at this point. */
export const dropPlace = ({ flow }: DropPoint): Place => ({
  x: snap(flow.x - 40),
  y: snap(flow.y - ENTRY_LINE),
});

/** The position of a node; a default if the file has none. */
export function placeOf(graph: WorkflowGraph, id: string): Place {
  const ui = graph.nodes[id]?.ui;
  return ui ? { x: ui.x, y: ui.y } : (fallbackPlaces(graph).get(id) ?? { x: 0, y: 0 });
}

/** A free place to the right of a node. */
export function placeAfter(graph: WorkflowGraph, id: string): Place {
  const { x, y } = placeOf(graph, id);
  return freePlace(graph, { x: x + COLUMN, y });
}

/** The nearest free position below, then above. */
export function freePlace(graph: WorkflowGraph, wanted: Place): Place {
  const taken = Object.keys(graph.nodes).map((id) => placeOf(graph, id));
  const isFree = (place: Place) =>
    taken.every(({ x, y }) => Math.abs(x - place.x) >= CARD_WIDTH || Math.abs(y - place.y) >= ROW - 16);
  for (let step = 0; step < 60; step++) {
    const offset = Math.ceil(step / 2) * ROW * (step % 2 === 1 ? 1 : -1);
    const place = { x: snap(wanted.x), y: snap(wanted.y + (step === 0 ? 0 : offset)) };
    if (isFree(place)) return place;
  }
  return { x: snap(wanted.x), y: snap(wanted.y) };
}

/** Where to insert a node, and how far the nodes after it move. `isBack`: the edge leads back. */
export function placeOnEdge(
  graph: WorkflowGraph,
  edge: WorkflowEdge,
): { place: Place; shift: number; isBack: boolean } {
  const from = placeOf(graph, edge.source_node_id);
  const to = placeOf(graph, edge.target_node_id);
  const room = to.x - from.x;
  if (room <= 0)
    return {
      place: freePlace(graph, { x: (from.x + to.x) / 2, y: Math.max(from.y, to.y) + ROW }),
      shift: 0,
      isBack: true,
    };
  const shift = Math.max(0, snap(2 * COLUMN - room));
  const middle = (from.x + to.x + shift) / 2;
  return { place: { x: snap(middle), y: snap((from.y + to.y) / 2) }, shift, isBack: false };
}

/** Moves a node and all that lies right of it and is reached from it. */
export function shiftRight(graph: WorkflowGraph, id: string, by: number, except: string): WorkflowGraph {
  const edge = placeOf(graph, id).x;
  const reached = new Set([id]);
  for (const at of reached)
    for (const { source_node_id, target_node_id } of graph.edges)
      if (source_node_id === at && placeOf(graph, target_node_id).x >= edge) reached.add(target_node_id);
  const nodes = { ...graph.nodes };
  for (const at of reached) {
    const node = nodes[at];
    if (!node || at === except) continue;
    const place = placeOf(graph, at);
    nodes[at] = { ...node, ui: { ...node.ui, x: place.x + by, y: place.y } };
  }
  return { ...graph, nodes };
}
