"use client";

import { useQuery } from "@tanstack/react-query";
import dynamic from "next/dynamic";
import { type ReactNode, useEffect, useMemo } from "react";
import { useStore } from "zustand";
import { TriesContext } from "@/components/canvas/cards/tried-context";
import { newCanvasTries } from "@/components/run/try-out/canvas-tries";
import { makeOf, tryOutsOf } from "@/components/run/try-out/try-out-store";
import { useTrpc } from "@/components/trpc";
import { defined } from "@/server/domain/base/defined";
import { useEditorCommands } from "../commands";
import { useEditor, useEditorStore } from "../editing/editor-store";
import { useUi, useUiStore } from "../ui-store";

const RunNodeDialog = dynamic(
  () => import("@/components/run/try-out/run-node-dialog").then((m) => m.RunNodeDialog),
  { ssr: false },
);
const PinDialog = dynamic(() => import("@/components/run/try-out/pin-dialog").then((m) => m.PinDialog), {
  ssr: false,
});
const TryWatcher = dynamic(() => import("@/components/run/try-out/try-watcher").then((m) => m.TryWatcher), {
  ssr: false,
});

/** Lets the cards inside show what was tried out with their nodes. */
export function WithTryOuts({ children }: { children: ReactNode }) {
  const store = useEditorStore();
  const id = useEditor((state) => state.id);
  const commands = useEditorCommands();
  const value = useMemo(
    () =>
      newCanvasTries(
        tryOutsOf(id),
        {
          graph: () => store.getState().doc.graph,
          subscribe: (listener) => store.subscribe(listener),
        },
        commands,
      ),
    [id, store, commands],
  );
  return <TriesContext.Provider value={value}>{children}</TriesContext.Provider>;
}

/** The dialogs for running single nodes, and the watchers of those in progress. */
export function TryOutDialogs({ flush }: { flush: () => Promise<boolean> }) {
  const id = useEditor((state) => state.id);
  const graph = useEditor(({ doc }) => doc.graph);
  const store = tryOutsOf(id);
  const tries = useStore(store, (state) => state.tries);
  const open = useUi((ui) => ui.tryOut);
  const ui = useUiStore();
  const commands = useEditorCommands();
  const node = open ? graph.nodes[open.nodeId] : undefined;
  const props = node && {
    workflowId: id,
    graph,
    node,
    store,
    onClose: () => {
      ui.setState({ tryOut: null });
      commands.focus(node.id);
    },
  };
  return (
    <>
      <LastResults />
      {props && (open?.what === "run" || open?.what === "try") ? (
        <RunNodeDialog
          // A second click asks again.
          key={open.what}
          {...props}
          isDirect={open.what === "try"}
          beforeStart={flush}
        />
      ) : null}
      {props && open?.what === "pin" ? <PinDialog {...props} /> : null}
      {Object.entries(tries)
        .filter(([, { status }]) => status === "running" || status === "waiting")
        .map(([nodeId, one]) => (
          <TryWatcher
            key={one.run_id}
            workflowId={id}
            nodeId={nodeId}
            name={graph.nodes[nodeId]?.name || nodeId}
            one={one}
            store={store}
            onAnnounce={commands.announce}
          />
        ))}
    </>
  );
}

/** Loads the results of the nodes in the last runs of the workflow. */
function LastResults() {
  const id = useEditor((state) => state.id);
  const editor = useEditorStore();
  const { data } = useQuery(useTrpc().runs.lastResults.queryOptions({ workflow_id: id }));
  useEffect(() => {
    const { nodes } = editor.getState().doc.graph;
    const last = (data ?? []).flatMap(({ node_id, finished_at, labels, error, ...one }) => {
      const node = nodes[node_id];
      if (!node) return [];
      const more = { ...defined({ labels, error: error || undefined }) };
      return [[node_id, { ...one, ...more, at: finished_at, input: {}, made_of: makeOf(node) }] as const];
    });
    tryOutsOf(id).setLast(Object.fromEntries(last));
  }, [data, id, editor]);
  return null;
}
