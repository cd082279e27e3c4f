"use client";

import {
  Background,
  BackgroundVariant,
  type Connection,
  type EdgeChange,
  Panel,
  ReactFlow,
  ReactFlowProvider,
  SelectionMode,
  useReactFlow,
} from "@xyflow/react";
import { type KeyboardEvent, type ReactNode, useMemo, useState } from "react";
import { isTyping } from "@/components/page/typing";
import type { RoleDefinition } from "@/server/domain/agent/role";
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
import { MIN_ZOOM, MINIMAP_FROM } from "./layout/view-fit";
import { FirstView, MANY_NODES, useDetail } from "./opening";
import { useCanvasView } from "./use-canvas-view";
import { useConnecting } from "./use-connecting";
import { useDragging } from "./use-dragging";
import { NOTHING, type Selection, toggled, useFlow, useSelected } from "./use-flow";
import { walk } from "./walking";
import "./canvas.css";

// At module level: new objects here would make React Flow mount every node again.
const nodeTypes = { card: NodeCard, note: NoteCard };
const edgeTypes = { line: EdgeLine };
const SNAP: [number, number] = [8, 8];
const NO_ROLES: ReadonlyMap<string, RoleDefinition> = new Map();
const NO_AGENTS: NamedAgents = new Map();

export interface GraphCanvasProps {
  graph: WorkflowGraph;
  /** What a screen reader calls the drawing. */
  label?: string;
  roles?: ReadonlyMap<string, RoleDefinition>;
  agents?: NamedAgents;
  /** Absent: the drawing can only be looked at and walked through. */
  editing?: CanvasEditing;
  /** For canvases that only show: the one node that is picked. */
  selectedId?: string | null;
  onSelect?: (nodeId: string | null) => void;
  /** For editing: everything that is picked. */
  selection?: Selection;
  onSelectionChange?: (change: (before: Selection) => Selection) => void;
  dressing?: Dressing;
  /** The run to show on the drawing. */
  run?: CanvasRun | null;
  /** How much of its right side a panel covers, in pixels: what is fitted or revealed stays clear of it. */
  insetRight?: number;
  /** The share of its height that a panel covers from below, from 0 to 1. */
  insetBottom?: number | undefined;
  onKeyDown?: (event: KeyboardEvent<HTMLElement>) => void;
  /** A person moved the view by hand: whoever follows a run should stop. */
  onUserMove?: () => void;
  /** Panels inside the drawing; they may use `useCanvasView`. */
  children?: ReactNode;
}

/** Put this around a GraphCanvas; everything inside it may use `useCanvasView`. */
export function CanvasProvider({ children }: { children: ReactNode }) {
  return (
    <ReactFlowProvider>
      <KnownSizes />
      {children}
    </ReactFlowProvider>
  );
}

/** The drawing of a workflow: for editing, for looking at, and for watching a run. Needs a CanvasProvider around it. */
export function GraphCanvas(props: GraphCanvasProps) {
  const { graph, label = "Drawing of the workflow", editing, run = null, dressing } = props;
  const { roles = NO_ROLES, agents = NO_AGENTS, insetRight = 0 } = props;
  // Taken out one by one: a handler that changes is told to each of thousands of listeners in React Flow.
  const { onSelect, onSelectionChange, onUserMove } = props;
  const selection = props.selection ?? NOTHING;
  const selectedNodes = useSelected(props.selectedId, selection);
  const [hover] = useState(newHover);
  const { screenToFlowPosition } = useReactFlow<FlowNode, FlowEdge>();
  const view = useCanvasView();
  const at = (event: { clientX: number; clientY: number }): DropPoint => {
    const client = { x: event.clientX, y: event.clientY };
    return { client, flow: screenToFlowPosition(client) };
  };
  const dragging = useDragging({ graph, editing, view, onSelectionChange });
  const connecting = useConnecting(editing, view, at);
  const { spliceId } = dragging;
  const selected = { nodes: selectedNodes, edges: selection.edges };
  const { nodes, edges, setNodes } = useFlow(graph, selected, dressing, spliceId);
  // From afar a card shows its name only, larger: it can be read, and hundreds of cards stay quick to draw.
  const { isFar, isSmall, isTiny } = useDetail(graph);
  const room = useTurns(dressing?.grown);
  const canvas = useMemo(() => ({ editing: editing ?? null, roles, agents }), [editing, roles, agents]);

  const onEdgesChange = (changes: EdgeChange<FlowEdge>[]) => {
    const picked = changes.filter((change) => change.type === "select");
    if (picked.length > 0)
      onSelectionChange?.((before) => ({ ...before, edges: toggled(before.edges, picked) }));
  };

  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    props.onKeyDown?.(event);
    if (event.defaultPrevented || isTyping(event.target)) return;
    walk(event, graph, view.focusNode, (id, how) => {
      if (how === "look") return;
      onSelect?.(id);
      onSelectionChange?.(({ nodes }) => ({
        nodes: new Set([...(how === "add" ? nodes : []), ...(id ? [id] : [])]),
        edges: new Set(),
      }));
    });
  };

  return (
    <CanvasContext.Provider value={canvas}>
      <CanvasRunContext.Provider value={run}>
        <HoverContext.Provider value={hover}>
          <TinyContext.Provider value={isTiny}>
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
              nodeTypes={nodeTypes}
              edgeTypes={edgeTypes}
              onNodesChange={(changes) => dragging.onNodesChange(changes, setNodes)}
              onEdgesChange={onEdgesChange}
              onNodeDrag={dragging.onNodeDrag}
              onNodeDragStop={dragging.onNodeDragStop}
              onSelectionDragStop={(event, moved) => moved[0] && dragging.onNodeDragStop(event, moved[0])}
              onConnect={(drawn: Connection) => !connecting.isCancelled() && editing?.onConnect(drawn)}
              onConnectStart={connecting.onConnectStart}
              onConnectEnd={connecting.onConnectEnd}
              onReconnect={(edge, drawn) => editing?.onReconnect(edge.id, drawn)}
              isValidConnection={(drawn) =>
                editing?.canConnect({
                  source: drawn.source,
                  target: drawn.target,
                  sourceHandle: drawn.sourceHandle ?? null,
                }) ?? false
              }
              onNodeClick={(_event, node) => onSelect?.(node.id)}
              onPaneClick={() => onSelect?.(null)}
              onNodeDoubleClick={(_event, node) => editing?.onOpen(node.id, "node")}
              onEdgeDoubleClick={(_event, edge) => editing?.onOpen(edge.id, "edge")}
              onEdgeMouseEnter={(_event, edge) => hover.getState().enter(edge.id)}
              onEdgeMouseLeave={(_event, edge) => hover.getState().leave(edge.id)}
              onDoubleClick={(event) => isPane(event.target) && editing?.onAddAt(at(event))}
              {...(editing && menuHandlers(editing, at))}
              onDragOver={(event) => {
                if (!editing || !event.dataTransfer.types.includes(PALETTE_DRAG)) return;
                event.preventDefault();
                event.dataTransfer.dropEffect = "copy";
                dragging.setSpliceId(edgeIdAt({ x: event.clientX, y: event.clientY }));
              }}
              onDragLeave={(event) => {
                const to = event.relatedTarget;
                if (!(to instanceof Node && event.currentTarget.contains(to))) dragging.setSpliceId(null);
              }}
              onDrop={(event) => {
                const payload = event.dataTransfer.getData(PALETTE_DRAG);
                dragging.setSpliceId(null);
                if (!editing || !payload) return;
                event.preventDefault();
                editing.onDropKind(payload, at(event), edgeIdAt({ x: event.clientX, y: event.clientY }));
              }}
              onMoveStart={(event) => event && onUserMove?.()}
              nodesDraggable={!!editing}
              nodesConnectable={!!editing}
              edgesReconnectable={!!editing && !isTiny}
              elementsSelectable={!!editing || !!onSelect}
              nodesFocusable={false}
              edgesFocusable={false}
              disableKeyboardA11y
              deleteKeyCode={null}
              multiSelectionKeyCode={["Shift", "Meta", "Control"]}
              selectionMode={SelectionMode.Partial}
              selectNodesOnDrag={false}
              nodeDragThreshold={3}
              connectionRadius={28}
              snapToGrid
              snapGrid={SNAP}
              panOnScroll
              zoomOnDoubleClick={false}
              minZoom={MIN_ZOOM}
              maxZoom={2}
              onlyRenderVisibleElements={nodes.length > MANY_NODES && !isTiny}
              elevateNodesOnSelect
              attributionPosition="bottom-right"
            >
              <Arrow />
              <FirstView graph={graph} />
              <Background variant={BackgroundVariant.Dots} gap={24} size={1.4} color="var(--line-strong)" />
              <Guides guides={dragging.guides} />
              <Panel position="bottom-left" className="canvas-zoom">
                <ZoomControls />
              </Panel>
              {nodes.length > MINIMAP_FROM && <Overview />}
              {props.children}
            </ReactFlow>
          </TinyContext.Provider>
        </HoverContext.Provider>
      </CanvasRunContext.Provider>
    </CanvasContext.Provider>
  );
}

/** Changes with every change of it after the first: "odd", "even", "odd", so that what follows is played each time. */
function useTurns(value: unknown): "odd" | "even" | undefined {
  const [turns, setTurns] = useState({ value, count: 0 });
  if (turns.value !== value) setTurns({ value, count: turns.count + 1 });
  return turns.count === 0 ? undefined : turns.count % 2 === 1 ? "odd" : "even";
}

function menuHandlers(
  editing: CanvasEditing,
  at: (event: { clientX: number; clientY: number }) => DropPoint,
) {
  type MouseLike = { clientX: number; clientY: number };
  const open = (event: MouseLike, target: { kind: "node" | "edge" | "pane"; id?: string }) => {
    editing.onMenu(target, at(event));
  };
  return {
    onNodeContextMenu: (event: MouseLike, node: FlowNode) => open(event, { kind: "node", id: node.id }),
    onEdgeContextMenu: (event: MouseLike, edge: FlowEdge) => open(event, { kind: "edge", id: edge.id }),
    onPaneContextMenu: (event: MouseLike) => open(event, { kind: "pane" }),
  };
}
