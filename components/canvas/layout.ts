import { portOf, portsOf } from "@/components/forms/ports";
import type { WorkflowEdge, WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { isExecutable } from "@/server/domain/nodes";
import { CARD_WIDTH, cardHeight, fallbackPlaces, type XY } from "./flow-mapping";

/**
 * Tidy places, from left to right: of all nodes, or only of those given, which then keep their upper left corner.
 * The library loads when it is first needed.
 */
export async function layout(graph: WorkflowGraph, only?: ReadonlySet<string>): Promise<Record<string, XY>> {
  const [{ default: dagre }, { analyse }] = await Promise.all([
    import("@dagrejs/dagre"),
    import("@/server/domain/graph/analysis"),
  ]);
  const chosen = Object.values(graph.nodes).filter(
    (node) => isExecutable(node) && (!only || only.has(node.id)),
  );
  if (chosen.length === 0) return {};
  const ids = new Set(chosen.map(({ id }) => id));
  const drawing = new dagre.graphlib.Graph({ multigraph: true })
    .setGraph({ rankdir: "LR", nodesep: 32, ranksep: 88, edgesep: 24, ranker: "network-simplex" })
    .setDefaultEdgeLabel(() => ({}));
  const ways = waysOf(graph);
  // The library keeps the order in which it first meets nodes: that of the lines, port by port.
  for (const node of inLineOrder(ways, chosen, graph))
    drawing.setNode(node.id, {
      width: CARD_WIDTH,
      height: boxHeight(cardHeight(node, portsOf(node, ways.get(node.id) ?? []))),
    });
  // A line back to where a loop begins says nothing about left and right.
  const { backEdges } = analyse(graph);
  for (const edge of [...ways.values()].flat())
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
  mirrorIfUpsideDown(ways, corners);
  const places = fallbackPlaces(graph);
  const now = chosen.map(({ id, ui }) => ui ?? places.get(id) ?? { x: 0, y: 0 });
  const shiftX = Math.min(...now.map(({ x }) => x)) - Math.min(...corners.map(({ x }) => x));
  const shiftY = Math.min(...now.map(({ y }) => y)) - Math.min(...corners.map(({ y }) => y));
  return Object.fromEntries(
    corners.map(({ id, x, y }) => [id, { x: snap(x + shiftX), y: snap(y + shiftY) }]),
  );
}

/** The lines from each node, in the order of the ports they come from. */
type EdgesByNode = ReadonlyMap<string, readonly WorkflowEdge[]>;

function waysOf(graph: WorkflowGraph): EdgesByNode {
  const ways = new Map<string, WorkflowEdge[]>();
  for (const edge of graph.edges) {
    const known = ways.get(edge.source_node_id);
    if (known) known.push(edge);
    else ways.set(edge.source_node_id, [edge]);
  }
  for (const [id, edges] of ways) {
    const node = graph.nodes[id];
    if (!node) continue;
    const rank = new Map(portsOf(node, edges).map((port, at) => [port.id, at]));
    edges.sort((a, b) => (rank.get(portOf(a, node)) ?? 0) - (rank.get(portOf(b, node)) ?? 0));
  }
  return ways;
}

/** Upside down a drawing is as good as it was; it stands so that branches lie as the ports they come from. */
function mirrorIfUpsideDown(ways: EdgesByNode, corners: (XY & { id: string })[]): void {
  const height = new Map(corners.map(({ id, y }) => [id, y]));
  let turned = 0;
  for (const edges of ways.values())
    for (const [at, upper] of edges.entries())
      for (const lower of edges.slice(at + 1))
        turned += Math.sign(
          (height.get(upper.target_node_id) ?? 0) - (height.get(lower.target_node_id) ?? 0),
        );
  if (turned > 0) for (const corner of corners) corner.y = -corner.y;
}

/** Nodes as one meets them following the lines, port by port, from where nothing leads in. */
function inLineOrder(
  ways: EdgesByNode,
  chosen: readonly WorkflowNode[],
  { edges }: WorkflowGraph,
): WorkflowNode[] {
  const left = new Map(chosen.map((node) => [node.id, node]));
  const entered = new Set(edges.map(({ target_node_id }) => target_node_id));
  const ordered: WorkflowNode[] = [];
  const visit = (id: string) => {
    const node = left.get(id);
    if (!node) return;
    left.delete(id);
    ordered.push(node);
    for (const { target_node_id } of ways.get(id) ?? []) visit(target_node_id);
  };
  for (const { id } of chosen) if (!entered.has(id)) visit(id);
  for (const { id } of chosen) visit(id);
  return ordered;
}

/** Lines arrive at a card at this height; canvas.css puts the entry there. */
const PORT_LINE = 31;

// Symmetric about the line that edges arrive at: cards of different heights then stand on one straight line.
const boxHeight = (height: number) => 2 * (height - PORT_LINE);

const snap = (value: number) => Math.round(value / 8) * 8;
