import type { DropPoint } from "@/components/canvas/canvas-context";
import { CARD_WIDTH } from "@/components/canvas/card-size";
import type { Choice } from "@/components/editor/editing/choice";
import { edits, type NewNode, newNodeId } from "@/components/editor/editing/edits";
import { centredAt, dropPlace, freePlace, placeOf } from "@/components/editor/editing/placing";
import type { PickerRequest } from "@/components/editor/ui-store";
import { edgeFrom, portsIn } from "@/components/forms/ports";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { getNodeKind } from "@/server/domain/nodes";
import type { CommandContext } from "./command-context";
import { catchPickerKeys } from "./picker-keys";

/** Bringing new nodes onto the drawing: which one is asked for in the picker, or dropped from the palette. */
export function addCommands({
  store,
  ui,
  view,
  say,
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
    const hangs = request.after && kind.hasEntry !== false && kind.executes !== false;
    // What hangs on nothing, such as a note, comes to stand near what it was asked for at, else in the middle.
    const beside = request.after && placeOf(graph(), request.after.nodeId);
    const near = beside ? { x: beside.x, y: beside.y - 128 } : centredAt(view.middle());
    const at = request.at ?? (hangs || request.onEdge ? undefined : freePlace(graph(), near));
    const args: NewNode = {
      id,
      type,
      at,
      after: request.after,
      before: request.before,
      onEdge: request.onEdge,
      config: choice.config,
      base: choice.name ? { name: choice.name } : undefined,
    };
    store.getState().edit(edits.addNode, args, { select: { nodes: [id] } });
    ui.setState(({ fresh }) => ({ fresh: new Set(fresh).add(id) }));
    const place = hangs && request.after ? `, after ${nameOf(request.after.nodeId)}` : "";
    say(`Added ${nameOf(id)}${place}`);
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

/** The first way out of a node that leads nowhere yet; else its plain one, as several lines may begin there. */
function freeWay(graph: WorkflowGraph, nodeId: string): PickerRequest["after"] | null {
  const node = graph.nodes[nodeId];
  if (!node) return null;
  const ports = portsIn(graph, node).filter(({ kind }) => kind !== "error");
  const port = ports.find(({ isConnected }) => !isConnected) ?? ports[0];
  return port ? { nodeId, edge: edgeFrom(port.id) } : null;
}
