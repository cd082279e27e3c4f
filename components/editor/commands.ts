import { createContext, useContext } from "react";
import type { CanvasEditing, DropPoint } from "@/components/canvas/canvas-context";
import { toConnection } from "@/components/canvas/flow-mapping";
import { layout } from "@/components/canvas/layout";
import { type Direction, neighbour, readingOrder } from "@/components/canvas/navigation";
import type { CanvasView } from "@/components/canvas/use-canvas-view";
import { edgeFrom, portsOf } from "@/components/forms/ports";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { getNodeKind, isCrewNode, type NodeType } from "@/server/domain/nodes";
import type { Fix } from "@/server/domain/problems/fixes";
import type { Problem } from "@/server/domain/problems/problems";
import type { Announcer } from "./announcer";
import type { EditorStore } from "./editor-store";
import { canConnect, edits, type NewNode, newNodeId } from "./edits";
import { cornerOf, type Fragment, fragmentOf, freshIds, readFragment, writeFragment } from "./fragment";
import { freePlace, type Place, placeOf } from "./placing";
import type { PickerRequest, UiStore } from "./ui-store";

/** A new node as the palette and the picker offer it. */
export interface Choice {
  type: NodeType;
  config?: Record<string, unknown> | undefined;
  name?: string | undefined;
}

/** Everything a person can do in the editor, for buttons, menus and keys alike. */
export type EditorCommands = ReturnType<typeof newEditorCommands>;

export interface CommandContext {
  store: EditorStore;
  ui: UiStore;
  view: CanvasView;
  announcer: Announcer;
  saveNow(): void;
}

export function newEditorCommands({ store, ui, view, announcer, saveNow }: CommandContext) {
  /** Where the pointer is over the drawing, on the screen: what is pasted goes there. */
  let pointer: Place | null = null;
  const graph = () => store.getState().doc.graph;
  const nameOf = (id: string) => graph().nodes[id]?.name || id;
  const pickedNodes = () => [...store.getState().selection.nodes];
  const pickedEdges = () => [...store.getState().selection.edges];
  const say = announcer.say;

  const focus = (nodeId: string) => view.focusNode(nodeId);

  function add(choice: Choice, request: PickerRequest = {}): string {
    const type = choice.type;
    const id = newNodeId(graph(), type);
    const kind = getNodeKind(type);
    const hangs = request.after && kind.hasEntry !== false && kind.executes !== false;
    const at =
      request.at ?? (hangs || request.onEdge ? undefined : freePlace(graph(), offCentre(view.middle())));
    const args: NewNode = {
      id,
      type,
      at,
      after: request.after,
      onEdge: request.onEdge,
      config: choice.config,
      base: choice.name ? { name: choice.name } : undefined,
    };
    store.getState().edit(edits.addNode, args, { select: { nodes: [id] } });
    const place = hangs && request.after ? `, after ${nameOf(request.after.nodeId)}` : "";
    say(`Added ${nameOf(id)}${place}`);
    focus(id);
    return id;
  }

  /** Hangs it on the one picked node's first free way out, where that makes sense. */
  function addSensibly(choice: Choice): string {
    const [picked, ...others] = pickedNodes();
    const [edge, ...otherEdges] = pickedEdges();
    if (edge !== undefined && otherEdges.length === 0 && picked === undefined)
      return add(choice, { onEdge: edge });
    const after = picked !== undefined && others.length === 0 ? freeWay(graph(), picked) : null;
    return add(choice, after ? { after } : {});
  }

  function openPicker(request?: PickerRequest) {
    if (request) return ui.setState({ picker: request });
    const [picked, ...others] = pickedNodes();
    const [edge] = pickedEdges();
    const after = picked !== undefined && others.length === 0 ? freeWay(graph(), picked) : null;
    if (after && picked) {
      const place = placeOf(graph(), picked);
      ui.setState({ picker: { after, client: view.toClient({ x: place.x + 264, y: place.y }) } });
    } else if (edge !== undefined && picked === undefined) ui.setState({ picker: { onEdge: edge } });
    else ui.setState({ picker: {} });
  }

  function connect(drawn: { source: string; target: string; sourceHandle?: string | null }) {
    const connection = fitted(graph(), toConnection(drawn));
    if (!canConnect(graph(), connection)) return;
    store.getState().edit(edits.connect, connection);
    const source = graph().nodes[connection.source_node_id];
    const edge = graph().edges.at(-1);
    say(`Connected ${nameOf(connection.source_node_id)} to ${nameOf(connection.target_node_id)}`);
    // A router needs to know for which of its labels this way is.
    if (
      source &&
      edge &&
      getNodeKind(source.node_type).routes &&
      edge.kind === "normal" &&
      !edge.edge_label
    ) {
      store.getState().select({ edges: [edge.id] });
      goToField("edge_label");
    }
  }

  function remove() {
    const { selection } = store.getState();
    const nodes = [...selection.nodes];
    const edges = [...selection.edges];
    if (nodes.length + edges.length === 0) return;
    const next = nodes[0] === undefined ? null : neighbourOf(graph(), nodes);
    const deletedName =
      nodes.length === 1 && nodes[0] ? nameOf(nodes[0]) : `${nodes.length + edges.length} things`;
    store.getState().edit(edits.remove, { nodes, edges }, { select: { nodes: next ? [next] : [] } });
    say(`Deleted ${nodes.length === 0 && edges.length === 1 ? "the connection" : deletedName}`);
    if (next) focus(next);
  }

  function removeAndReconnect() {
    const nodes = pickedNodes();
    if (nodes.length === 0) return;
    const next = neighbourOf(graph(), nodes);
    store.getState().edit(edits.removeAndReconnect, { nodes }, { select: { nodes: next ? [next] : [] } });
    say("Deleted and reconnected");
    if (next) focus(next);
  }

  function insert(fragment: Fragment, at: Place, how: "insert" | "duplicate" = "insert") {
    const ids = freshIds(graph(), fragment);
    const select = { nodes: Object.values(ids) };
    store.getState().edit(edits[how], { fragment, at, ids }, { select });
    const count = select.nodes.length;
    say(`${how === "insert" ? "Pasted" : "Duplicated"} ${count} ${count === 1 ? "node" : "nodes"}`);
    view.reveal(select.nodes);
    if (select.nodes[0]) focus(select.nodes[0]);
  }

  function duplicate() {
    const fragment = fragmentOf(graph(), pickedNodes());
    if (Object.keys(fragment.nodes).length === 0) return;
    const { x, y } = cornerOf(fragment);
    insert(fragment, { x: x + 32, y: y + 48 }, "duplicate");
  }

  function copy(data: DataTransfer): boolean {
    const fragment = fragmentOf(graph(), pickedNodes());
    const count = Object.keys(fragment.nodes).length;
    if (count === 0) return false;
    data.setData("text/plain", writeFragment(fragment));
    say(`Copied ${count} ${count === 1 ? "node" : "nodes"}`);
    return true;
  }

  /** Adds what was copied at the pointer; a whole workflow asks first what to do with it. */
  function paste(text: string): boolean {
    const fragment = readFragment(text);
    const at = pointer ? view.toFlow(pointer) : offCentre(view.middle());
    if (fragment) {
      if (Object.keys(fragment.nodes).length > 0) insert(fragment, { x: snap(at.x), y: snap(at.y) });
      return true;
    }
    if (!looksLikeWorkflow(text)) return false;
    ui.setState({ incoming: { text, at } });
    return true;
  }

  async function tidy() {
    const picked = pickedNodes();
    const places = await layout(graph(), picked.length > 1 ? new Set(picked) : undefined);
    store.getState().edit(edits.layout, { places });
    say("Tidied up");
    // After the new places are drawn.
    requestAnimationFrame(() => view.fit());
  }

  /** Asks about putting nodes in the place of the one picked crew. */
  function unfold() {
    const id = pickedCrew();
    if (id === null) return say("Select one crew to unfold it");
    ui.setState({ unfold: id });
  }

  function pickedCrew(): string | null {
    const [id, ...others] = pickedNodes();
    if (id === undefined || others.length > 0) return null;
    return isCrewNode(graph().nodes[id]) ? id : null;
  }

  function undo() {
    const label = store.getState().undo();
    say(label ? `Undone: ${label}` : "Nothing to undo");
  }
  function redo() {
    const label = store.getState().redo();
    say(label ? `Redone: ${label}` : "Nothing to redo");
  }

  function nudge(direction: Direction, far: boolean) {
    const ids = pickedNodes();
    const step = far ? 32 : 8;
    const dx = direction === "left" ? -step : direction === "right" ? step : 0;
    const dy = direction === "up" ? -step : direction === "down" ? step : 0;
    const places = Object.fromEntries(
      ids.map((id) => {
        const { x, y } = placeOf(graph(), id);
        return [id, { x: x + dx, y: y + dy }];
      }),
    );
    store.getState().edit(edits.move, { places }, { mergeKey: ids.join(" ") });
    const first = ids[0];
    if (first !== undefined) {
      const { x, y } = placeOf(graph(), first);
      say(`${ids.length === 1 ? nameOf(first) : `${ids.length} nodes`} moved to ${x}, ${y}`);
    }
  }

  function selectAll() {
    const all = graph();
    store.getState().select({ nodes: Object.keys(all.nodes), edges: all.edges.map(({ id }) => id) });
    say(`${Object.keys(all.nodes).length} nodes selected`);
  }

  function startConnecting() {
    const [from, ...others] = pickedNodes();
    if (from === undefined || others.length > 0) return say("Select the node that the connection begins at");
    const node = graph().nodes[from];
    const ports = node ? portsOf(node, outgoing(graph(), from)) : [];
    const first = ports.find(({ isConnected }) => !isConnected) ?? ports[0];
    if (!first) return say(`Nothing can follow ${nameOf(from)}`);
    aim(
      from,
      ports.map(({ id }) => id),
      first.id,
    );
  }

  function aim(from: string, ports: readonly string[], portId: string) {
    const targets = readingOrder(graph()).filter((id) =>
      canConnect(graph(), fitted(graph(), toConnection({ source: from, target: id, sourceHandle: portId }))),
    );
    if (targets.length === 0) return say("There is no node to connect to");
    const here = placeOf(graph(), from);
    const ahead = targets.findIndex((id) => placeOf(graph(), id).x > here.x);
    const connect = { from, portId, ports, targets, at: Math.max(0, ahead) };
    ui.setState({ connect });
    sayTarget();
  }

  function aimNext(step: 1 | -1) {
    const { connect } = ui.getState();
    if (!connect) return;
    const at = (connect.at + step + connect.targets.length) % connect.targets.length;
    ui.setState({ connect: { ...connect, at } });
    sayTarget();
  }

  /** Another way out of the same node. */
  function aimFromNextPort() {
    const { connect } = ui.getState();
    if (!connect || connect.ports.length < 2) return;
    const next = connect.ports[(connect.ports.indexOf(connect.portId) + 1) % connect.ports.length];
    if (next !== undefined) aim(connect.from, connect.ports, next);
  }

  function sayTarget() {
    const { connect } = ui.getState();
    const target = connect?.targets[connect.at];
    if (!connect || target === undefined) return;
    view.reveal([target]);
    const label = edgeFrom(connect.portId).edge_label;
    const way = label ? `, way “${label}”` : connect.portId === "error" ? ", on error" : "";
    say(
      `Connect ${nameOf(connect.from)}${way} to ${nameOf(target)}? ${connect.at + 1} of ${connect.targets.length}. Enter connects, Escape cancels.`,
    );
  }

  function endConnecting(isDone: boolean) {
    const { connect: mode } = ui.getState();
    ui.setState({ connect: null });
    const target = mode?.targets[mode.at];
    if (!mode || target === undefined) return;
    if (!isDone) return say("Connecting cancelled");
    connect({ source: mode.from, target, sourceHandle: mode.portId });
  }

  function goToField(field: string) {
    ui.setState(({ goTo }) => ({ isInspectorOpen: true, goTo: { field, nonce: (goTo?.nonce ?? 0) + 1 } }));
  }

  /** Selects the place of a problem, brings it into view, and opens its field. */
  function goTo(problem: Problem) {
    const { kind, id, field } = problem.at;
    if (kind === "node" && id) {
      store.getState().select({ nodes: [id] });
      view.center(id);
    } else if (kind === "edge" && id) {
      const edge = graph().edges.find((known) => known.id === id);
      store.getState().select({ edges: [id] });
      if (edge) view.fit([edge.source_node_id, edge.target_node_id]);
    } else store.getState().select({});
    if (field) goToField(field);
    else ui.setState({ isInspectorOpen: true });
    say(problem.message);
  }

  async function fix(repair: Fix) {
    const { applyFix } = await import("@/server/domain/problems/problems");
    store.getState().edit({ id: "fix", label: repair.label, apply: applyFix }, repair);
    say(`Done: ${repair.label}`);
  }

  function openInspector() {
    ui.setState(({ goTo }) => ({
      isInspectorOpen: true,
      goTo: { field: "", nonce: (goTo?.nonce ?? 0) + 1 },
    }));
  }

  function rename() {
    const [id, ...others] = pickedNodes();
    if (id !== undefined && others.length === 0) goToField("name");
  }

  const editing: CanvasEditing = {
    onMove: (places) => store.getState().edit(edits.move, { places }),
    onConnect: connect,
    onReconnect(edgeId, drawn) {
      store.getState().edit(edits.reconnect, { edgeId, ...toConnection(drawn) });
      say("Connection moved");
    },
    canConnect: (drawn) => canConnect(graph(), fitted(graph(), toConnection(drawn))),
    onAddFrom(nodeId, portId, at) {
      const after = { nodeId, edge: edgeFrom(portId) };
      const place = placeOf(graph(), nodeId);
      const client = at?.client ?? view.toClient({ x: place.x + 264, y: place.y });
      // The card's entry comes to lie where the line was dropped.
      const dropped = at && { x: snap(at.flow.x), y: snap(at.flow.y - 31) };
      openPicker({ after, client, ...(dropped ? { at: dropped } : {}) });
    },
    onInsertOn: (edgeId, at) => openPicker({ onEdge: edgeId, client: at.client }),
    onSplice(nodeId, edgeId, place) {
      store.getState().edit(edits.splice, { nodeId, edgeId, place });
      say(`Put ${nameOf(nodeId)} into the connection`);
    },
    onRemoveEdge(edgeId) {
      store.getState().edit(edits.remove, { nodes: [], edges: [edgeId] });
      say("Deleted the connection");
    },
    onDropKind(payload, at) {
      const choice = readChoice(payload);
      if (choice) add(choice, dropRequest(at));
    },
    onAddAt: (at) => openPicker({ client: at.client, at: dropRequest(at).at }),
    onOpen(id, kind) {
      store.getState().select(kind === "node" ? { nodes: [id] } : { edges: [id] });
      openInspector();
    },
    onMenu(target, at) {
      if (target.kind === "node" && target.id && !store.getState().selection.nodes.has(target.id))
        store.getState().select({ nodes: [target.id] });
      if (target.kind === "edge" && target.id) store.getState().select({ edges: [target.id] });
      ui.setState({ menu: { target, at } });
    },
  };

  return {
    editing,
    pointAt(client: Place | null) {
      pointer = client;
    },
    add,
    addSensibly,
    openPicker,
    remove,
    removeAndReconnect,
    insert,
    duplicate,
    copy,
    paste,
    tidy,
    unfold,
    pickedCrew,
    undo,
    redo,
    nudge,
    selectAll,
    startConnecting,
    aimNext,
    aimFromNextPort,
    endConnecting,
    goTo,
    fix,
    openInspector,
    rename,
    focus,
    view,
    say,
    saveNow,
    hasPickedNodes: () => pickedNodes().length > 0,
    pickedNodes,
  };
}

/** What the palette writes into a drag. */
export const writeChoice = (choice: Choice): string => JSON.stringify(choice);

function readChoice(payload: string): Choice | null {
  try {
    const choice = JSON.parse(payload) as Choice;
    getNodeKind(choice.type);
    return choice;
  } catch {
    return null;
  }
}

const snap = (value: number) => Math.round(value / 8) * 8;
const offCentre = ({ x, y }: Place): Place => ({ x: snap(x - 120), y: snap(y - 40) });
const dropRequest = ({ flow }: DropPoint): { at: Place } => ({
  at: { x: snap(flow.x - 40), y: snap(flow.y - 31) },
});

const outgoing = (graph: WorkflowGraph, id: string) =>
  graph.edges.filter(({ source_node_id }) => source_node_id === id);

/** The first way out of a node that leads nowhere yet; else its plain one, as several lines may begin there. */
export function freeWay(graph: WorkflowGraph, nodeId: string): PickerRequest["after"] | null {
  const node = graph.nodes[nodeId];
  if (!node) return null;
  const ports = portsOf(node, outgoing(graph, nodeId)).filter(({ kind }) => kind !== "error");
  const port = ports.find(({ isConnected }) => !isConnected) ?? ports[0];
  return port ? { nodeId, edge: edgeFrom(port.id) } : null;
}

/** A line drawn to a router's body gets the first label that has no line yet. */
function fitted(
  graph: WorkflowGraph,
  connection: ReturnType<typeof toConnection>,
): ReturnType<typeof toConnection> {
  const source = graph.nodes[connection.source_node_id];
  if (
    !source ||
    connection.kind === "error" ||
    connection.edge_label ||
    !getNodeKind(source.node_type).routes
  )
    return connection;
  const free = portsOf(source, outgoing(graph, source.id)).find(
    (port) => port.kind === "exit" && !port.isConnected,
  );
  return free ? { ...connection, edge_label: free.label } : connection;
}

/** Where the keyboard goes when these nodes are gone: to what came before them. */
function neighbourOf(graph: WorkflowGraph, ids: readonly string[]): string | null {
  const gone = new Set(ids);
  const [first] = ids;
  if (first === undefined) return null;
  const before = graph.edges.find(
    ({ source_node_id, target_node_id }) => target_node_id === first && !gone.has(source_node_id),
  );
  if (before) return before.source_node_id;
  const next = neighbour(graph, first, "right");
  return next && !gone.has(next) ? next : null;
}

function looksLikeWorkflow(text: string): boolean {
  const trimmed = text.trimStart();
  return trimmed.startsWith("{") && /"nodes"\s*:/.test(text);
}

export const CommandsContext = createContext<EditorCommands | null>(null);

/** What a person can do here. */
export function useEditorCommands(): EditorCommands {
  const commands = useContext(CommandsContext);
  if (!commands) throw new Error("This part belongs inside an editor.");
  return commands;
}
