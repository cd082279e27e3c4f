import type { WorkflowGraph } from "@/server/domain/graph";
import { CARD_WIDTH, cardHeight, fallbackPlaces, type XY } from "./flow-mapping";
import { portOf, portsOf } from "./ports";

/**
 * Tidy places, from left to right: of all nodes, or only of those given, which then keep their upper left corner.
 * The library loads when it is first needed.
 */
export async function layout(graph: WorkflowGraph, only?: ReadonlySet<string>): Promise<Record<string, XY>> {
  const [{ default: dagre }, { analyse }] = await Promise.all([
    import("@dagrejs/dagre"),
    import("@/server/domain/analysis"),
  ]);
  const chosen = Object.values(graph.nodes).filter(
    ({ id, node_type }) => node_type !== "note" && (!only || only.has(id)),
  );
  if (chosen.length === 0) return {};
  const ids = new Set(chosen.map(({ id }) => id));
  const drawing = new dagre.graphlib.Graph({ multigraph: true })
    .setGraph({ rankdir: "LR", nodesep: 32, ranksep: 88, edgesep: 24, ranker: "network-simplex" })
    .setDefaultEdgeLabel(() => ({}));
  for (const node of chosen) {
    const outgoing = graph.edges.filter(({ source_node_id }) => source_node_id === node.id);
    drawing.setNode(node.id, {
      width: CARD_WIDTH,
      height: boxHeight(cardHeight(node, portsOf(node, outgoing))),
    });
  }
  // A line back to where a loop begins says nothing about left and right.
  const { backEdges } = analyse(graph);
  // Lines in the order of their ports, so that a router's branches lie as its ports do.
  for (const edge of [...graph.edges].sort((a, b) => portRank(graph, a) - portRank(graph, b)))
    if (
      ids.has(edge.source_node_id) &&
      ids.has(edge.target_node_id) &&
      edge.source_node_id !== edge.target_node_id &&
      !backEdges.has(edge.id)
    )
      drawing.setEdge(edge.source_node_id, edge.target_node_id, { weight: 1 }, edge.id);
  dagre.layout(drawing);

  const corners = chosen.map((node) => {
    const { x, y } = drawing.node(node.id) as { x: number; y: number };
    return { id: node.id, x: x - CARD_WIDTH / 2, y: y - PORT_LINE };
  });
  const places = fallbackPlaces(graph);
  const now = chosen.map(({ id, ui }) => ui ?? places.get(id) ?? { x: 0, y: 0 });
  const shiftX = Math.min(...now.map(({ x }) => x)) - Math.min(...corners.map(({ x }) => x));
  const shiftY = Math.min(...now.map(({ y }) => y)) - Math.min(...corners.map(({ y }) => y));
  return Object.fromEntries(
    corners.map(({ id, x, y }) => [id, { x: snap(x + shiftX), y: snap(y + shiftY) }]),
  );
}

/** Lines arrive at a card at this height; canvas.css puts the entry there. */
const PORT_LINE = 31;

// Symmetric about the line that edges arrive at: cards of different heights then stand on one straight line.
const boxHeight = (height: number) => 2 * (height - PORT_LINE);

const snap = (value: number) => Math.round(value / 8) * 8;

function portRank(graph: WorkflowGraph, edge: WorkflowGraph["edges"][number]): number {
  const source = graph.nodes[edge.source_node_id];
  if (!source) return 0;
  const outgoing = graph.edges.filter(({ source_node_id }) => source_node_id === source.id);
  return portsOf(source, outgoing).findIndex(({ id }) => id === portOf(edge, source));
}
