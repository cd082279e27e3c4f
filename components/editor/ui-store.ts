import { createContext, useContext } from "react";
import { useStore } from "zustand";
import { createStore, type StoreApi } from "zustand/vanilla";
import type { DropPoint } from "@/components/canvas/canvas-context";
import type { BreakpointPlace } from "@/components/run/breakpoints/breakpoint-store";
import type { WorkflowEdge } from "@/server/domain/graph/graph";
import type { Place } from "./editing/placing";

/** Where the node goes that is picked next. */
export interface PickerRequest {
  /** Where the picker opens, on the screen; absent: in the middle. */
  client?: { x: number; y: number } | undefined;
  /** The position of the node; absent: next to the node it is connected to, else in the middle. */
  at?: Place | undefined;
  after?: { nodeId: string; edge: Pick<WorkflowEdge, "kind" | "edge_label"> } | undefined;
  /** Leads to this node. */
  before?: string | undefined;
  onEdge?: string | undefined;
  /** What was typed before the picker was there to take it. */
  typed?: string;
}

/** Connect mode: from an output, through the possible targets. */
export interface ConnectMode {
  from: string;
  portId: string;
  ports: readonly string[];
  targets: readonly string[];
  at: number;
}

export type SidePanel = "add" | "outline" | "problems";

/** The UI state of one editor: never saved. */
export interface EditorUi {
  side: SidePanel | null;
  /** On phones: the list or the canvas. */
  viewMode: "list" | "drawing";
  /** On small screens the inspector covers the canvas. */
  isInspectorOpen: boolean;
  inspectorWidth: number;
  picker: PickerRequest | null;
  connect: ConnectMode | null;
  menu: { target: { kind: "node" | "edge" | "pane"; id?: string }; at: DropPoint } | null;
  /** A whole workflow that was pasted or dropped: as a new one, or into this one? */
  incoming: { text: string; at: Place } | null;
  /** The group whose name is being written. */
  naming: string | null;
  /** Find and replace is open; a new number: it was requested again. */
  find: { nonce: number } | null;
  /** The list of breakpoints is open, with the one `at` a place expanded. A new number: it was requested again. */
  breakpoints: { at: BreakpointPlace | null; nonce: number } | null;
  /**
   * The node to run alone, after asking for its inputs (`run`) or with its last ones (`try`), or the node whose output
   * to pin.
   */
  tryOut: { what: "run" | "try" | "pin"; nodeId: string } | null;
  /** The run sheet is open for a run up to this node. */
  runTo: string | null;
  /** The crew that is to be unfolded into nodes. */
  unfold: string | null;
  /** The nodes to move to a new workflow. */
  extract: readonly string[] | null;
  /** The published version that the canvas is compared with. */
  comparedWith: number | null;
  isVersionsOpen: boolean;
  /** Nodes that were added here and never run: what is missing there is a to-do, not an error. */
  fresh: ReadonlySet<string>;
  /** Fields of such nodes that were focused and left; see `fieldKey`. */
  left: ReadonlySet<string>;
  /** The whole workflow was just begun. */
  isNew: boolean;
  /** Which field of the inspector to bring into view. */
  goTo: { field: string; nonce: number } | null;
}

export type UiStore = StoreApi<EditorUi>;

export function newUiStore(side: SidePanel | null, isNew = false): UiStore {
  return createStore<EditorUi>()(() => ({
    side,
    viewMode: "list",
    isInspectorOpen: false,
    inspectorWidth: 360,
    picker: null,
    connect: null,
    menu: null,
    incoming: null,
    naming: null,
    find: null,
    breakpoints: null,
    tryOut: null,
    runTo: null,
    unfold: null,
    extract: null,
    comparedWith: null,
    isVersionsOpen: false,
    fresh: new Set(),
    left: new Set(),
    isNew,
    goTo: null,
  }));
}

export const UiContext = createContext<UiStore | null>(null);

export function useUiStore(): UiStore {
  const store = useContext(UiContext);
  if (!store) throw new Error("This component must be used inside the editor.");
  return store;
}

export function useUi<T>(pick: (state: EditorUi) => T): T {
  return useStore(useUiStore(), pick);
}
