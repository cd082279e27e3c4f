import { createContext, useContext } from "react";
import { useStore } from "zustand";
import { createStore, type StoreApi } from "zustand/vanilla";
import type { Selection } from "@/components/canvas/use-flow";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { rebased, type Version } from "@/server/domain/graph/merge";
import type { SaveState } from "./autosave";
import { type EditHistory, newHistory, onTop, record, redo, undo } from "./edit-history";
import type { Edit } from "./edits";

export interface EditorState {
  id: string;
  doc: Version;
  revision: number;
  /** The document that the server has. The same object: nothing to save. */
  savedDoc: Version;
  /** Why the next save overwrites the server's document, unless it is an ordinary edit. */
  saveReason?: "merge" | "replace" | undefined;
  history: EditHistory<Version>;
  /** Never saved, never undone. */
  selection: Selection;
  save: SaveState<Version>;
}

export interface EditOptions {
  /** Edits with the same key in quick succession are undone as one. */
  mergeKey?: string;
  select?: Partial<{ nodes: readonly string[]; edges: readonly string[] }>;
}

export interface EditorActions {
  edit<A>(edit: Edit<A>, args: A, options?: EditOptions): void;
  rename(name: string): void;
  undo(): string | null;
  redo(): string | null;
  select(selection: { nodes?: Iterable<string>; edges?: Iterable<string> }): void;
  changeSelection(change: (before: Selection) => Selection): void;
  /** The server has this document under this revision. */
  saved(doc: Version, revision: number): void;
  /** Takes over the server's document; local edits stay in the history, on top of it. */
  adopt(doc: Version, revision: number): void;
  /** Keeps the local document on top of the server's newer one, which the next save overwrites. */
  rebase(theirs: Version, revision: number): void;
  /** Takes over the merged document; local edits can still be undone, without undoing the remote ones. */
  merge(merged: Version, theirs: Version, revision: number): void;
  setSave(save: SaveState<Version>): void;
}

export type EditorStore = StoreApi<EditorState & EditorActions>;

const NOTHING: Selection = { nodes: new Set(), edges: new Set() };

/** The document of one editor. Edits go through `edit`, so that each is one step of the history. */
export function newEditorStore(
  start: { id: string; name: string; graph: WorkflowGraph; revision: number },
  now: () => number = Date.now,
): EditorStore {
  const doc: Version = { name: start.name, graph: start.graph };
  return createStore<EditorState & EditorActions>()((set, get) => {
    const step = (next: Version, label: string, mergeKey?: string) => {
      const { doc, history, selection } = get();
      set({
        doc: next,
        history: record(history, doc, { label, mergeKey, now: now() }),
        selection: existing(selection, next.graph),
      });
    };
    const turn = (kind: typeof undo) => {
      const { history, doc, selection } = get();
      const turned = kind(history, doc);
      if (!turned) return null;
      set({ doc: turned.doc, history: turned.history, selection: existing(selection, turned.doc.graph) });
      return turned.label;
    };
    return {
      id: start.id,
      doc,
      revision: start.revision,
      savedDoc: doc,
      history: newHistory(),
      selection: NOTHING,
      save: { state: "clean" },

      edit(edit, args, { mergeKey, select } = {}) {
        const { doc } = get();
        const graph = edit.apply(doc.graph, args);
        if (graph !== doc.graph)
          step({ ...doc, graph }, edit.label, mergeKey === undefined ? undefined : `${edit.id} ${mergeKey}`);
        if (select) get().select(select);
      },
      rename(name) {
        const { doc } = get();
        if (name.trim() !== "" && name !== doc.name) step({ ...doc, name }, "Rename workflow", "name");
      },
      undo: () => turn(undo),
      redo: () => turn(redo),
      select({ nodes = [], edges = [] }) {
        set({ selection: existing({ nodes: new Set(nodes), edges: new Set(edges) }, get().doc.graph) });
      },
      changeSelection(change) {
        set(({ selection }) => ({ selection: change(selection) }));
      },
      saved: (savedDoc, revision) => set({ savedDoc, revision, saveReason: undefined }),
      adopt(doc, revision) {
        set(({ selection, history, savedDoc, doc: mine }) => ({
          doc,
          savedDoc: doc,
          revision,
          saveReason: undefined,
          // Local edits can still be undone, without undoing the remote ones.
          history: onTop(
            mine === savedDoc ? history : record(history, mine, { label: "Use theirs", now: now() }),
            (own) => rebased(own, savedDoc, doc),
          ),
          selection: existing(selection, doc.graph),
          save: { state: "clean" },
        }));
      },
      rebase: (savedDoc, revision) => set({ savedDoc, revision, saveReason: "replace" }),
      merge(merged, theirs, revision) {
        set(({ selection, history, savedDoc }) => ({
          doc: merged,
          savedDoc: theirs,
          revision,
          saveReason: "merge",
          history: onTop(history, (own) => rebased(own, savedDoc, theirs)),
          selection: existing(selection, merged.graph),
        }));
      },
      setSave: (save) => set({ save }),
    };
  });
}

/** The same object as long as everything selected exists. */
function existing(selection: Selection, graph: WorkflowGraph): Selection {
  const edges = new Set(graph.edges.map(({ id }) => id));
  const isWhole =
    [...selection.nodes].every((id) => Object.hasOwn(graph.nodes, id)) &&
    [...selection.edges].every((id) => edges.has(id));
  if (isWhole) return selection;
  return {
    nodes: new Set([...selection.nodes].filter((id) => Object.hasOwn(graph.nodes, id))),
    edges: new Set([...selection.edges].filter((id) => edges.has(id))),
  };
}

export const EditorContext = createContext<EditorStore | null>(null);

/** The store itself, for event handlers. */
export function useEditorStore(): EditorStore {
  const store = useContext(EditorContext);
  if (!store) throw new Error("This component must be used inside the editor.");
  return store;
}

/** A value of the editor. Select leaves: the component renders again when the value changes. */
export function useEditor<T>(pick: (state: EditorState & EditorActions) => T): T {
  return useStore(useEditorStore(), pick);
}
