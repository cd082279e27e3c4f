import type { DropPoint } from "@/components/canvas/canvas-context";
import { CARD_WIDTH } from "@/components/canvas/cards/card-size";
import type { Choice } from "@/components/editor/editing/choice";
import { edits, type NewNode, newNodeId } from "@/components/editor/editing/edits";
import { centredAt, dropPlace, freePlace, loneStart, placeOf } from "@/components/editor/editing/placing";
import type { PickerRequest, UiStore } from "@/components/editor/ui-store";
import { edgeFrom, portsIn } from "@/components/forms/ports";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { getNodeKind } from "@/server/domain/nodes";
import type { CommandContext } from "./command-context";

/** Until the picker has the keyboard, what is typed belongs to it: letters that come at once are its search, no commands. */
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

/** Bringing new nodes onto the drawing: which one is asked for in the picker, or dropped from the palette. */
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
    const type = choice.type;
    const id = newNodeId(graph(), type);
    const kind = getNodeKind(type);
    const joins = kind.hasEntry !== false && kind.executes !== false;
    const start = loneStart(graph());
    const after = request.after ?? (start !== null && joins ? freeWay(graph(), start) : null) ?? undefined;
    // A step added after a node that leads straight to an end is inserted before that end.
    const beforeEnd =
      after && !request.at && joins && kind.hasExit !== false ? edgeToEnd(graph(), after) : undefined;
    const onEdge = request.onEdge ?? beforeEnd;
    const hangs = after && joins;
    // What hangs on nothing, such as a note, comes to stand near what it was asked for at, else in the middle.
    const beside = after && placeOf(graph(), after.nodeId);
    const near = beside ? { x: beside.x, y: beside.y - 128 } : centredAt(view.middle());
    const at = request.at ?? (hangs || onEdge ? undefined : freePlace(graph(), near));
    const args: NewNode = {
      id,
      type,
      at,
      after,
      before: request.before,
      onEdge,
      end: start === null ? undefined : newNodeId(graph(), "end"),
      config: choice.config,
      base: choice.name ? { name: choice.name } : undefined,
    };
    store.getState().edit(edits.addNode, args, { select: { nodes: [id] } });
    ui.setState(({ fresh }) => ({ fresh: new Set(fresh).add(id) }));
    const place = hangs ? `, after ${nameOf(after.nodeId)}` : "";
    announce(`Added ${nameOf(id)}${place}`);
    focus(id);
    return id;
  }

  /** The one picked node's first free way out; null where none or several are picked. */
  function freeWayOfPicked(): PickerRequest["after"] | null {
    const [picked, ...others] = pickedNodes();
    return picked !== undefined && others.length === 0 ? freeWay(graph(), picked) : null;
  }

  /** Hangs it on the one picked node's first free way out, where that makes sense. */
  function addSensibly(choice: Choice): string {
    const [picked] = pickedNodes();
    const [edge, ...otherEdges] = pickedEdges();
    if (edge !== undefined && otherEdges.length === 0 && picked === undefined)
      return add(choice, { onEdge: edge });
    const after = freeWayOfPicked();
    return add(choice, after ? { after } : {});
  }

  function openPicker(request?: PickerRequest) {
    ui.setState({ picker: request ?? requestForPicked() });
    catchPickerKeys(ui);
  }

  function requestForPicked(): PickerRequest {
    const [picked] = pickedNodes();
    const [edge] = pickedEdges();
    const after = freeWayOfPicked();
    if (after && picked) return { after, client: besideCard(picked) };
    return edge !== undefined && picked === undefined ? { onEdge: edge } : {};
  }

  /** Where the picker opens beside a card, on the screen. */
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

/** The first way out of a node that leads nowhere yet; else its plain one, as several lines may begin there. */
function freeWay(graph: WorkflowGraph, nodeId: string): PickerRequest["after"] | null {
  const node = graph.nodes[nodeId];
  if (!node) return null;
  const ports = portsIn(graph, node).filter(({ kind }) => kind !== "error");
  const port = ports.find(({ isConnected }) => !isConnected) ?? ports[0];
  return port ? { nodeId, edge: edgeFrom(port.id) } : null;
}
