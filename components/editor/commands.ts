import { createContext, useContext } from "react";
import type { CanvasView } from "@/components/canvas/use-canvas-view";
import type { BreakpointStore } from "@/components/run/breakpoints/breakpoint-store";
import type { TryOutStore } from "@/components/run/try-out/try-out-store";
import { toast } from "@/components/ui/toasts";
import type { Announcer } from "./announcer";
import { addCommands } from "./commands/add-commands";
import { arrangeCommands } from "./commands/arrange-commands";
import { breakpointCommands } from "./commands/breakpoint-commands";
import { canvasEditing } from "./commands/canvas-editing";
import { clipboardCommands } from "./commands/clipboard-commands";
import { newCommandContext } from "./commands/command-context";
import { connectCommands } from "./commands/connect-commands";
import { groupCommands } from "./commands/group-commands";
import { navigationCommands, problemCommands } from "./commands/navigation-commands";
import { panelCommands } from "./commands/panel-commands";
import { deleteCommands, selectionCommands } from "./commands/selection-commands";
import { tryOutCommands } from "./commands/try-out-commands";
import type { EditorStore } from "./editing/editor-store";
import { edits } from "./editing/edits";
import type { UiStore } from "./ui-store";

/** All commands of the editor, for buttons, menus and keys. */
export type EditorCommands = ReturnType<typeof newEditorCommands>;

/** What commands act on. */
interface EditorParts {
  store: EditorStore;
  ui: UiStore;
  view: CanvasView;
  announcer: Announcer;
  breakpoints: BreakpointStore;
  tryOuts: TryOutStore;
  saveNow(): void;
}

/** All groups of commands; each gets only the groups it uses. */
export function newEditorCommands({ breakpoints, tryOuts, saveNow, ...parts }: EditorParts) {
  const context = newCommandContext(parts);
  const { store, view, announce, focus, pickedNodes, graph } = context;
  const panels = panelCommands(context);
  const adding = addCommands(context);
  const arranging = arrangeCommands(context);
  const connecting = connectCommands(context, panels);
  const grouping = groupCommands(context);

  function undo() {
    if (arranging.cancelTidying()) return announce("Auto-layout cancelled");
    const before = graph();
    const label = store.getState().undo();
    announce(label ? `Undone: ${label}` : "Nothing to undo");
    if (label !== edits.extract.label) return;
    // Others may run it by now, or it was edited: a person decides whether it goes.
    const made = Object.values(before.nodes).find(({ id }) => !Object.hasOwn(graph().nodes, id));
    toast(`The workflow “${made?.name}” is kept`, {
      detail: "It is in the list of workflows, where you can delete it.",
    });
  }
  function redo() {
    const label = store.getState().redo();
    announce(label ? `Redone: ${label}` : "Nothing to redo");
  }

  return {
    ...panels,
    ...adding,
    ...arranging,
    ...connecting,
    ...grouping,
    ...navigationCommands(context, panels),
    ...problemCommands(context),
    ...selectionCommands(context),
    ...clipboardCommands(context),
    ...deleteCommands(context),
    ...tryOutCommands({ ...context, tryOuts }),
    ...breakpointCommands({ ...context, breakpoints }),
    editing: canvasEditing(context, { adding, arranging, connecting, grouping, panels }),
    undo,
    redo,
    focus,
    view,
    announce: announce,
    saveNow,
    hasPickedNodes: () => pickedNodes().length > 0,
    pickedNodes,
  };
}

export const CommandsContext = createContext<EditorCommands | null>(null);

/** The commands of the editor. */
export function useEditorCommands(): EditorCommands {
  const commands = useContext(CommandsContext);
  if (!commands) throw new Error("This component must be used inside the editor.");
  return commands;
}
