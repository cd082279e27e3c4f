import { useMemo, useState } from "react";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import {
  type Dressing,
  type FlowEdge,
  type FlowNode,
  linesOf,
  toBox,
  toFlowEdges,
  toFlowNodes,
} from "./flow-mapping";
import type { XY } from "./layout/places";
import { routesOf } from "./layout/routes";

/** The selected nodes and edges. */
export interface Selection {
  nodes: ReadonlySet<string>;
  edges: ReadonlySet<string>;
}

export const NOTHING: Selection = { nodes: new Set(), edges: new Set() };

interface Flow {
  of: readonly unknown[];
  nodes: FlowNode[];
  edges: FlowEdge[];
  /** All positions as one text: edges are routed again only when it changes. */
  geometry: string;
  routes: ReadonlyMap<string, XY[]>;
  grown?: Dressing["grown"];
}

const EMPTY: Flow = { of: [], nodes: [], edges: [], geometry: "", routes: new Map() };

/** React Flow's nodes and edges for a graph; measured sizes and places under the pointer live only here. */
export function useFlow(
  graph: WorkflowGraph,
  { nodes: selectedNodes, edges: selectedEdges }: Selection,
  dressing: Dressing | undefined,
  spliceId: string | null,
) {
  const [flow, setFlow] = useState(EMPTY);
  const of = [graph, selectedNodes, selectedEdges, dressing, spliceId];
  let current = flow;
  if (of.some((value, at) => value !== flow.of[at])) {
    const nodes = toFlowNodes(graph, selectedNodes, flow.nodes, dressing);
    const classNames = spliceId ? new Map([[spliceId, "is-splice"]]) : dressing?.classNames;
    const isMoved = graph !== flow.of[0] || dressing?.grown !== flow.grown;
    const boxes = isMoved ? nodes.map(toBox) : [];
    const lines = isMoved ? linesOf(graph, nodes) : [];
    const geometry = isMoved ? JSON.stringify([boxes, lines]) : flow.geometry;
    const routes = geometry === flow.geometry ? flow.routes : routesOf(lines, boxes);
    const edges = toFlowEdges(graph, selectedEdges, flow.edges, { ...dressing, classNames, routes });
    // Derives state from props during rendering, as React recommends.
    current = { of, nodes, edges, geometry, routes, grown: dressing?.grown };
    setFlow(current);
  }
  const setNodes = (change: (old: FlowNode[]) => FlowNode[]) =>
    setFlow((old) => ({ ...old, nodes: change(old.nodes) }));
  return { nodes: current.nodes, edges: current.edges, setNodes };
}

/** The selected nodes: the one of a read-only canvas, else those of the editor. */
export function useSelected(
  selectedId: string | null | undefined,
  selection: Selection,
): ReadonlySet<string> {
  const one = useMemo(() => (selectedId ? new Set([selectedId]) : NOTHING.nodes), [selectedId]);
  return selectedId === undefined ? selection.nodes : one;
}

/** A set with the selection changes applied. */
export function toggled(before: ReadonlySet<string>, picked: readonly { id: string; selected: boolean }[]) {
  const after = new Set(before);
  for (const { id, selected } of picked) {
    if (selected) after.add(id);
    else after.delete(id);
  }
  return after;
}
