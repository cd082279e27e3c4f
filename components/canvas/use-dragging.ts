import { applyNodeChanges, type NodeChange, useReactFlow } from "@xyflow/react";
import { useRef, useState } from "react";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { CanvasEditing } from "./canvas-context";
import { type FlowEdge, type FlowNode, rounded, toBox } from "./flow-mapping";
import { edgeIdBetween } from "./hits";
import { type Alignment, align } from "./layout/helplines";
import type { XY } from "./layout/places";
import type { CanvasView } from "./use-canvas-view";
import { type Selection, toggled } from "./use-flow";

/** How close other cards must be for a dragged card to align with them, in pixels. */
const NEAR = 1500;

/**
 * Drags cards: their positions meanwhile (also of cards moved by changes without a `dragging` flag), the guides they snap
 * to, and the edge that an unconnected card is dropped on.
 */
export function useDragging({
  graph,
  editing,
  view,
  onSelectionChange,
}: {
  graph: WorkflowGraph;
  editing: CanvasEditing | undefined;
  view: CanvasView;
  onSelectionChange: ((change: (before: Selection) => Selection) => void) | undefined;
}) {
  const { getNodes } = useReactFlow<FlowNode, FlowEdge>();
  const dragged = useRef(new Map<string, XY>());
  const [spliceId, setSpliceId] = useState<string | null>(null);
  const [guides, setGuides] = useState<Alignment | null>(null);

  const snapToOthers = (id: string, position: XY): XY => {
    const boxes = getNodes().map(toBox);
    const mine = boxes.find((box) => box.id === id);
    if (!mine) return position;
    const others = boxes.filter((box) => box.id !== id && Math.abs(box.x - position.x) < NEAR);
    const found = align({ ...mine, ...position }, others);
    setGuides(found.vertical || found.horizontal ? found : null);
    return found.place;
  };

  /** The line that a loose card was put on, if it can come in between there. */
  const spliceUnder = (node: FlowNode): string | null => {
    if (!editing || isConnected(graph, node.id)) return null;
    const { width, height } = toBox(node);
    const { x, y } = dragged.current.get(node.id) ?? node.position;
    const found = edgeIdBetween(
      view.toClient({ x: x + width / 2, y }),
      view.toClient({ x, y: y + height }).y,
    );
    return found && editing.canConnect({ source: sourceOf(graph, found), target: node.id }) ? found : null;
  };

  return {
    spliceId,
    setSpliceId,
    guides,
    /** Handles React Flow's changes: selections go to the owner, positions and sizes to the flow. */
    onNodesChange(
      changes: NodeChange<FlowNode>[],
      setNodes: (change: (old: FlowNode[]) => FlowNode[]) => void,
    ) {
      const kept: NodeChange<FlowNode>[] = [];
      const picked: { id: string; selected: boolean }[] = [];
      const moves = changes.filter((change) => change.type === "position" && change.dragging);
      for (const change of changes) {
        if (change.type === "select") picked.push(change);
        else if (change.type === "dimensions") kept.push(change);
        else if (change.type === "position" && change.dragging && change.position) {
          const place = moves.length === 1 ? snapToOthers(change.id, change.position) : change.position;
          dragged.current.set(change.id, place);
          kept.push({ ...change, position: place });
        } else if (change.type === "position" && change.dragging === undefined) kept.push(change);
      }
      if (picked.length > 0)
        onSelectionChange?.((before) => ({ ...before, nodes: toggled(before.nodes, picked) }));
      if (kept.length > 0) setNodes((old) => applyNodeChanges(kept, old));
    },
    onNodeDrag(_event: unknown, node: FlowNode, moving: FlowNode[]) {
      const found = moving.length === 1 ? spliceUnder(node) : null;
      if (found !== spliceId) setSpliceId(found);
    },
    onNodeDragStop(_event: unknown, node: FlowNode) {
      const places = Object.fromEntries([...dragged.current].map(([id, place]) => [id, rounded(place)]));
      const spliced = dragged.current.size === 1 ? spliceUnder(node) : null;
      dragged.current.clear();
      setGuides(null);
      setSpliceId(null);
      if (!editing || Object.keys(places).length === 0) return;
      if (spliced) editing.onSplice(node.id, spliced, places[node.id] ?? rounded(node.position));
      else editing.onMove(places);
    },
  };
}

const isConnected = (graph: WorkflowGraph, id: string) =>
  graph.edges.some((edge) => edge.source_node_id === id || edge.target_node_id === id);

const sourceOf = (graph: WorkflowGraph, edgeId: string) =>
  graph.edges.find((edge) => edge.id === edgeId)?.source_node_id ?? "";
