import type { DropPoint } from "@/components/canvas/canvas-context";
import { CARD_WIDTH } from "@/components/canvas/cards/card-size";
import type { Choice } from "@/components/editor/editing/choice";
import { edits, newNodeId } from "@/components/editor/editing/edits";
import type { NewNode } from "@/components/editor/editing/fresh-node";
import {
  centredAt,
  dropPlace,
  freePlace,
  loneStart,
  type Place,
  placeOf,
} from "@/components/editor/editing/placing";
import type { PickerRequest, UiStore } from "@/components/editor/ui-store";
import { edgeFrom, portsIn } from "@/components/forms/ports";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { getNodeKind, type NodeType } from "@/server/domain/nodes";
import type { CommandContext } from "./command-context";

/** Until the picker has the focus, letters typed right away go to its search, not to commands. */
function catchPickerKeys(ui: UiStore) {
  const type = (change: (text: string) => string) =>
    ui.setState(({ picker }) => (picker ? { picker: { ...picker, typed: change(picker.typed ?? "") } } : {}));
  const onKeyDown = (event: KeyboardEvent) => {
    if (document.activeElement?.closest("[data-node-picker]")) return stop();
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") ui.setState({ picker: null });
    else if (event.key === "Backspace") type((text) => text.slice(0, -1));
    else if (event.key.length === 1) type((text) => text + event.key);
    event.preventDefault();
    event.stopPropagation();
  };
  const unsubscribe = ui.subscribe(({ picker }) => {
    if (picker === null) stop();
  });
  const stop = () => {
    window.removeEventListener("keydown", onKeyDown, { capture: true });
    unsubscribe();
  };
  window.addEventListener("keydown", onKeyDown, { capture: true });
}

/** Adds nodes, from the picker or the palette. */
export function addCommands({
  store,
  ui,
  view,
  announce,
  graph,
  nameOf,
  pickedNodes,
  pickedEdges,
  focus,
}: CommandContext) {
  function add(choice: Choice, request: PickerRequest = {}): string {
    const node = newNodeFor(graph(), choice, request, view.middle());
    const { id, type, after } = node;
    store.getState().edit(edits.addNode, node, { select: { nodes: [id] } });
    ui.setState(({ fresh }) => ({ fresh: new Set(fresh).add(id) }));
    const place = after && joinsFlow(type) ? `, after ${nameOf(after.nodeId)}` : "";
    announce(`Added ${nameOf(id)}${place}`);
    focus(id);
    return id;
  }

  /** The first free output of the selected node; undefined unless exactly one is selected. */
  function freeOutputOfSelected(): PickerRequest["after"] {
    const [picked, ...others] = pickedNodes();
    return picked !== undefined && others.length === 0 ? freeOutput(graph(), picked) : undefined;
  }

  /** Adds it after the selected node or on the selected edge, if exactly one is selected. */
  function addSensibly(choice: Choice): string {
    const [picked] = pickedNodes();
    const [edge, ...otherEdges] = pickedEdges();
    if (edge !== undefined && otherEdges.length === 0 && picked === undefined)
      return add(choice, { onEdge: edge });
    const after = freeOutputOfSelected();
    return add(choice, after ? { after } : {});
  }

  function openPicker(request?: PickerRequest) {
    ui.setState({ picker: request ?? requestForPicked() });
    catchPickerKeys(ui);
  }

  function requestForPicked(): PickerRequest {
    const [picked] = pickedNodes();
    const [edge] = pickedEdges();
    const after = freeOutputOfSelected();
    if (after && picked) return { after, client: besideCard(picked) };
    return edge !== undefined && picked === undefined ? { onEdge: edge } : {};
  }

  /** Where the picker opens next to a card, in client coordinates. */
  function besideCard(nodeId: string) {
    const place = placeOf(graph(), nodeId);
    return view.toClient({ x: place.x + CARD_WIDTH + 24, y: place.y });
  }

  async function dropKind(payload: string, at: DropPoint, edgeId: string | null) {
    const { readChoice } = await import("@/components/editor/editing/read-choice");
    const choice = readChoice(payload);
    if (!choice) return;
    const onEdge = edgeId !== null && getNodeKind(choice.type).hasEntry !== false ? edgeId : undefined;
    add(choice, onEdge === undefined ? { at: dropPlace(at) } : { onEdge });
  }

  return { add, addSensibly, openPicker, besideCard, dropKind };
}

/** Whether a node of this kind can follow others. */
function joinsFlow(type: NodeType): boolean {
  const { hasEntry, executes } = getNodeKind(type);
  return hasEntry !== false && executes !== false;
}

/** The node to add, with its place and connections. `middle`: the center of the viewport. */
function newNodeFor(graph: WorkflowGraph, choice: Choice, request: PickerRequest, middle: Place): NewNode {
  const { type, config, name } = choice;
  const joins = joinsFlow(type);
  const start = loneStart(graph);
  const after = request.after ?? (start !== null && joins ? freeOutput(graph, start) : undefined);
  // A step after a node that leads straight to an end is inserted before that end.
  const fitsBeforeEnd = joins && getNodeKind(type).hasExit !== false;
  const onEdge =
    request.onEdge ?? (after && fitsBeforeEnd && !request.at ? edgeToEnd(graph, after) : undefined);
  const isConnected = onEdge !== undefined || (after !== undefined && joins);
  return {
    id: newNodeId(graph, type),
    type,
    at: request.at ?? (isConnected ? undefined : unconnectedPlace(graph, after, middle)),
    after,
    before: request.before,
    onEdge,
    end: start === null ? undefined : newNodeId(graph, "end"),
    config,
    base: name ? { name } : undefined,
  };
}

/** Where an unconnected node goes, such as a note: above the node that it was added from, else in the middle. */
function unconnectedPlace(graph: WorkflowGraph, after: PickerRequest["after"], middle: Place): Place {
  const from = after && placeOf(graph, after.nodeId);
  return freePlace(graph, from ? { x: from.x, y: from.y - 128 } : centredAt(middle));
}

/** The edge from this output to an end node, if it is the only edge from there. */
function edgeToEnd(
  { nodes, edges }: WorkflowGraph,
  { nodeId, edge: way }: NonNullable<PickerRequest["after"]>,
): string | undefined {
  const [edge, ...others] = edges.filter(
    ({ source_node_id, kind, edge_label }) =>
      source_node_id === nodeId && kind === way.kind && (edge_label ?? null) === (way.edge_label ?? null),
  );
  const target = edge && nodes[edge.target_node_id];
  return target && others.length === 0 && getNodeKind(target.node_type).ends ? edge.id : undefined;
}

/** The first output without an edge; else the first one, as several edges may start there. */
function freeOutput(graph: WorkflowGraph, nodeId: string): PickerRequest["after"] {
  const node = graph.nodes[nodeId];
  if (!node) return undefined;
  const ports = portsIn(graph, node).filter(({ kind }) => kind !== "error");
  const port = ports.find(({ isConnected }) => !isConnected) ?? ports[0];
  return port && { nodeId, edge: edgeFrom(port.id) };
}
