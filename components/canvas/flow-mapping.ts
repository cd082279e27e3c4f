import type { Edge, Node } from "@xyflow/react";
import { edgeFrom, type Port, portOf, portsOf } from "@/components/forms/ports";
import { defined } from "@/server/domain/base/defined";
import type { WorkflowEdge, WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind, noteTextOf } from "@/server/domain/nodes";
import { type Caption, captionsOf, isSameCaption } from "./cards/captions";
import { CARD_WIDTH, type CardSize, cardHandles, cardHeight, PLAIN_HEIGHT } from "./cards/card-size";
import { sizeOfNote } from "./cards/note-size";
import { withRoom } from "./layout/make-room";
import { fallbackPlaces, groupBySource, type XY } from "./layout/places";
import type { Box, Line } from "./layout/routes";

/*
 * The only file that knows both the saved graph and React Flow. An object that did not change keeps its identity,
 * so an edit of one node re-renders one card.
 */

/** The worst problem of a node or edge, as text. */
export interface Mark {
  /** `todo`: not wrong, only not done yet. */
  severity: "error" | "warning" | "todo";
  text: string;
}

/** What to show besides the graph, by node or edge id. Unchanged objects must stay identical. */
export interface Dressing {
  marks?: ReadonlyMap<string, Mark> | undefined;
  /** Extra class names, such as the target that connect mode offers. */
  classNames?: ReadonlyMap<string, string> | undefined;
  /** Routes around cards, by edge id, ends included. */
  routes?: ReadonlyMap<string, XY[]> | undefined;
  /** Cards that show their content, by node id, with their sizes; the others make room. */
  grown?: ReadonlyMap<string, CardSize> | undefined;
  /** Names of the workflows that nodes run, by id. */
  workflows?: ReadonlyMap<string, string> | undefined;
}

export type CardData = {
  node: WorkflowNode;
  ports: readonly Port[];
  mark: Mark | undefined;
  grown: CardSize | undefined;
  caption: Caption | undefined;
};
export type LineData = { edge: WorkflowEdge; mark: Mark | undefined; route: readonly XY[] | undefined };
export type FlowNode = Node<CardData, "card" | "note">;
export type FlowEdge = Edge<LineData, "line">;

/** The nodes as React Flow draws them. `previous` is what this function, or React Flow, made before. */
export function toFlowNodes(
  graph: WorkflowGraph,
  selected: ReadonlySet<string>,
  previous: readonly FlowNode[] = [],
  { marks, classNames, grown, workflows }: Dressing = {},
): FlowNode[] {
  const before = new Map(previous.map((node) => [node.id, node]));
  const outgoing = groupBySource(graph.edges);
  const captions = captionsOf(graph, workflows);
  const places = Object.values(graph.nodes).some(({ ui }) => !ui) ? fallbackPlaces(graph) : null;
  const cards = Object.values(graph.nodes).map((node) => ({
    node,
    ports: portsOf(node, outgoing.get(node.id) ?? []),
    position: node.ui ? { x: node.ui.x, y: node.ui.y } : (places?.get(node.id) ?? { x: 0, y: 0 }),
  }));
  const room = grown && grown.size > 0 ? withRoom(cards.map(boxBefore), grown) : null;
  return cards.map(({ node, ports, position }) =>
    merge(before.get(node.id), {
      node,
      ports,
      position: room?.get(node.id) ?? position,
      selected: selected.has(node.id),
      mark: marks?.get(node.id),
      className: classNames?.get(node.id),
      grown: grown?.get(node.id),
      caption: captions.get(node.id),
    }),
  );
}

/** The place that a card takes before any has grown. */
function boxBefore({ node, ports, position }: Pick<Drawn, "node" | "ports" | "position">): Box {
  const own = noteTextOf(node) === undefined ? {} : sizeOfNote(node);
  return { id: node.id, ...position, width: CARD_WIDTH, height: cardHeight(node, ports), ...own };
}

/** The edges as React Flow draws them. */
export function toFlowEdges(
  graph: WorkflowGraph,
  selected: ReadonlySet<string>,
  previous: readonly FlowEdge[] = [],
  { marks, classNames, routes }: Dressing = {},
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
      const nameOf = (id: string) => graph.nodes[id]?.name || id;
      const ariaLabel = `Connection from ${nameOf(edge.source_node_id)} to ${nameOf(edge.target_node_id)}`;
      const route = routes?.get(edge.id);
      const old = before.get(edge.id);
      if (
        old?.data &&
        old.data.edge === edge &&
        isSameMark(old.data.mark, mark) &&
        isSameRoute(old.data.route, route) &&
        old.className === className &&
        old.ariaLabel === ariaLabel &&
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
        ariaLabel,
        ...defined({ className: className || undefined }),
        data: { edge, mark, route },
      };
    });
}

/** The graph with the positions and edges of the canvas: the inverse of the two functions above. */
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

/** The edge for a connection of React Flow. */
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
  grown: CardSize | undefined;
  caption: Caption | undefined;
}

function newFlowNode({ node, ports, position, selected, mark, className, grown, caption }: Drawn): FlowNode {
  return {
    id: node.id,
    type: getNodeKind(node.node_type).executes === false ? "note" : "card",
    position,
    data: { node, ports, mark, grown, caption },
    selected,
    ...defined({ className: className || undefined }),
    initialWidth: CARD_WIDTH,
    initialHeight: cardHeight(node, ports),
    ...knownSize(node, ports, grown),
    focusable: false,
    domAttributes: { "aria-roledescription": undefined, "aria-describedby": undefined },
  };
}

/** The old node itself if nothing changed, so that its card doesn't render again. */
function merge(old: FlowNode | undefined, drawn: Drawn): FlowNode {
  if (!old) return newFlowNode(drawn);
  const { node, ports, position, selected, mark, className, grown, caption } = drawn;
  const isSameSize = isSameCardSize(old.data.grown, grown) && arePortsSame(old.data.ports, ports);
  const isSameText = isSameMark(old.data.mark, mark) && isSameCaption(old.data.caption, caption);
  const isSameData = old.data.node === node && isSameSize && isSameText;
  const isSamePlace = isSameXY(old.position, position);
  if (isSameData && isSamePlace && !!old.selected === selected && old.className === className) return old;
  const { className: _dropped, ...kept } = old;
  return {
    ...kept,
    ...defined({ handles: isSameData || !old.handles ? undefined : cardHandles(node, ports, grown) }),
    ...(isSameSize ? {} : knownSize(node, ports, grown)),
    data: isSameData ? old.data : { node, ports, mark, grown, caption },
    position: isSamePlace ? old.position : position,
    selected,
    ...defined({ className: className || undefined }),
  };
}

const isSameXY = (a: XY, b: XY) => a.x === b.x && a.y === b.y;

const isSameRoute = (a: readonly XY[] | undefined, b: readonly XY[] | undefined) =>
  a === b || (a?.length === b?.length && !!a?.every(({ x, y }, at) => x === b?.[at]?.x && y === b?.[at]?.y));

const isSameCardSize = (a: CardSize | undefined, b: CardSize | undefined) =>
  a?.width === b?.width && a?.height === b?.height;

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

/** What React Flow would measure of a card, so that it draws hundreds of them, and the lines between, at once. */
function knownSize(
  node: WorkflowNode,
  ports: readonly Port[],
  grown: CardSize | undefined,
): Pick<FlowNode, "measured" | "handles"> {
  // A note is as high as its text.
  if (noteTextOf(node) !== undefined) return {};
  return {
    measured: grown ?? { width: CARD_WIDTH, height: cardHeight(node, ports) },
    handles: cardHandles(node, ports, grown),
  };
}

/** The place that a card takes. */
export const toBox = (node: FlowNode): Box => ({
  id: node.id,
  ...node.position,
  width: node.measured?.width ?? node.initialWidth ?? CARD_WIDTH,
  height: node.measured?.height ?? node.initialHeight ?? PLAIN_HEIGHT,
});

/** From where to where the lines of a graph lead. */
export function linesOf({ edges, nodes: known }: WorkflowGraph, nodes: readonly FlowNode[]): Line[] {
  const ends = new Map(
    nodes.map(({ id, position, data }) => [
      id,
      new Map(
        cardHandles(data.node, data.ports, data.grown).map((handle) => [
          handle.id,
          {
            x: position.x + handle.x + (handle.type === "source" ? (handle.width ?? 0) : 0),
            y: position.y + handle.y + (handle.height ?? 0) / 2,
          },
        ]),
      ),
    ]),
  );
  return edges.flatMap((edge) => {
    const { id, source_node_id: source, target_node_id: target } = edge;
    const from = ends.get(source)?.get(portOf(edge, known[source]));
    const to = ends.get(target)?.get("in");
    return from && to ? [{ id, source, target, from, to }] : [];
  });
}
