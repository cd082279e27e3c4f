import { type Edge, type Node, type NodeHandle, Position } from "@xyflow/react";
import { edgeFrom, type Port, portOf, portsOf } from "@/components/forms/ports";
import type { WorkflowEdge, WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind, noteTextOf } from "@/server/domain/nodes";

/*
 * The only file that knows both the saved graph and React Flow. An object that did not change keeps its identity,
 * so an edit of one node re-renders one card.
 */

/** The worst problem of a node or edge, in words. */
export interface Mark {
  severity: "error" | "warning";
  text: string;
}

/** What is drawn besides the graph, by node or edge id. Keep the objects' identities where nothing changed. */
export interface Dressing {
  marks?: ReadonlyMap<string, Mark> | undefined;
  /** Extra class names, such as the target that connect mode offers. */
  classNames?: ReadonlyMap<string, string> | undefined;
}

export type CardData = { node: WorkflowNode; ports: readonly Port[]; mark: Mark | undefined };
export type LineData = { edge: WorkflowEdge; mark: Mark | undefined };
export type FlowNode = Node<CardData, "card" | "note">;
export type FlowEdge = Edge<LineData, "line">;

export const CARD_WIDTH = 240;
const COLUMN = 320;
const ROW = 150;

export interface XY {
  x: number;
  y: number;
}

/** The nodes as React Flow draws them. `previous` is what this function, or React Flow, made before. */
export function toFlowNodes(
  graph: WorkflowGraph,
  selected: ReadonlySet<string>,
  previous: readonly FlowNode[] = [],
  { marks, classNames }: Dressing = {},
): FlowNode[] {
  const before = new Map(previous.map((node) => [node.id, node]));
  const outgoing = groupBySource(graph.edges);
  const places = Object.values(graph.nodes).some(({ ui }) => !ui) ? fallbackPlaces(graph) : null;
  return Object.values(graph.nodes).map((node) => {
    const ports = portsOf(node, outgoing.get(node.id) ?? []);
    const position = node.ui ? { x: node.ui.x, y: node.ui.y } : (places?.get(node.id) ?? { x: 0, y: 0 });
    return merge(before.get(node.id), {
      node,
      ports,
      position,
      selected: selected.has(node.id),
      mark: marks?.get(node.id),
      className: classNames?.get(node.id),
    });
  });
}

/** The edges as React Flow draws them. */
export function toFlowEdges(
  graph: WorkflowGraph,
  selected: ReadonlySet<string>,
  previous: readonly FlowEdge[] = [],
  { marks, classNames }: Dressing = {},
): FlowEdge[] {
  const before = new Map(previous.map((edge) => [edge.id, edge]));
  return graph.edges
    .filter(
      ({ source_node_id, target_node_id }) => graph.nodes[source_node_id] && graph.nodes[target_node_id],
    )
    .map((edge) => {
      const sourceHandle = portOf(edge, graph.nodes[edge.source_node_id]);
      const isSelected = selected.has(edge.id);
      const mark = marks?.get(edge.id);
      const className = classNames?.get(edge.id);
      const old = before.get(edge.id);
      if (
        old?.data &&
        old.data.edge === edge &&
        isSameMark(old.data.mark, mark) &&
        old.className === className &&
        old.sourceHandle === sourceHandle &&
        !!old.selected === isSelected
      )
        return old;
      return {
        id: edge.id,
        type: "line",
        source: edge.source_node_id,
        target: edge.target_node_id,
        sourceHandle,
        targetHandle: "in",
        selected: isSelected,
        focusable: false,
        ...(className ? { className } : {}),
        data: { edge, mark },
      };
    });
}

/** The graph with places and connections as they are drawn: the way back of the two functions above. */
export function fromFlow(
  graph: WorkflowGraph,
  nodes: readonly FlowNode[],
  edges: readonly FlowEdge[],
): WorkflowGraph {
  return {
    ...graph,
    nodes: Object.fromEntries(
      nodes.map(({ id, position, data }) => [
        id,
        { ...data.node, ui: { ...data.node.ui, ...rounded(position) } },
      ]),
    ),
    edges: edges.flatMap(({ source, target, sourceHandle, data }) =>
      data
        ? [
            {
              ...data.edge,
              source_node_id: source,
              target_node_id: target,
              ...portEnds(sourceHandle ?? "out"),
            },
          ]
        : [],
    ),
  };
}

/** What a connection that was drawn says, in the words of the graph. */
export function toConnection(drawn: { source: string; target: string; sourceHandle?: string | null }) {
  return {
    source_node_id: drawn.source,
    target_node_id: drawn.target,
    ...edgeFrom(drawn.sourceHandle ?? "out"),
  };
}

export const rounded = ({ x, y }: XY): XY => ({ x: Math.round(x), y: Math.round(y) });

/** What a port says about a line; a plain one may carry a label that its port does not show. */
function portEnds(portId: string) {
  const ends = edgeFrom(portId);
  return ends.edge_label === null ? { kind: ends.kind } : ends;
}

interface Drawn {
  node: WorkflowNode;
  ports: readonly Port[];
  position: XY;
  selected: boolean;
  mark: Mark | undefined;
  className: string | undefined;
}

function merge(
  old: FlowNode | undefined,
  { node, ports, position, selected, mark, className }: Drawn,
): FlowNode {
  if (!old)
    return {
      id: node.id,
      type: getNodeKind(node.node_type).executes === false ? "note" : "card",
      position,
      data: { node, ports, mark },
      selected,
      ...(className ? { className } : {}),
      initialWidth: CARD_WIDTH,
      initialHeight: cardHeight(node, ports),
      ...knownSize(node, ports),
      focusable: false,
      domAttributes: { "aria-roledescription": undefined, "aria-describedby": undefined },
    };
  const isSameData =
    old.data.node === node && isSameMark(old.data.mark, mark) && arePortsSame(old.data.ports, ports);
  const isSamePlace = old.position.x === position.x && old.position.y === position.y;
  if (isSameData && isSamePlace && !!old.selected === selected && old.className === className) return old;
  const { className: _dropped, ...kept } = old;
  return {
    ...kept,
    ...(isSameData || !old.handles ? {} : { handles: cardHandles(node, ports) }),
    data: isSameData ? old.data : { node, ports, mark },
    position: isSamePlace ? old.position : position,
    selected,
    ...(className ? { className } : {}),
  };
}

const isSameMark = (a: Mark | undefined, b: Mark | undefined) =>
  a?.text === b?.text && a?.severity === b?.severity;

function arePortsSame(a: readonly Port[], b: readonly Port[]): boolean {
  return (
    a.length === b.length &&
    a.every((port, at) => {
      const other = b[at];
      return (
        other !== undefined &&
        port.id === other.id &&
        port.title === other.title &&
        port.isDefault === other.isDefault &&
        port.isOffered === other.isOffered &&
        port.isConnected === other.isConnected
      );
    })
  );
}

/** How high a card is, known before it is drawn; canvas.css gives its rows these heights. */
export function cardHeight(node: WorkflowNode, ports: readonly Port[]): number {
  if (noteTextOf(node) !== undefined) return 96;
  const rows = ports.filter(({ kind }) => kind !== "out").length;
  const isRouter = !!getNodeKind(node.node_type).routes;
  return (
    PLAIN_HEIGHT +
    (hasKeys(node) ? 28 : 0) +
    (isRouter ? 28 * ports.length : 28 * rows) +
    (ports.length > 0 && (isRouter || rows > 0) ? 8 : 0)
  );
}

/** What React Flow would measure of a card, so that it draws hundreds of them, and the lines between, at once. */
function knownSize(node: WorkflowNode, ports: readonly Port[]): Pick<FlowNode, "measured" | "handles"> {
  // A note is as high as its text.
  if (noteTextOf(node) !== undefined) return {};
  return {
    measured: { width: CARD_WIDTH, height: cardHeight(node, ports) },
    handles: cardHandles(node, ports),
  };
}

const HANDLE = 11;
/** How wide the line around a card is, in pixels. */
export const BORDER = 1;
const HEAD = 62;
const ROW_HEIGHT = 28;
/** A card without rows. */
export const PLAIN_HEIGHT = HEAD + 2 * BORDER;
/** How far below the top of a card its entry and its plain way out begin. */
export const PLAIN_END = BORDER + HEAD / 2 - HANDLE / 2;

/** Where lines begin and end on a card, known before it is drawn; canvas.css puts them there. */
export function cardHandles(node: WorkflowNode, ports: readonly Port[]): NodeHandle[] {
  const at = (x: number, y: number) => ({
    x: x - HANDLE / 2,
    y: BORDER + y - HANDLE / 2,
    width: HANDLE,
    height: HANDLE,
  });
  const kind = getNodeKind(node.node_type);
  const rows = ports.filter((port) => !!kind.routes || port.kind !== "out");
  const top = HEAD + (hasKeys(node) ? ROW_HEIGHT : 0) + ROW_HEIGHT / 2;
  const entry: NodeHandle[] =
    kind.hasEntry === false
      ? []
      : [{ id: "in", type: "target", position: Position.Left, ...at(BORDER, HEAD / 2) }];
  return [
    ...entry,
    ...ports.map((port): NodeHandle => {
      const row = rows.indexOf(port);
      const y = row < 0 ? HEAD / 2 : top + row * ROW_HEIGHT;
      return { id: port.id, type: "source", position: Position.Right, ...at(CARD_WIDTH - BORDER, y) };
    }),
  ];
}

const hasKeys = (node: WorkflowNode) =>
  node.input_keys.length + node.optional_input_keys.length + node.output_keys.length > 0;

function groupBySource(edges: readonly WorkflowEdge[]): Map<string, WorkflowEdge[]> {
  const groups = new Map<string, WorkflowEdge[]>();
  for (const edge of edges) {
    const group = groups.get(edge.source_node_id);
    if (group) group.push(edge);
    else groups.set(edge.source_node_id, [edge]);
  }
  return groups;
}

/** Places for files that say none: columns by distance from the start, at once and without the layout library. */
export function fallbackPlaces(graph: WorkflowGraph): Map<string, XY> {
  const depth = depths(graph);
  const rows = new Map<number, number>();
  const places = new Map<string, XY>();
  for (const node of Object.values(graph.nodes)) {
    const column = depth.get(node.id) ?? 0;
    const row = rows.get(column) ?? 0;
    rows.set(column, row + 1);
    places.set(node.id, { x: column * COLUMN, y: row * ROW });
  }
  return places;
}

/** Distance of every node from the start, breadth first; what cannot be reached counts from its own beginning. */
export function depths(graph: WorkflowGraph): Map<string, number> {
  const outgoing = groupBySource(graph.edges);
  const hasIncoming = new Set(graph.edges.map(({ target_node_id }) => target_node_id));
  const all = Object.values(graph.nodes);
  const first = all.filter(
    ({ id, node_type }) => id === graph.start_node_id || !!getNodeKind(node_type).begins,
  );
  const depth = new Map<string, number>();
  for (const root of [...first, ...all.filter(({ id }) => !hasIncoming.has(id)), ...all]) {
    if (depth.has(root.id)) continue;
    depth.set(root.id, 0);
    const queue = [root.id];
    for (let id = queue.shift(); id !== undefined; id = queue.shift())
      for (const { target_node_id } of outgoing.get(id) ?? [])
        if (!depth.has(target_node_id) && graph.nodes[target_node_id]) {
          depth.set(target_node_id, (depth.get(id) ?? 0) + 1);
          queue.push(target_node_id);
        }
  }
  return depth;
}
