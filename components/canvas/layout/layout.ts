import { portOf, portsOf } from "@/components/forms/ports";
import { defined } from "@/server/domain/base/defined";
import type { WorkflowEdge, WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { isExecutable } from "@/server/domain/nodes";
import { cardHeight } from "../cards/card-size";
import type { ToArrange } from "./arrange";
import { fallbackPlaces, type XY } from "./places";

/**
 * Tidy places, from left to right: of all nodes, or only of those given, which then keep their upper left corner.
 * Works beside the page, with a library that loads when it is first needed. `signal`: gives up, and answers null.
 * `width`: that of the viewport.
 */
export async function layout(
  graph: WorkflowGraph,
  only?: ReadonlySet<string>,
  signal?: AbortSignal,
  width?: number,
): Promise<Record<string, XY> | null> {
  const { analyse } = await import("@/server/domain/graph/analysis");
  if (signal?.aborted) return null;
  const chosen = Object.values(graph.nodes).filter(
    (node) => isExecutable(node) && (!only || only.has(node.id)),
  );
  if (chosen.length === 0) return {};
  const ids = new Set(chosen.map(({ id }) => id));
  const outgoing = outgoingEdges(graph);
  // A line back to where a loop begins says nothing about left and right.
  const { backEdges } = analyse(graph);
  const places = await solve(
    {
      // The library keeps the order in which it first meets nodes: that of the lines, port by port.
      cards: inLineOrder(outgoing, chosen, graph).map((node) => ({
        id: node.id,
        height: cardHeight(node, portsOf(node, outgoing.get(node.id) ?? [])),
      })),
      lines: [...outgoing.values()].flat().flatMap((edge) => {
        const { id, source_node_id: from, target_node_id: to } = edge;
        return ids.has(from) && ids.has(to) && from !== to && !backEdges.has(id) ? [{ from, to }] : [];
      }),
      ...defined({ width }),
    },
    signal,
  );
  if (!places) return null;
  const corners = chosen.map(({ id }) => ({ id, ...(places[id] ?? { x: 0, y: 0 }) }));
  const fallback = fallbackPlaces(graph);
  const now = chosen.map(({ id, ui }) => ui ?? fallback.get(id) ?? { x: 0, y: 0 });
  const shiftX = Math.min(...now.map(({ x }) => x)) - Math.min(...corners.map(({ x }) => x));
  const shiftY = Math.min(...now.map(({ y }) => y)) - Math.min(...corners.map(({ y }) => y));
  return Object.fromEntries(
    corners.map(({ id, x, y }) => [id, { x: snap(x + shiftX), y: snap(y + shiftY) }]),
  );
}

async function solve(task: ToArrange, signal?: AbortSignal): Promise<Record<string, XY> | null> {
  if (typeof Worker === "undefined") return (await import("./arrange")).arrange(task);
  const worker = new Worker(new URL("./layout-worker.ts", import.meta.url), { type: "module" });
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<Record<string, XY>>) => resolve(data);
      worker.onerror = () => reject(new Error("Auto-layout failed. Reload the page."));
      signal?.addEventListener("abort", () => resolve(null));
      worker.postMessage(task);
    });
  } finally {
    worker.terminate();
  }
}

/** The lines from each node, in the order of the ports they come from. */
type EdgesByNode = ReadonlyMap<string, readonly WorkflowEdge[]>;

function outgoingEdges(graph: WorkflowGraph): EdgesByNode {
  const outgoing = new Map<string, WorkflowEdge[]>();
  for (const edge of graph.edges) {
    const known = outgoing.get(edge.source_node_id);
    if (known) known.push(edge);
    else outgoing.set(edge.source_node_id, [edge]);
  }
  for (const [id, edges] of outgoing) {
    const node = graph.nodes[id];
    if (!node) continue;
    const rank = new Map(portsOf(node, edges).map((port, at) => [port.id, at]));
    edges.sort((a, b) => (rank.get(portOf(a, node)) ?? 0) - (rank.get(portOf(b, node)) ?? 0));
  }
  return outgoing;
}

/** Nodes as one meets them following the lines, port by port, from where nothing leads in. */
function inLineOrder(
  outgoing: EdgesByNode,
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
    for (const { target_node_id } of outgoing.get(id) ?? []) visit(target_node_id);
  };
  for (const { id } of chosen) if (!entered.has(id)) visit(id);
  for (const { id } of chosen) visit(id);
  return ordered;
}

const snap = (value: number) => Math.round(value / 8) * 8;
