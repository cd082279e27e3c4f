import { createContext, useContext } from "react";
import type { CanvasEditing, DropPoint } from "@/components/canvas/canvas-context";
import { CARD_WIDTH, ENTRY_LINE } from "@/components/canvas/card-size";
import { toConnection } from "@/components/canvas/flow-mapping";
import { type Direction, neighbour, readingOrder } from "@/components/canvas/navigation";
import type { CanvasView } from "@/components/canvas/use-canvas-view";
import { edgeFrom, portsOf } from "@/components/forms/ports";
import type { BreakpointStore } from "@/components/run/breakpoints/breakpoint-store";
import type { TryOutStore } from "@/components/run/try-out/try-out-store";
import { toast } from "@/components/ui/toasts";
import { freshId } from "@/server/domain/base/ids";
import type { NodeGroup, WorkflowEdge, WorkflowGraph } from "@/server/domain/graph/graph";
import { movedGroup } from "@/server/domain/graph/groups";
import type { Hit } from "@/server/domain/graph/search";
import { getNodeKind, isCrewNode } from "@/server/domain/nodes";
import type { Fix } from "@/server/domain/problems/fixes";
import type { Problem } from "@/server/domain/problems/problems";
import type { Announcer } from "./announcer";
import { breakpointCommands } from "./breakpoint-commands";
import type { Choice } from "./choice";
import type { EditorStore } from "./editor-store";
import { canConnect, edits, type NewNode, newNodeId } from "./edits";
import { cornerOf, type Fragment, fragmentOf, freshIds, isFragmentText, writeFragment } from "./fragment";
import { freePlace, type Place, placeOf } from "./placing";
import { tryOutCommands } from "./try-out-commands";
import type { PickerRequest, UiStore } from "./ui-store";
import { fieldKey } from "./use-problems";

/** Everything a person can do in the editor, for buttons, menus and keys alike. */
export type EditorCommands = ReturnType<typeof newEditorCommands>;

export interface CommandContext {
  store: EditorStore;
  ui: UiStore;
  view: CanvasView;
  announcer: Announcer;
  breakpoints: BreakpointStore;
  tryOuts: TryOutStore;
  saveNow(): void;
}

export function newEditorCommands({
  store,
  ui,
  view,
  announcer,
  breakpoints,
  tryOuts,
  saveNow,
}: CommandContext) {
  /** Where the pointer is over the drawing, on the screen: what is pasted goes there. */
  let pointer: Place | null = null;
  /** Tidying up takes its time on large drawings: until it is done, undo calls it off. */
  let tidying: AbortController | null = null;
  const graph = () => store.getState().doc.graph;
  const nameOf = (id: string) => graph().nodes[id]?.name || id;
  /** The card of a collapsed group stands for all of its nodes. */
  const pickedNodes = () =>
    [...store.getState().selection.nodes].flatMap(
      (id) => graph().groups?.find((one) => one.id === id && one.is_collapsed)?.node_ids ?? [id],
    );
  const pickedEdges = () => [...store.getState().selection.edges];
  const say = announcer.say;

  const focus = (nodeId: string) => view.focusNode(nodeId);

  function add(choice: Choice, request: PickerRequest = {}): string {
    const type = choice.type;
    const id = newNodeId(graph(), type);
    const kind = getNodeKind(type);
    const hangs = request.after && kind.hasEntry !== false && kind.executes !== false;
    // What hangs on nothing, such as a note, comes to stand near what it was asked for at, else in the middle.
    const beside = request.after && placeOf(graph(), request.after.nodeId);
    const near = beside ? { x: beside.x, y: beside.y - 128 } : offCentre(view.middle());
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
    showPicker(request);
    catchKeys(ui);
  }

  function showPicker(request?: PickerRequest) {
    if (request) return ui.setState({ picker: request });
    const [picked, ...others] = pickedNodes();
    const [edge] = pickedEdges();
    const after = picked !== undefined && others.length === 0 ? freeWay(graph(), picked) : null;
    if (after && picked) {
      const place = placeOf(graph(), picked);
      ui.setState({ picker: { after, client: view.toClient({ x: place.x + BESIDE, y: place.y }) } });
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

  /** Adds what was copied at the pointer; a whole workflow asks first what to do with it. False: the text is neither. */
  function paste(text: string): boolean {
    const at = pointer ? view.toFlow(pointer) : offCentre(view.middle());
    if (isFragmentText(text)) {
      void insertCopied(text, { x: snap(at.x), y: snap(at.y) });
      return true;
    }
    if (!looksLikeWorkflow(text)) return false;
    ui.setState({ incoming: { text, at } });
    return true;
  }

  async function insertCopied(text: string, at: Place) {
    const { readFragment } = await import("./read-fragment");
    const fragment = readFragment(text);
    if (!fragment) return;
    const { leftOut = 0 } = fragment;
    if (leftOut > 0)
      toast(
        `${leftOut} copied ${leftOut === 1 ? "node is" : "nodes are"} of a kind that is not known here, and left out.`,
        { tone: "error" },
      );
    if (Object.keys(fragment.nodes).length > 0) insert(fragment, at);
  }

  async function dropKind(payload: string, at: DropPoint, edgeId: string | null) {
    const { readChoice } = await import("./read-choice");
    const choice = readChoice(payload);
    if (!choice) return;
    const onEdge = edgeId !== null && getNodeKind(choice.type).hasEntry !== false ? edgeId : undefined;
    add(choice, onEdge === undefined ? dropRequest(at) : { onEdge });
  }

  async function tidy() {
    const picked = pickedNodes();
    const before = graph();
    tidying?.abort();
    const mine = new AbortController();
    tidying = mine;
    const { layout } = await import("@/components/canvas/layout");
    const places = await layout(before, picked.length > 1 ? new Set(picked) : undefined, mine.signal);
    if (tidying === mine) tidying = null;
    if (!places) return;
    if (graph() !== before) return say("The drawing changed meanwhile. Tidy up again.");
    store.getState().edit(edits.layout, { places });
    say("Tidied up");
    // After the new places are drawn.
    requestAnimationFrame(() => view.open(readingOrder(graph())[0]));
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
    if (tidying) {
      tidying.abort();
      tidying = null;
      return say("Tidying up cancelled");
    }
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

  /** Somebody was in this field of a node and went on: what is wrong there may be said. */
  function leaveField(id: string, field: string) {
    ui.setState(({ left }) => ({ left: new Set(left).add(fieldKey(id, field)) }));
  }

  /** From now on whatever is missing is wrong: somebody wants to run it. */
  function callDue() {
    ui.setState({ fresh: new Set(), isNew: false });
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

  /** The group of the first picked node; null where it is in none. */
  function pickedGroup(): NodeGroup | null {
    const [id] = pickedNodes();
    return graph().groups?.find(({ node_ids }) => id !== undefined && node_ids.includes(id)) ?? null;
  }

  /** Puts a frame around the picked nodes, and asks for its name. */
  function group() {
    const nodes = pickedNodes();
    if (nodes.length === 0) return say("Select the nodes that belong together");
    const taken = new Set([...Object.keys(graph().nodes), ...(graph().groups ?? []).map(({ id }) => id)]);
    const id = freshId("group", taken);
    store.getState().edit(edits.group, { id, nodes });
    ui.setState({ naming: id });
    say(`Grouped ${nodes.length} ${nodes.length === 1 ? "node" : "nodes"}. Write the group's name.`);
  }

  function ungroup() {
    const found = pickedGroup();
    if (!found) return say("Select a node of the group");
    store.getState().edit(edits.ungroup, { id: found.id });
    say(`Ungrouped ${found.name || "the nodes"}`);
  }

  /** Draws a group as one card, or as its nodes again. `id` absent: the group of what is picked. */
  function foldGroup(id?: string) {
    const found = id === undefined ? pickedGroup() : graph().groups?.find((one) => one.id === id);
    if (!found) return say("Select a node of the group");
    const is_collapsed = !found.is_collapsed;
    store
      .getState()
      .edit(
        { ...edits.setGroup, label: is_collapsed ? "Collapse group" : "Open group" },
        { id: found.id, patch: { is_collapsed } },
        { select: { nodes: is_collapsed ? [] : found.node_ids } },
      );
    say(
      `${found.name || "Group"}: ${is_collapsed ? `one card for ${found.node_ids.length} nodes` : "opened"}`,
    );
    if (is_collapsed) focus(found.id);
    else if (found.node_ids[0]) focus(found.node_ids[0]);
  }

  /** Where cards came to rest; the card of a collapsed group takes its nodes along. */
  function moveAll(places: Record<string, Place>) {
    const all: Record<string, Place> = {};
    for (const [id, place] of Object.entries(places)) {
      const folded = graph().groups?.find((one) => one.id === id);
      if (folded) Object.assign(all, movedGroup(graph(), folded, place));
      else all[id] = place;
    }
    store.getState().edit(edits.move, { places: all });
  }

  function openWorkflowSettings() {
    store.getState().select({});
    ui.setState({ isInspectorOpen: true });
  }

  function openFind() {
    ui.setState(({ find }) => ({ find: { nonce: (find?.nonce ?? 0) + 1 }, breakpoints: null }));
  }

  /** Brings the place of a hit into view; `isFor`: whether its field is gone to, too. */
  function showHit({ kind, id, field }: Hit["at"], isFor: "looking" | "writing") {
    const edge = kind === "edge" ? graph().edges.find((known) => known.id === id) : undefined;
    if (kind === "node" && id !== undefined) {
      store.getState().select({ nodes: [id] });
      view.center(id);
    } else if (edge) {
      store.getState().select({ edges: [edge.id] });
      view.fit([edge.source_node_id, edge.target_node_id]);
    } else store.getState().select({});
    if (isFor === "writing") goToField(field);
  }

  /** Selects the next connection of the picked node, or of where the picked connection begins, and says which it is. */
  function walkEdges(step: 1 | -1) {
    const [node] = pickedNodes();
    const [picked] = pickedEdges();
    const all = graph().edges;
    const current = all.find(({ id }) => id === picked);
    const from = node ?? current?.source_node_id;
    const near = [
      ...all.filter(({ source_node_id }) => source_node_id === from),
      ...all.filter(
        ({ source_node_id, target_node_id }) => target_node_id === from && source_node_id !== from,
      ),
    ];
    const list = from === undefined ? all : near;
    if (list.length === 0) return say("There is no connection here");
    const at = list.findIndex(({ id }) => id === picked);
    const next = list[at < 0 ? (step === 1 ? 0 : list.length - 1) : (at + step + list.length) % list.length];
    if (!next) return;
    store.getState().select({ edges: [next.id] });
    view.reveal([next.source_node_id, next.target_node_id]);
    view.focusDrawing();
    say(
      `${edgeInWords(next)}. ${list.indexOf(next) + 1} of ${list.length}. Enter opens it, Delete removes it, arrows go to its ends.`,
    );
  }

  /** Connection from Review to End, way “approved”. */
  function edgeInWords({ source_node_id, target_node_id, edge_label, kind }: WorkflowEdge): string {
    const way = edge_label ? `, way “${edge_label}”` : kind === "error" ? ", on error" : "";
    return `Connection from ${nameOf(source_node_id)} to ${nameOf(target_node_id)}${way}`;
  }

  /** From the picked connection to the node at its beginning or its end. True: there was one. */
  function leaveEdge(way: Direction): boolean {
    const [picked, ...others] = pickedEdges();
    const edge = graph().edges.find(({ id }) => id === picked);
    if (!edge || others.length > 0 || pickedNodes().length > 0) return false;
    const to = way === "left" || way === "up" ? edge.source_node_id : edge.target_node_id;
    store.getState().select({ nodes: [to] });
    focus(to);
    return true;
  }

  /** Takes a node into the selection, or out of it. */
  function toggle(id: string) {
    const { selection } = store.getState();
    const nodes = new Set(selection.nodes);
    if (!nodes.delete(id)) nodes.add(id);
    store.getState().select({ nodes, edges: selection.edges });
    say(`${nameOf(id)} ${nodes.has(id) ? "selected" : "not selected"}, ${nodes.size} in all`);
  }

  /** Goes to a node of the drawing by its name, from wherever. */
  function showNode(id: string) {
    store.getState().select({ nodes: [id] });
    view.center(id);
    focus(id);
  }

  function rename() {
    const [id, ...others] = pickedNodes();
    if (id !== undefined && others.length === 0) goToField("name");
  }

  const editing: CanvasEditing = {
    onMove: moveAll,
    onConnect: connect,
    onReconnect(edgeId, drawn) {
      store.getState().edit(edits.reconnect, { edgeId, ...toConnection(drawn) });
      say("Connection moved");
    },
    canConnect: (drawn) => canConnect(graph(), fitted(graph(), toConnection(drawn))),
    onAddFrom(nodeId, portId, at) {
      const after = { nodeId, edge: edgeFrom(portId) };
      const place = placeOf(graph(), nodeId);
      const client = at?.client ?? view.toClient({ x: place.x + BESIDE, y: place.y });
      // The card's entry comes to lie where the line was dropped.
      const dropped = at && { x: snap(at.flow.x), y: snap(at.flow.y - ENTRY_LINE) };
      openPicker({ after, client, ...(dropped ? { at: dropped } : {}) });
    },
    onAddBefore(nodeId, at) {
      // The card's way out comes to lie where the line was dropped.
      const dropped = { x: snap(at.flow.x - CARD_WIDTH), y: snap(at.flow.y - ENTRY_LINE) };
      openPicker({ before: nodeId, client: at.client, at: dropped });
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
    onDropKind: (payload, at, edgeId) => void dropKind(payload, at, edgeId),
    onAddAt: (at) => openPicker({ client: at.client, at: dropRequest(at).at }),
    onOpen(id, kind) {
      if (kind === "node" && graph().groups?.some((one) => one.id === id)) return foldGroup(id);
      store.getState().select(kind === "node" ? { nodes: [id] } : { edges: [id] });
      if (kind === "node") openInspector();
      else goToField("edge_label");
    },
    onWriteNote(id, text) {
      store.getState().edit(edits.writeNote, { id, text });
      focus(id);
    },
    onResizeNote: (id, size) => store.getState().edit(edits.resize, { id, size }),
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
    leaveField,
    callDue,
    group,
    ungroup,
    foldGroup,
    pickedGroup,
    isGroup: (id: string) => !!graph().groups?.some((one) => one.id === id),
    moveAll,
    openWorkflowSettings,
    openFind,
    showHit,
    walkEdges,
    leaveEdge,
    toggle,
    showNode,
    rename,
    focus,
    view,
    say,
    saveNow,
    ...tryOutCommands({ graph, pickedNodes, tryOuts, ui, say }),
    ...breakpointCommands({ graph, pickedNodes, pickedEdges, breakpoints, ui, say }),
    hasPickedNodes: () => pickedNodes().length > 0,
    pickedNodes,
  };
}

/** Until the picker has the keyboard, what is typed belongs to it: letters that come at once are its search, no commands. */
function catchKeys(ui: UiStore) {
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

/** Where the picker opens beside a card. */
const BESIDE = CARD_WIDTH + 24;

const snap = (value: number) => Math.round(value / 8) * 8;
const offCentre = ({ x, y }: Place): Place => ({ x: snap(x - CARD_WIDTH / 2), y: snap(y - ENTRY_LINE) });
const dropRequest = ({ flow }: DropPoint): { at: Place } => ({
  at: { x: snap(flow.x - 40), y: snap(flow.y - ENTRY_LINE) },
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
