import { CARD_WIDTH } from "@/components/canvas/cards/card-size";
import { layout } from "@/components/canvas/layout/layout";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { isExecutable } from "@/server/domain/nodes";
import { type Place, placeOf } from "../editing/placing";

const CLEAR = 16;
const ROW = 120;

/**
 * Places for nodes that stand where one node stood before: the first of them in its place, what lies to the right of
 * it gives way. Where that does not come out clear, the whole drawing is tidied up.
 */
export async function placesInstead(
  before: WorkflowGraph,
  nodeId: string,
  after: WorkflowGraph,
  added: readonly string[],
): Promise<WorkflowGraph> {
  const own = (await layout(after, new Set(added))) ?? {};
  const origin = placeOf(before, nodeId);
  const entry = own[added[0] ?? ""] ?? { x: 0, y: 0 };
  const left = Math.min(...Object.values(own).map(({ x }) => x));
  const places: Record<string, Place> = {};
  for (const [id, { x, y }] of Object.entries(own))
    places[id] = { x: x - left + origin.x, y: y - entry.y + origin.y };
  const more = Math.max(...Object.values(places).map(({ x }) => x)) - origin.x;
  for (const id of Object.keys(before.nodes)) {
    if (id === nodeId) continue;
    const { x, y } = placeOf(before, id);
    places[id] = { x: x >= origin.x + CARD_WIDTH ? x + more : x, y };
  }
  const next = withPlaces(after, places);
  return isClear(next, added) ? next : withPlaces(after, (await layout(next)) ?? {});
}

function isClear(graph: WorkflowGraph, added: readonly string[]): boolean {
  const others = Object.values(graph.nodes).filter((node) => !added.includes(node.id) && isExecutable(node));
  return added.every((id) => {
    const { x, y } = placeOf(graph, id);
    return others.every((other) => {
      const there = placeOf(graph, other.id);
      return Math.abs(there.x - x) >= CARD_WIDTH + CLEAR || Math.abs(there.y - y) >= ROW;
    });
  });
}

const withPlaces = (graph: WorkflowGraph, places: Readonly<Record<string, Place>>): WorkflowGraph => ({
  ...graph,
  nodes: Object.fromEntries(
    Object.entries(graph.nodes).map(([id, node]) => {
      const place = places[id];
      return [id, place ? { ...node, ui: { ...node.ui, ...place } } : node];
    }),
  ),
});
