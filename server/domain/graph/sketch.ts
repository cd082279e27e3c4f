import { defined } from "@/server/domain/base/defined";
import type { CrewProcess } from "@/server/domain/crew/crew";
import { isCrewNode, isExecutable } from "@/server/domain/nodes";
import { type Silhouette, silhouetteOf } from "@/server/domain/nodes/silhouette";
import type { WorkflowGraph } from "./graph";

/** A graph as a thumbnail: positions of cards and connections. */
export interface Sketch {
  nodes: { x: number; y: number; silhouette: Silhouette; crew?: SketchedCrew }[];
  /** Pairs of places in `nodes`. */
  edges: [from: number, to: number][];
}

/** The process of a crew and the number of its members. */
export interface SketchedCrew {
  process: CrewProcess;
  members: number;
}

const COLUMN = 300;
const LANE = 140;

/**
 * Reduces a graph to its thumbnail. Nodes without a position are arranged in columns by their distance from the start.
 */
export function sketchOf(graph: Pick<WorkflowGraph, "nodes" | "edges">): Sketch {
  const shown = Object.values(graph.nodes).filter(isExecutable);
  const place = new Map(shown.map((node, at) => [node.id, at]));
  const edges = graph.edges.flatMap<Sketch["edges"][number]>(({ source_node_id, target_node_id }) => {
    const from = place.get(source_node_id);
    const to = place.get(target_node_id);
    return from === undefined || to === undefined ? [] : [[from, to]];
  });
  const unplaced = shown.some((node) => !node.ui);
  const spots = unplaced ? columns(shown.length, edges) : [];
  const nodes = shown.map((node, at) => ({
    silhouette: silhouetteOf(node),
    ...defined({
      crew:
        isCrewNode(node) && node.config.crew
          ? { process: node.config.crew.process, members: node.config.crew.agents.length }
          : undefined,
    }),
    ...(unplaced ? (spots[at] ?? { x: 0, y: 0 }) : { x: node.ui?.x ?? 0, y: node.ui?.y ?? 0 }),
  }));
  return { nodes, edges };
}

/** Positions by breadth-first distance from the nodes that nothing leads to. */
function columns(count: number, edges: readonly [number, number][]): { x: number; y: number }[] {
  const entered = new Set(edges.map(([, to]) => to));
  const depth = new Map<number, number>();
  let front = Array.from({ length: count }, (_, at) => at).filter((at) => !entered.has(at));
  if (front.length === 0 && count > 0) front = [0];
  for (let column = 0; front.length > 0; column++) {
    for (const at of front) depth.set(at, column);
    front = [
      ...new Set(front.flatMap((at) => edges.flatMap(([from, to]) => (from === at ? [to] : [])))),
    ].filter((at) => !depth.has(at));
  }
  const filled = new Map<number, number>();
  return Array.from({ length: count }, (_, at) => {
    const column = depth.get(at) ?? 0;
    const lane = filled.get(column) ?? 0;
    filled.set(column, lane + 1);
    return { x: column * COLUMN, y: lane * LANE };
  });
}
