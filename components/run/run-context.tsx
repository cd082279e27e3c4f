"use client";

import { createContext, type ReactNode, useContext } from "react";
import { createStore, useStore } from "zustand";
import { useShallow } from "zustand/react/shallow";
import type { RunState } from "@/server/domain/run";
import type { LiveText, RunView, RunViewStore } from "./live/run-view-store";

const RunContext = createContext<RunViewStore | null>(null);

/** Makes one run visible to everything inside. */
export function RunProvider({ store, children }: { store: RunViewStore; children: ReactNode }) {
  return <RunContext value={store}>{children}</RunContext>;
}

/** The store of the run, or null outside of a run (the editor). */
export function useRunViewStore(): RunViewStore | null {
  return useContext(RunContext);
}

const nothing = createStore<RunView | null>(() => null);

/**
 * A value of the run; `otherwise` outside of a run.
 * Select leaves or primitives: records change in place and would look unchanged.
 */
export function useRun<T>(select: (view: RunView) => T, otherwise: T): T {
  const store = useContext(RunContext);
  return useStore<typeof nothing | RunViewStore["view"], T>(store?.view ?? nothing, (view) =>
    view === null ? otherwise : select(view),
  );
}

/** Like useRun, for a list of leaves: the same array as long as its items are the same. */
export function useRunList<T>(select: (view: RunView) => T[]): T[] {
  const store = useContext(RunContext);
  return useStore<typeof nothing | RunViewStore["view"], T[]>(
    store?.view ?? nothing,
    useShallow((view: RunView | null) => (view === null ? [] : select(view))),
  );
}

/** The state of a node in the run; undefined in the editor and before the run reached it. */
export function useRunNode(id: string): RunState["nodes"][string] | undefined {
  return useRun((view) => view.state.nodes[id], undefined);
}

export function useRunActivation(id: string | undefined): RunState["activations"][string] | undefined {
  return useRun((view) => (id === undefined ? undefined : view.state.activations[id]), undefined);
}

/** Text of a call that is being streamed right now; nothing while looking at the past. */
export function useLiveText(callId: string | undefined): LiveText | undefined {
  return useRun(
    (view) => (view.cursor === null && callId !== undefined ? view.live[callId] : undefined),
    undefined,
  );
}
