import type { CanvasView } from "@/components/canvas/use-canvas-view";
import type { Announcer } from "@/components/editor/announcer";
import type { EditorStore } from "@/components/editor/editing/editor-store";
import type { UiStore } from "@/components/editor/ui-store";
import type { WorkflowGraph } from "@/server/domain/graph/graph";

/** What every group of commands works on: the current graph, the selection, the view and announcements. */
export interface CommandContext {
  store: EditorStore;
  ui: UiStore;
  view: CanvasView;
  /** Announces what happened to screen readers. */
  announce(text: string): void;
  graph(): WorkflowGraph;
  nameOf(nodeId: string): string;
  /** The card of a collapsed group counts as all of its nodes. */
  pickedNodes(): string[];
  pickedEdges(): string[];
  /** Focuses a node, in view. */
  focus(nodeId: string): void;
}

export function newCommandContext({
  store,
  ui,
  view,
  announcer,
}: Pick<CommandContext, "store" | "ui" | "view"> & { announcer: Announcer }): CommandContext {
  const graph = () => store.getState().doc.graph;
  return {
    store,
    ui,
    view,
    announce: announcer.announce,
    graph,
    nameOf: (id) => graph().nodes[id]?.name || id,
    pickedNodes: () =>
      [...store.getState().selection.nodes].flatMap(
        (id) => graph().groups?.find((one) => one.id === id && one.is_collapsed)?.node_ids ?? [id],
      ),
    pickedEdges: () => [...store.getState().selection.edges],
    focus: (nodeId) => view.focusNode(nodeId),
  };
}
