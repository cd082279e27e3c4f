import type { CanvasEditing } from "@/components/canvas/canvas-context";
import { toConnection } from "@/components/canvas/flow-mapping";
import { readingOrder } from "@/components/canvas/navigation";
import { canConnect, edits } from "@/components/editor/editing/edits";
import { placeOf } from "@/components/editor/editing/placing";
import { edgeFrom, portsIn } from "@/components/forms/ports";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { getNodeKind } from "@/server/domain/nodes";
import type { CommandContext } from "./command-context";
import type { PanelCommands } from "./panel-commands";

type Drawn = Parameters<CanvasEditing["onConnect"]>[0];

/** Connects nodes, with the pointer or from target to target by keyboard. */
export function connectCommands(context: CommandContext, { goToField }: Pick<PanelCommands, "goToField">) {
  const { store, announce, graph, nameOf } = context;
  const fits = (drawn: Drawn) => canConnect(graph(), fitted(graph(), drawn));

  function connect(drawn: Drawn) {
    const connection = fitted(graph(), drawn);
    if (!canConnect(graph(), connection)) return;
    store.getState().edit(edits.connect, connection);
    const source = graph().nodes[connection.source_node_id];
    const edge = graph().edges.at(-1);
    announce(`Connected ${nameOf(connection.source_node_id)} to ${nameOf(connection.target_node_id)}`);
    // Ask which of the router's labels the edge is for.
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

  return { fits, connect, ...connectModeCommands(context, { fits, connect }) };
}

/** Connect mode: a node is connected by keyboard, from target to target. */
function connectModeCommands(
  { ui, view, announce, graph, nameOf, pickedNodes }: CommandContext,
  { fits, connect }: { fits: (drawn: Drawn) => boolean; connect: (drawn: Drawn) => void },
) {
  function startConnecting() {
    const [from, ...others] = pickedNodes();
    if (from === undefined || others.length > 0) return announce("Select a source node first");
    const node = graph().nodes[from];
    const ports = node ? portsIn(graph(), node) : [];
    const first = ports.find(({ isConnected }) => !isConnected) ?? ports[0];
    if (!first) return announce(`${nameOf(from)} can't have outgoing connections`);
    aim(
      from,
      ports.map(({ id }) => id),
      first.id,
    );
  }

  function aim(from: string, ports: readonly string[], portId: string) {
    const targets = readingOrder(graph()).filter((id) =>
      fits({ source: from, target: id, sourceHandle: portId }),
    );
    if (targets.length === 0) return announce("No node to connect to");
    const here = placeOf(graph(), from);
    const ahead = targets.findIndex((id) => placeOf(graph(), id).x > here.x);
    ui.setState({ connect: { from, portId, ports, targets, at: Math.max(0, ahead) } });
    announceTarget();
  }

  function aimNext(step: 1 | -1) {
    const { connect } = ui.getState();
    if (!connect) return;
    const at = (connect.at + step + connect.targets.length) % connect.targets.length;
    ui.setState({ connect: { ...connect, at } });
    announceTarget();
  }

  /** Continues from another output of the same node. */
  function aimFromNextPort() {
    const { connect } = ui.getState();
    if (!connect || connect.ports.length < 2) return;
    const next = connect.ports[(connect.ports.indexOf(connect.portId) + 1) % connect.ports.length];
    if (next !== undefined) aim(connect.from, connect.ports, next);
  }

  function announceTarget() {
    const { connect } = ui.getState();
    const target = connect?.targets[connect.at];
    if (!connect || target === undefined) return;
    view.reveal([target]);
    const label = edgeFrom(connect.portId).edge_label;
    const way = label ? ` (route “${label}”)` : connect.portId === "error" ? " (on error)" : "";
    announce(
      `Connect ${nameOf(connect.from)}${way} to ${nameOf(target)}? ${connect.at + 1} of ${connect.targets.length}. Press Enter to connect, Escape to cancel.`,
    );
  }

  function endConnecting(isDone: boolean) {
    const { connect: mode } = ui.getState();
    ui.setState({ connect: null });
    const target = mode?.targets[mode.at];
    if (!mode || target === undefined) return;
    if (!isDone) return announce("Connection cancelled");
    connect({ source: mode.from, target, sourceHandle: mode.portId });
  }

  return { startConnecting, aimNext, aimFromNextPort, endConnecting };
}

/** The connection that was drawn; from a router's body it gets the first label without an edge. */
function fitted(graph: WorkflowGraph, drawn: Drawn): ReturnType<typeof toConnection> {
  const connection = toConnection(drawn);
  const source = graph.nodes[connection.source_node_id];
  if (
    !source ||
    connection.kind === "error" ||
    connection.edge_label ||
    !getNodeKind(source.node_type).routes
  )
    return connection;
  const free = portsIn(graph, source).find((port) => port.kind === "exit" && !port.isConnected);
  return free ? { ...connection, edge_label: free.label } : connection;
}
