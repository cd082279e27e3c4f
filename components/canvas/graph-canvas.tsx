"use client";

import {
  Background,
  BackgroundVariant,
  type EdgeChange,
  Panel,
  ReactFlow,
  type ReactFlowProps,
  ReactFlowProvider,
  SelectionMode,
  useReactFlow,
} from "@xyflow/react";
import {
  type ComponentProps,
  type DragEvent,
  type KeyboardEvent,
  type ReactNode,
  useMemo,
  useState,
} from "react";
import { isTyping } from "@/components/page/typing";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import {
  CanvasContext,
  type CanvasEditing,
  type DropPoint,
  type NamedAgents,
  PALETTE_DRAG,
  TinyContext,
} from "./canvas-context";
import { Arrow, Guides, Overview, ZoomControls } from "./canvas-parts";
import { type CanvasRun, CanvasRunContext } from "./canvas-run-context";
import { KnownSizes } from "./cards/known-sizes";
import { NodeCard } from "./cards/node-card";
import { NoteCard } from "./cards/note-card";
import { EdgeLine } from "./edge-line";
import type { Dressing, FlowEdge, FlowNode } from "./flow-mapping";
import { edgeIdAt, isPane } from "./hits";
import { HoverContext, newHover } from "./hover";
import { MIN_ZOOM, MINIMAP_FROM, type View } from "./layout/view-fit";
import { FirstView, MANY_NODES, useDetail } from "./opening";
import { useCanvasView } from "./use-canvas-view";
import { useConnecting } from "./use-connecting";
import { useDragging } from "./use-dragging";
import { NOTHING, type Selection, toggled, useFlow, useSelected } from "./use-flow";
import { type WalkMode, walk } from "./walking";
import "./canvas.css";

// At module level: new objects would make React Flow mount every node again.
const OPTIONS: Partial<ReactFlowProps<FlowNode, FlowEdge>> = {
  nodeTypes: { card: NodeCard, note: NoteCard },
  edgeTypes: { line: EdgeLine },
  nodesFocusable: false,
  edgesFocusable: false,
  disableKeyboardA11y: true,
  deleteKeyCode: null,
  multiSelectionKeyCode: ["Shift", "Meta", "Control"],
  selectionMode: SelectionMode.Partial,
  selectNodesOnDrag: false,
  elevateNodesOnSelect: true,
  nodeDragThreshold: 3,
  connectionRadius: 28,
  snapToGrid: true,
  snapGrid: [8, 8],
  panOnScroll: true,
  zoomOnDoubleClick: false,
  minZoom: MIN_ZOOM,
  maxZoom: 2,
  attributionPosition: "bottom-right",
};
/** It moves with the outer canvas. */
const STILL: Partial<ReactFlowProps<FlowNode, FlowEdge>> = {
  panOnDrag: false,
  panOnScroll: false,
  zoomOnScroll: false,
  zoomOnPinch: false,
  proOptions: { hideAttribution: true },
};
const NO_ROLES: ReadonlyMap<string, RoleDefinition> = new Map();
const NO_AGENTS: NamedAgents = new Map();

export interface GraphCanvasProps {
  graph: WorkflowGraph;
  /** The accessible name. */
  label?: string;
  roles?: ReadonlyMap<string, RoleDefinition>;
  agents?: NamedAgents;
  /** Absent: read-only. */
  editing?: CanvasEditing;
  /** In a read-only canvas: the selected node. */
  selectedId?: string | null;
  onSelect?: (nodeId: string | null) => void;
  /** In an editable canvas: the selected nodes and edges. */
  selection?: Selection;
  onSelectionChange?: (change: (before: Selection) => Selection) => void;
  dressing?: Dressing;
  run?: CanvasRun | null;
  /** How much of the right side a panel covers, in pixels: fitted or revealed nodes stay clear of it. */
  insetRight?: number;
  /** The share of the height that a panel at the bottom covers, from 0 to 1. */
  insetBottom?: number | undefined;
  onKeyDown?: (event: KeyboardEvent<HTMLElement>) => void;
  /** Called when a person moves the view: stop following the run. */
  onUserMove?: () => void;
  /** The view that it keeps, without controls: it is part of another canvas. */
  still?: View;
  /** Panels on the canvas; they may use `useCanvasView`. */
  children?: ReactNode;
}

/** Goes around a GraphCanvas; everything inside may use `useCanvasView`. */
export function CanvasProvider({ isStill, children }: { isStill?: boolean; children: ReactNode }) {
  return (
    <ReactFlowProvider>
      <KnownSizes {...defined({ isStill })} />
      {children}
    </ReactFlowProvider>
  );
}

/** A workflow on the canvas: to edit, to view, or to watch a run. Needs a CanvasProvider around it. */
export function GraphCanvas(props: GraphCanvasProps) {
  const { graph, label = "Workflow canvas", editing, run = null, dressing, still } = props;
  const { roles = NO_ROLES, agents = NO_AGENTS, insetRight = 0 } = props;
  // Destructured, so that the handlers stay the same: React Flow passes a changed one to thousands of listeners.
  const { onSelect, onSelectionChange, onUserMove } = props;
  const { selected, onEdgesChange, onWalk } = useSelecting(props);
  const [hover] = useState(newHover);
  const { screenToFlowPosition } = useReactFlow<FlowNode, FlowEdge>();
  const view = useCanvasView();
  const at = (event: PointerPosition): DropPoint => {
    const client = { x: event.clientX, y: event.clientY };
    return { client, flow: screenToFlowPosition(client) };
  };
  const dragging = useDragging({ graph, editing, view, onSelectionChange });
  const connecting = useConnecting(editing, view, at);
  const { nodes, edges, setNodes } = useFlow(graph, selected, dressing, dragging.spliceId);
  // Zoomed out, a card shows only its name, larger: readable, and hundreds of cards render quickly.
  const { isFar, isSmall, isTiny } = useDetail(graph);
  const room = useTurns(dressing?.grown);
  const canvas = useMemo(() => ({ editing: editing ?? null, roles, agents }), [editing, roles, agents]);

  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    props.onKeyDown?.(event);
    if (event.defaultPrevented || isTyping(event.target)) return;
    walk(event, graph, view.focusNode, onWalk);
  };

  return (
    <CanvasContexts {...{ canvas, run, hover, isTiny }}>
      <ReactFlow<FlowNode, FlowEdge>
        className="graph-canvas"
        aria-label={label}
        tabIndex={0}
        data-small={isSmall || undefined}
        data-far={isFar || undefined}
        data-tiny={isTiny || undefined}
        data-run={!!run || undefined}
        data-room={room}
        data-inset-right={insetRight}
        data-inset-bottom={props.insetBottom}
        style={{ "--inset-right": `${insetRight}px` }}
        onKeyDown={onKeyDown}
        nodes={nodes}
        edges={edges}
        {...OPTIONS}
        onNodesChange={(changes) => dragging.onNodesChange(changes, setNodes)}
        onEdgesChange={onEdgesChange}
        onNodeDrag={dragging.onNodeDrag}
        onNodeDragStop={dragging.onNodeDragStop}
        onSelectionDragStop={(event, moved) => moved[0] && dragging.onNodeDragStop(event, moved[0])}
        {...connecting}
        onNodeClick={(_event, node) => onSelect?.(node.id)}
        onPaneClick={() => onSelect?.(null)}
        onNodeDoubleClick={(_event, node) => editing?.onOpen(node.id, "node")}
        onEdgeDoubleClick={(_event, edge) => editing?.onOpen(edge.id, "edge")}
        onEdgeMouseEnter={(_event, edge) => hover.getState().enter(edge.id)}
        onEdgeMouseLeave={(_event, edge) => hover.getState().leave(edge.id)}
        onDoubleClick={(event) => isPane(event.target) && editing?.onAddAt(at(event))}
        {...(editing && menuHandlers(editing, at))}
        {...(editing && paletteHandlers(editing, at, dragging.setSpliceId))}
        onMoveStart={(event) => event && onUserMove?.()}
        nodesDraggable={!!editing}
        nodesConnectable={!!editing}
        edgesReconnectable={!!editing && !isTiny}
        elementsSelectable={!!editing || !!onSelect}
        {...(still && { ...STILL, defaultViewport: still, viewport: still })}
        onlyRenderVisibleElements={nodes.length > MANY_NODES && !isTiny}
      >
        <Arrow />
        {still ? null : (
          <>
            <FirstView graph={graph} />
            <Background variant={BackgroundVariant.Dots} gap={24} size={1.4} color="var(--line-strong)" />
            <Guides guides={dragging.guides} />
            <Panel position="bottom-left" className="canvas-zoom">
              <ZoomControls />
            </Panel>
            {nodes.length > MINIMAP_FROM && <Overview />}
          </>
        )}
        {props.children}
      </ReactFlow>
    </CanvasContexts>
  );
}

function CanvasContexts({
  canvas,
  run,
  hover,
  isTiny,
  children,
}: {
  canvas: ComponentProps<typeof CanvasContext>["value"];
  run: CanvasRun | null;
  hover: ReturnType<typeof newHover>;
  isTiny: boolean;
  children: ReactNode;
}) {
  return (
    <CanvasContext value={canvas}>
      <CanvasRunContext value={run}>
        <HoverContext value={hover}>
          <TinyContext value={isTiny}>{children}</TinyContext>
        </HoverContext>
      </CanvasRunContext>
    </CanvasContext>
  );
}

/** The selection, and its changes by mouse and keyboard. */
function useSelecting({ selectedId, selection = NOTHING, onSelect, onSelectionChange }: GraphCanvasProps) {
  return {
    selected: { nodes: useSelected(selectedId, selection), edges: selection.edges },
    onEdgesChange(changes: EdgeChange<FlowEdge>[]) {
      const picked = changes.filter((change) => change.type === "select");
      if (picked.length > 0)
        onSelectionChange?.((before) => ({ ...before, edges: toggled(before.edges, picked) }));
    },
    onWalk(id: string | null, how: WalkMode) {
      if (how === "look") return;
      onSelect?.(id);
      onSelectionChange?.(({ nodes }) => ({
        nodes: new Set([...(how === "add" ? nodes : []), ...(id ? [id] : [])]),
        edges: new Set(),
      }));
    },
  };
}

/** Alternates between "odd" and "even" with each change of `value`, to restart a CSS animation each time. */
function useTurns(value: unknown): "odd" | "even" | undefined {
  const [turns, setTurns] = useState({ value, count: 0 });
  if (turns.value !== value) setTurns({ value, count: turns.count + 1 });
  return turns.count === 0 ? undefined : turns.count % 2 === 1 ? "odd" : "even";
}

type PointerPosition = { clientX: number; clientY: number };

function menuHandlers(editing: CanvasEditing, at: (event: PointerPosition) => DropPoint) {
  const open = (event: PointerPosition, target: { kind: "node" | "edge" | "pane"; id?: string }) => {
    editing.onMenu(target, at(event));
  };
  return {
    onNodeContextMenu: (event: PointerPosition, node: FlowNode) => open(event, { kind: "node", id: node.id }),
    onEdgeContextMenu: (event: PointerPosition, edge: FlowEdge) => open(event, { kind: "edge", id: edge.id }),
    onPaneContextMenu: (event: PointerPosition) => open(event, { kind: "pane" }),
  };
}

/** Drops a node from the palette on the canvas or on an edge. */
function paletteHandlers(
  editing: CanvasEditing,
  at: (event: PointerPosition) => DropPoint,
  setSpliceId: (edgeId: string | null) => void,
) {
  const edgeUnder = ({ clientX, clientY }: PointerPosition) => edgeIdAt({ x: clientX, y: clientY });
  return {
    onDragOver(event: DragEvent) {
      if (!event.dataTransfer.types.includes(PALETTE_DRAG)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "copy";
      setSpliceId(edgeUnder(event));
    },
    onDragLeave({ relatedTarget: to, currentTarget }: DragEvent) {
      if (!(to instanceof Node && currentTarget.contains(to))) setSpliceId(null);
    },
    onDrop(event: DragEvent) {
      const payload = event.dataTransfer.getData(PALETTE_DRAG);
      setSpliceId(null);
      if (!payload) return;
      event.preventDefault();
      editing.onDropKind(payload, at(event), edgeUnder(event));
    },
  };
}
