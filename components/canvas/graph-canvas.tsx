"use client";

import {
  applyNodeChanges,
  Background,
  BackgroundVariant,
  type Connection,
  type EdgeChange,
  type FinalConnectionState,
  MiniMap,
  type NodeChange,
  type OnConnectStartParams,
  Panel,
  ReactFlow,
  ReactFlowProvider,
  SelectionMode,
  useNodesInitialized,
  useReactFlow,
  useStore,
  ViewportPortal,
} from "@xyflow/react";
import {
  type KeyboardEvent,
  type ReactNode,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
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
import { type CanvasRun, CanvasRunContext } from "./canvas-run-context";
import { EdgeLine } from "./edge-line";
import {
  CARD_WIDTH,
  type Dressing,
  type FlowEdge,
  type FlowNode,
  rounded,
  toFlowEdges,
  toFlowNodes,
  type XY,
} from "./flow-mapping";
import { type Alignment, align, type Box } from "./helplines";
import { HoverContext, newHover } from "./hover";
import { type Direction, neighbour, readingOrder } from "./navigation";
import { NodeCard, NoteCard } from "./node-card";
import { useCanvasView } from "./use-canvas-view";
import { ZoomControls } from "./zoom-controls";
import "./canvas.css";

// At module level: new objects here would make React Flow mount every node again.
const nodeTypes = { card: NodeCard, note: NoteCard };
const edgeTypes = { line: EdgeLine };
const SNAP: [number, number] = [8, 8];
const FIT = { maxZoom: 1, padding: 0.08 };
const NOTHING: Selection = { nodes: new Set(), edges: new Set() };
const NO_ROLES: ReadonlyMap<string, RoleDefinition> = new Map();
const NO_AGENTS: NamedAgents = new Map();
const FAR = 0.42;
/** Below this not even a name can be read. */
const TINY = 0.22;
/** Below this a card's words cannot be read. */
const READABLE = 0.7;
/** From here on only what is in view is drawn; plain plates are cheaper to keep than to draw anew at every move. */
const MANY_NODES = 150;

export interface Selection {
  nodes: ReadonlySet<string>;
  edges: ReadonlySet<string>;
}

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
  hasMinimap?: boolean;
  /** How much of its right side a panel covers, in pixels: what is fitted or revealed stays clear of it. */
  insetRight?: number;
  onKeyDown?: (event: KeyboardEvent<HTMLElement>) => void;
  /** A person moved the view by hand: whoever follows a run should stop. */
  onUserMove?: () => void;
  /** Panels inside the drawing; they may use `useCanvasView`. */
  children?: ReactNode;
}

/** Put this around a GraphCanvas; everything inside it may use `useCanvasView`. */
export const CanvasProvider = ReactFlowProvider;

/** The drawing of a workflow: for editing, for looking at, and for watching a run. Needs a CanvasProvider around it. */
export function GraphCanvas(props: GraphCanvasProps) {
  const { graph, label = "Drawing of the workflow", editing, run = null, dressing } = props;
  const { roles = NO_ROLES, agents = NO_AGENTS, insetRight = 0 } = props;
  // Taken out one by one: a handler that changes is told to each of thousands of listeners in React Flow.
  const { onSelect, onSelectionChange, onUserMove } = props;
  const selection = props.selection ?? NOTHING;
  const selectedNodes = useSelected(props.selectedId, selection);
  const [hover] = useState(newHover);
  const [spliceId, setSpliceId] = useState<string | null>(null);
  const [guides, setGuides] = useState<Alignment | null>(null);
  const { getNodes, screenToFlowPosition } = useReactFlow<FlowNode, FlowEdge>();
  const { nodes, edges, setNodes } = useFlow(graph, selectedNodes, selection.edges, dressing, spliceId);
  // From afar a card shows its name only, larger: it can be read, and hundreds of cards stay quick to draw.
  const { isFar, isTiny } = useDetail(graph);
  const isCancelled = useRef(false);
  const dragged = useRef(new Map<string, XY>());
  const view = useCanvasView();
  const canvas = useMemo(() => ({ editing: editing ?? null, roles, agents }), [editing, roles, agents]);

  const at = (event: { clientX: number; clientY: number }): DropPoint => {
    const client = { x: event.clientX, y: event.clientY };
    return { client, flow: screenToFlowPosition(client) };
  };

  const onNodesChange = (changes: NodeChange<FlowNode>[]) => {
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
      }
    }
    if (picked.length > 0)
      onSelectionChange?.((before) => ({ ...before, nodes: toggled(before.nodes, picked) }));
    if (kept.length > 0) setNodes((old) => applyNodeChanges(kept, old));
  };

  const snapToOthers = (id: string, position: XY): XY => {
    const boxes = getNodes().map(toBox);
    const mine = boxes.find((box) => box.id === id);
    if (!mine) return position;
    const others = boxes.filter((box) => box.id !== id && Math.abs(box.x - position.x) < 1500);
    const found = align({ ...mine, ...position }, others);
    setGuides(found.vertical || found.horizontal ? found : null);
    return found.place;
  };

  const onEdgesChange = (changes: EdgeChange<FlowEdge>[]) => {
    const picked = changes.filter((change) => change.type === "select");
    if (picked.length > 0)
      onSelectionChange?.((before) => ({ ...before, edges: toggled(before.edges, picked) }));
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

  const onNodeDrag = (_event: unknown, node: FlowNode, moving: FlowNode[]) => {
    const found = moving.length === 1 ? spliceUnder(node) : null;
    if (found !== spliceId) setSpliceId(found);
  };

  const onNodeDragStop = (_event: unknown, node: FlowNode) => {
    const places = Object.fromEntries([...dragged.current].map(([id, place]) => [id, rounded(place)]));
    const spliced = dragged.current.size === 1 ? spliceUnder(node) : null;
    dragged.current.clear();
    setGuides(null);
    setSpliceId(null);
    if (!editing || Object.keys(places).length === 0) return;
    if (spliced) editing.onSplice(node.id, spliced, places[node.id] ?? rounded(node.position));
    else editing.onMove(places);
  };

  const onConnectStart = (_event: unknown, _params: OnConnectStartParams) => {
    isCancelled.current = false;
    const onEscape = (event: globalThis.KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      isCancelled.current = true;
      view.cancelConnection();
    };
    window.addEventListener("keydown", onEscape, { capture: true });
    window.addEventListener(
      "pointerup",
      () => window.removeEventListener("keydown", onEscape, { capture: true }),
      {
        once: true,
        capture: true,
      },
    );
  };

  const onConnectEnd = (event: MouseEvent | TouchEvent, state: FinalConnectionState) => {
    if (!editing || isCancelled.current || state.isValid || !state.fromNode || !state.fromHandle) return;
    const pointer = pointOf(event);
    if (!pointer) return;
    const { id: from } = state.fromNode;
    const isForward = state.fromHandle.type === "source";
    const onto = nodeIdAt(pointer);
    if (onto) {
      const drawn = isForward
        ? { source: from, target: onto, sourceHandle: state.fromHandle.id ?? null }
        : { source: onto, target: from, sourceHandle: null };
      if (onto !== from && editing.canConnect(drawn)) editing.onConnect(drawn);
    } else if (isForward)
      editing.onAddFrom(from, state.fromHandle.id ?? "out", at({ clientX: pointer.x, clientY: pointer.y }));
  };

  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    props.onKeyDown?.(event);
    if (event.defaultPrevented || isTyping(event.target)) return;
    walk(event, graph, view.focusNode, (id) => {
      onSelect?.(id);
      onSelectionChange?.(() => ({ nodes: new Set(id ? [id] : []), edges: new Set() }));
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
              data-far={isFar || undefined}
              data-tiny={isTiny || undefined}
              data-inset-right={insetRight}
              style={{ ["--inset-right" as string]: `${insetRight}px` }}
              onKeyDown={onKeyDown}
              nodes={nodes}
              edges={edges}
              nodeTypes={nodeTypes}
              edgeTypes={edgeTypes}
              onNodesChange={onNodesChange}
              onEdgesChange={onEdgesChange}
              onNodeDrag={onNodeDrag}
              onNodeDragStop={onNodeDragStop}
              onSelectionDragStop={(event, moved) => moved[0] && onNodeDragStop(event, moved[0])}
              onConnect={(drawn: Connection) => !isCancelled.current && editing?.onConnect(drawn)}
              onConnectStart={onConnectStart}
              onConnectEnd={onConnectEnd}
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
              {...(editing ? menuHandlers(editing, at) : {})}
              onDragOver={(event) => {
                if (!editing || !event.dataTransfer.types.includes(PALETTE_DRAG)) return;
                event.preventDefault();
                event.dataTransfer.dropEffect = "copy";
              }}
              onDrop={(event) => {
                const payload = event.dataTransfer.getData(PALETTE_DRAG);
                if (!editing || !payload) return;
                event.preventDefault();
                editing.onDropKind(payload, at(event));
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
              minZoom={0.1}
              maxZoom={2}
              fitView
              fitViewOptions={FIT}
              onlyRenderVisibleElements={nodes.length > MANY_NODES && !isTiny}
              elevateNodesOnSelect
              attributionPosition="bottom-center"
            >
              <Arrow />
              <FirstView graph={graph} />
              <Background variant={BackgroundVariant.Dots} gap={24} size={1.4} color="var(--line-strong)" />
              <Guides guides={guides} />
              <Panel position="bottom-left" className="canvas-zoom">
                <ZoomControls />
              </Panel>
              {props.hasMinimap !== false && nodes.length > 1 && (
                <MiniMap
                  className="canvas-minimap"
                  pannable
                  zoomable
                  ariaLabel="Overview of the drawing"
                  nodeBorderRadius={24}
                  maskColor="var(--minimap-mask)"
                  nodeColor="var(--minimap-node)"
                  bgColor="var(--surface)"
                />
              )}
              {props.children}
            </ReactFlow>
          </TinyContext.Provider>
        </HoverContext.Provider>
      </CanvasRunContext.Provider>
    </CanvasContext.Provider>
  );
}

/** React Flow's nodes and edges for a graph; measured sizes and places under the pointer live only here. */
function useFlow(
  graph: WorkflowGraph,
  selectedNodes: ReadonlySet<string>,
  selectedEdges: ReadonlySet<string>,
  dressing: Dressing | undefined,
  spliceId: string | null,
) {
  const [flow, setFlow] = useState<{
    of: readonly unknown[];
    nodes: FlowNode[];
    edges: FlowEdge[];
  }>({ of: [], nodes: [], edges: [] });
  const of = [graph, selectedNodes, selectedEdges, dressing, spliceId];
  let { nodes, edges } = flow;
  if (of.some((value, at) => value !== flow.of[at])) {
    nodes = toFlowNodes(graph, selectedNodes, flow.nodes, dressing);
    const classNames = spliceId ? new Map([[spliceId, "is-splice"]]) : dressing?.classNames;
    edges = toFlowEdges(graph, selectedEdges, flow.edges, { ...dressing, classNames });
    // The way React recommends to derive state from props: before anything is drawn.
    setFlow({ of, nodes, edges });
  }
  const setNodes = (change: (old: FlowNode[]) => FlowNode[]) =>
    setFlow((old) => ({ ...old, nodes: change(old.nodes) }));
  return { nodes, edges, setNodes };
}

function useSelected(selectedId: string | null | undefined, selection: Selection): ReadonlySet<string> {
  const one = useMemo(() => (selectedId ? new Set([selectedId]) : NOTHING.nodes), [selectedId]);
  return selectedId === undefined ? selection.nodes : one;
}

const ARROWS: Record<string, Direction> = {
  ArrowLeft: "left",
  ArrowRight: "right",
  ArrowUp: "up",
  ArrowDown: "down",
};

/** Arrow keys walk from node to node in the order of the graph; Escape goes back to the drawing as a whole. */
function walk(
  event: KeyboardEvent<HTMLElement>,
  graph: WorkflowGraph,
  focusNode: (id: string) => void,
  onPick: (id: string | null) => void,
) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const here = nodeIdOf(event.target);
  const order = readingOrder(graph);
  const direction = ARROWS[event.key];
  const to = (id: string | null | undefined) => {
    if (!id) return;
    event.preventDefault();
    onPick(id);
    focusNode(id);
  };
  if (direction) to(here ? neighbour(graph, here, direction) : order[0]);
  else if (event.key === "Home") to(order[0]);
  else if (event.key === "End") to(order.at(-1));
  else if (event.key === "Enter" && !here && event.target === event.currentTarget) to(order[0]);
  else if (event.key === "Escape" && here) {
    event.preventDefault();
    event.currentTarget.focus({ preventScroll: true });
    onPick(null);
  }
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

/** How much of the cards can be seen. Until the drawing is fitted into its place, that is guessed from its size. */
function useDetail(graph: WorkflowGraph) {
  const [guess] = useState(() => guessZoom(graph));
  const zoomOf = ([x, y, zoom]: [number, number, number]) =>
    x === 0 && y === 0 && zoom === 1 ? guess : zoom;
  const isFar = useStore(({ transform }) => zoomOf(transform) < FAR);
  const isTiny = useStore(({ transform }) => zoomOf(transform) < TINY);
  // All cards in view are drawn anew: in pieces, so that zooming goes on meanwhile.
  return { isFar, isTiny: useDeferredValue(isTiny) };
}

function guessZoom({ nodes }: WorkflowGraph): number {
  const places = Object.values(nodes).flatMap(({ ui }) => (ui ? [ui] : []));
  if (places.length === 0) return 1;
  const [left, right] = extent(places.map(({ x }) => x));
  const [top, bottom] = extent(places.map(({ y }) => y));
  return Math.min(
    FIT.maxZoom,
    (window.innerWidth * 0.8) / (right - left + CARD_WIDTH),
    (window.innerHeight * 0.8) / (bottom - top + 96),
  );
}

function extent(values: readonly number[]): [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [low, high];
}

/** On a narrow screen the whole drawing would be too small to read: begins at its start instead. */
function FirstView({ graph }: { graph: WorkflowGraph }) {
  const isReady = useNodesInitialized();
  const flow = useReactFlow();
  const isDone = useRef(false);
  useEffect(() => {
    if (!isReady || isDone.current) return;
    isDone.current = true;
    const frame = requestAnimationFrame(() => {
      const [first] = readingOrder(graph);
      const node = first === undefined ? undefined : flow.getInternalNode(first);
      if (!node || window.innerWidth > 700 || flow.getZoom() >= READABLE) return;
      const { x, y } = node.internals.positionAbsolute;
      const height = document.querySelector(".graph-canvas")?.clientHeight ?? window.innerHeight;
      void flow.setViewport({ x: 20 - x * READABLE, y: height / 2 - (y + 45) * READABLE, zoom: READABLE });
    });
    return () => cancelAnimationFrame(frame);
  }, [isReady, flow, graph]);
  return null;
}

function Guides({ guides }: { guides: Alignment | null }) {
  if (!guides) return null;
  const { vertical, horizontal } = guides;
  return (
    <ViewportPortal>
      {vertical && (
        <div
          className="canvas-guide"
          style={{
            left: vertical.at,
            top: vertical.from - 16,
            width: 1,
            height: vertical.to - vertical.from + 32,
          }}
        />
      )}
      {horizontal && (
        <div
          className="canvas-guide"
          style={{
            left: horizontal.from - 16,
            top: horizontal.at,
            width: horizontal.to - horizontal.from + 32,
            height: 1,
          }}
        />
      )}
    </ViewportPortal>
  );
}

/** One arrow head for all lines: it takes the colour of its line. */
function Arrow() {
  return (
    <svg aria-hidden className="canvas-defs">
      <defs>
        <marker
          id="troupe-arrow"
          viewBox="-9 -6 10 12"
          markerWidth="11"
          markerHeight="11"
          orient="auto-start-reverse"
          markerUnits="userSpaceOnUse"
        >
          <path
            d="M -7 -4.2 L 0 0 L -7 4.2"
            fill="none"
            stroke="context-stroke"
            strokeWidth="1.75"
            strokeLinecap="round"
            strokeLinejoin="round"
          />
        </marker>
      </defs>
    </svg>
  );
}

function toggled(before: ReadonlySet<string>, picked: readonly { id: string; selected: boolean }[]) {
  const after = new Set(before);
  for (const { id, selected } of picked) {
    if (selected) after.add(id);
    else after.delete(id);
  }
  return after;
}

const toBox = (node: FlowNode): Box => ({
  id: node.id,
  ...node.position,
  width: node.measured?.width ?? node.initialWidth ?? 240,
  height: node.measured?.height ?? node.initialHeight ?? 96,
});

const isConnected = (graph: WorkflowGraph, id: string) =>
  graph.edges.some((edge) => edge.source_node_id === id || edge.target_node_id === id);

const sourceOf = (graph: WorkflowGraph, edgeId: string) =>
  graph.edges.find((edge) => edge.id === edgeId)?.source_node_id ?? "";

function pointOf(event: MouseEvent | TouchEvent): XY | null {
  if ("clientX" in event) return { x: event.clientX, y: event.clientY };
  const touch = event.changedTouches[0];
  return touch ? { x: touch.clientX, y: touch.clientY } : null;
}

function nodeIdOf(target: EventTarget | null): string | null {
  const card = target instanceof Element ? target.closest<HTMLElement>("[data-node]") : null;
  return card?.dataset.node ?? null;
}

const nodeIdAt = ({ x, y }: XY) => nodeIdOf(document.elementFromPoint(x, y));

/** The line that passes between a point on the screen and a lower one. */
function edgeIdBetween({ x, y: top }: XY, bottom: number): string | null {
  for (let y = top + 2; y < bottom; y += 8)
    for (const element of document.elementsFromPoint(x, y)) {
      const edge = element.closest<HTMLElement>(".react-flow__edge");
      if (edge) return edge.dataset.id ?? null;
    }
  return null;
}

const isPane = (target: EventTarget) =>
  target instanceof Element && target.classList.contains("react-flow__pane");

/** Whether a key belongs to a text that is being written. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      /^(input|textarea|select)$/i.test(target.tagName) ||
      !!target.closest(".cm-editor"))
  );
}
