import { render } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import type { ReactNode } from "react";
import type { CanvasView } from "@/components/canvas/use-canvas-view";
import { newBreakpointStore } from "@/components/run/breakpoints/breakpoint-store";
import { newTryOutStore } from "@/components/run/try-out/try-out-store";
import { newAnnouncer } from "./announcer";
import { CommandsContext, newEditorCommands } from "./commands";
import { EditorContext, newEditorStore } from "./editing/editor-store";
import { sampleGraph } from "./testing";
import { newUiStore, UiContext } from "./ui-store";

/** The commands of an editor whose drawing nobody sees. */
export function openEditor(graph = sampleGraph()) {
  const store = newEditorStore({ id: "wf", name: "Sample", graph, revision: 3 });
  const ui = newUiStore(null);
  const announcer = newAnnouncer();
  const place = () => ({ x: 0, y: 0 });
  const nothing = () => undefined;
  const view: CanvasView = {
    fit: nothing,
    open: nothing,
    zoomIn: nothing,
    zoomOut: nothing,
    zoomTo: nothing,
    focusNode: nothing,
    focusDrawing: nothing,
    reveal: nothing,
    show: nothing,
    getView: () => ({ ...place(), zoom: 1 }),
    setView: nothing,
    beside: () => null,
    width: () => 1200,
    center: nothing,
    middle: place,
    toFlow: place,
    toClient: place,
    cancelConnection: nothing,
  };
  const breakpoints = newBreakpointStore("wf");
  const tryOuts = newTryOutStore("wf");
  const commands = newEditorCommands({ store, ui, view, announcer, breakpoints, tryOuts, saveNow: nothing });
  /** A part of the editor, wrapped in the contexts it needs. */
  const inEditor = (part: ReactNode) => (
    <EditorContext.Provider value={store}>
      <UiContext.Provider value={ui}>
        <CommandsContext.Provider value={commands}>{part}</CommandsContext.Provider>
      </UiContext.Provider>
    </EditorContext.Provider>
  );
  /** Shows a part of the editor in a document in memory. */
  const show = (part: ReactNode) => {
    render(inEditor(part));
    return userEvent.setup();
  };
  return {
    store,
    ui,
    view,
    commands,
    breakpoints,
    tryOuts,
    inEditor,
    show,
    announcement: () => announcer.getState().text,
  };
}
