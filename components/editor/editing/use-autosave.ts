import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { toApiError, useTrpc, useTrpcClient } from "@/components/trpc";
import { toast } from "@/components/ui/toasts";
import { isText, recordOf } from "@/server/domain/base/guards";
import { issueTexts } from "@/server/domain/base/issues/issue-text";
import type { Version } from "@/server/domain/graph/merge";
import { type Autosave, newAutosave, type SaveResult } from "./autosave";
import type { EditorState, EditorStore } from "./editor-store";

type Client = ReturnType<typeof useTrpcClient>;

/** Keeps the server's copy up to date while the editor is open, and takes over what another tab saved. */
export function useAutosave(store: EditorStore): Autosave {
  const trpc = useTrpc();
  const client = useTrpcClient();
  const queryClient = useQueryClient();
  const [autosave] = useState(() =>
    newAutosave<Version>({
      read: () => {
        const { doc, revision } = store.getState();
        return { doc, revision };
      },
      isDirty: () => isDirty(store),
      save: (doc, revision) => save(client, store.getState(), doc, revision),
      onSaved: (doc, revision) => {
        store.getState().saved(doc, revision);
        notifyWindows({ id: store.getState().id, revision });
        void queryClient.invalidateQueries(trpc.workflows.list.queryFilter());
      },
      onState: (state) => store.getState().setSave(state),
    }),
  );

  useEffect(() => {
    const stop = store.subscribe((now, before) => {
      if (now.doc !== before.doc) autosave.changed(isStructural(before.doc, now.doc));
    });
    const onHide = () => {
      if (document.visibilityState === "hidden") void autosave.flush();
      else void catchUp(client, store);
    };
    const onFocus = () => void catchUp(client, store);
    const onLeave = (event: BeforeUnloadEvent) => {
      if (!isDirty(store)) return;
      void autosave.flush();
      event.preventDefault();
    };
    const deaf = hearWindows((saved) => {
      const { id, revision } = store.getState();
      if (saved.id === id && saved.revision > revision) void catchUp(client, store);
    });
    document.addEventListener("visibilitychange", onHide);
    window.addEventListener("focus", onFocus);
    window.addEventListener("beforeunload", onLeave);
    return () => {
      stop();
      deaf();
      void autosave.flush();
      document.removeEventListener("visibilitychange", onHide);
      window.removeEventListener("focus", onFocus);
      window.removeEventListener("beforeunload", onLeave);
    };
  }, [autosave, client, store]);

  return autosave;
}

/** Tells other tabs of this browser about a save; other browsers check when they get the focus. */
interface Saved {
  id: string;
  revision: number;
}
const CHANNEL = "troupe.workflow.saved";

function notifyWindows(saved: Saved): void {
  if (typeof BroadcastChannel === "undefined") return;
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(saved);
  channel.close();
}

/** Calls back when another window saved a workflow; the answer ends it. */
function hearWindows(onSaved: (saved: Saved) => void): () => void {
  if (typeof BroadcastChannel === "undefined") return () => undefined;
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }: MessageEvent<Saved>) => onSaved(data);
  return () => channel.close();
}

/** Checks a workflow before it is saved. Loaded late, since editing doesn't need it. */
export const loadSchemas = () => import("@/server/domain/graph/graph");

const isDirty = (store: EditorStore) => store.getState().doc !== store.getState().savedDoc;

/** Something came or went: worth saving at once. */
function isStructural(before: Version, after: Version): boolean {
  return (
    before.graph.edges.length !== after.graph.edges.length ||
    Object.keys(before.graph.nodes).length !== Object.keys(after.graph.nodes).length
  );
}

/** Theirs has what this page does not know yet: it was loaded before Troupe's last update. */
const NEWER_TROUPE =
  "This workflow was changed elsewhere with a newer version of Troupe. Copy your changes (Ctrl+A, Ctrl+C), then reload this page.";

async function save(
  client: Client,
  { id, saveReason: reason }: Pick<EditorState, "id" | "saveReason">,
  doc: Version,
  revision: number,
): Promise<SaveResult<Version>> {
  const schemas = await loadSchemas();
  const graph = schemas.WorkflowGraph.safeParse(doc.graph);
  if (!graph.success)
    return { ok: false, reason: issueTexts(graph.error, 1)[0] ?? "The workflow isn't valid" };
  try {
    const saved = await client.workflows.save.mutate({
      ...{ id, revision, reason },
      name: doc.name,
      graph: graph.data,
    });
    return { ok: true, revision: saved.revision };
  } catch (error) {
    const { code, message, detail } = toApiError(error);
    if (code !== "CONFLICT") return { ok: false, reason: message };
    const theirs = recordOf(detail);
    const drawn = schemas.WorkflowGraph.safeParse(theirs.graph);
    if (typeof theirs.revision !== "number" || !isText(theirs.name) || !drawn.success)
      return { ok: false, reason: NEWER_TROUPE };
    return {
      ok: false,
      conflict: { theirs: { name: theirs.name, graph: drawn.data }, revision: theirs.revision },
    };
  }
}

/** Takes over a newer version, unless that would lose local changes. */
export async function catchUp(client: Client, store: EditorStore): Promise<void> {
  const { id } = store.getState();
  const found = await client.workflows.get.query({ id }).catch(() => null);
  if (!found) return;
  const { revision, save } = store.getState();
  if (found.revision <= revision || isDirty(store) || save.state === "saving" || save.state === "conflict")
    return;
  store.getState().adopt({ name: found.name, graph: found.graph }, found.revision);
  toast("Updated to the latest version", {
    detail: "This workflow was changed elsewhere. Undo affects only your own edits.",
  });
}
