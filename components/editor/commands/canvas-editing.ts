import type { CanvasEditing } from "@/components/canvas/canvas-context";
import { CARD_WIDTH, ENTRY_LINE } from "@/components/canvas/cards/card-size";
import { toConnection } from "@/components/canvas/flow-mapping";
import { edits } from "@/components/editor/editing/edits";
import { dropPlace, snap } from "@/components/editor/editing/placing";
import { edgeFrom } from "@/components/forms/ports";
import { defined } from "@/server/domain/base/defined";
import type { addCommands } from "./add-commands";
import type { arrangeCommands } from "./arrange-commands";
import type { CommandContext } from "./command-context";
import type { connectCommands } from "./connect-commands";
import type { groupCommands } from "./group-commands";
import type { PanelCommands } from "./panel-commands";

/** Maps pointer actions on the canvas to commands. */
export function canvasEditing(
  { store, ui, announce, nameOf, focus }: CommandContext,
  {
    adding,
    arranging,
    connecting,
    grouping,
    panels,
  }: {
    adding: ReturnType<typeof addCommands>;
    arranging: ReturnType<typeof arrangeCommands>;
    connecting: ReturnType<typeof connectCommands>;
    grouping: ReturnType<typeof groupCommands>;
    panels: PanelCommands;
  },
): CanvasEditing {
  const { openPicker } = adding;
  return {
    onMove: arranging.moveAll,
    onConnect: connecting.connect,
    onReconnect(edgeId, drawn) {
      store.getState().edit(edits.reconnect, { edgeId, ...toConnection(drawn) });
      announce("Connection moved");
    },
    canConnect: connecting.fits,
    onAddFrom(nodeId, portId, at) {
      const after = { nodeId, edge: edgeFrom(portId) };
      const client = at?.client ?? adding.besideCard(nodeId);
      // The card's entry goes where the edge was dropped.
      const dropped = at && { x: snap(at.flow.x), y: snap(at.flow.y - ENTRY_LINE) };
      openPicker({ after, client, ...defined({ at: dropped || undefined }) });
    },
    onAddBefore(nodeId, at) {
      // The card's output goes where the edge was dropped.
      const dropped = { x: snap(at.flow.x - CARD_WIDTH), y: snap(at.flow.y - ENTRY_LINE) };
      openPicker({ before: nodeId, client: at.client, at: dropped });
    },
    onInsertOn: (edgeId, at) => openPicker({ onEdge: edgeId, client: at.client }),
    onSplice(nodeId, edgeId, place) {
      store.getState().edit(edits.splice, { nodeId, edgeId, place });
      announce(`Inserted ${nameOf(nodeId)} into the connection`);
    },
    onRemoveEdge(edgeId) {
      store.getState().edit(edits.remove, { nodes: [], edges: [edgeId] });
      announce("Connection deleted");
    },
    onDropKind: (payload, at, edgeId) => void adding.dropKind(payload, at, edgeId),
    onAddAt: (at) => openPicker({ client: at.client, at: dropPlace(at) }),
    onOpen(id, kind) {
      if (kind === "node" && grouping.isGroup(id)) return grouping.foldGroup(id);
      store.getState().select(kind === "node" ? { nodes: [id] } : { edges: [id] });
      if (kind === "node") panels.openInspector();
      else panels.goToField("edge_label");
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
}
