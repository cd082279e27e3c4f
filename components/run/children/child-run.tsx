"use client";

import { type ReactNode, useEffect } from "react";
import { BreakpointsContext } from "@/components/canvas/breakpoint-context";
import { StaleContext } from "@/components/canvas/cards/stale-mark";
import type { ChildRun } from "@/server/domain/run";
import { CrewStageProvider } from "../crew/crew-stage";
import type { RunView, RunViewStore } from "../live/run-view-store";
import { useRunEvents } from "../live/use-run-events";
import { RunProvider, useRun, useRunViewStore } from "../run-context";
import { RunPageProvider } from "../run-page-context";
import { childOf, cursorAt } from "./child-runs";
import { ChildLevel, useChildStage } from "./child-stage";

const NOTHING_STALE: ReadonlyMap<string, string> = new Map();

/** The run that an open card shows: at the cursor, else the newest one. */
export function useShownChild(nodeId: string) {
  const item = useChildStage()?.open.get(nodeId)?.item;
  const now = useRun<ChildRun | undefined>(({ state }) => childOf(state, nodeId, item), undefined);
  const newest = useRun<ChildRun | undefined>(({ head }) => childOf(head, nodeId, item), undefined);
  const hasItem =
    (at: number) =>
    ({ state }: RunView) =>
      childOf(state, nodeId, at) !== undefined;
  const hasBefore = useRun(hasItem((item ?? 0) - 1), false);
  const hasAfter = useRun(hasItem((item ?? 0) + 1), false);
  return { child: now ?? newest, hasBegun: now !== undefined, hasBefore, hasAfter };
}

/** Provides a child run to everything inside, at the time of its parent's cursor. */
export function ChildRunProvider({ runId, children }: { runId: string; children: ReactNode }) {
  const around = useRunViewStore();
  const { store } = useRunEvents(runId, "poll");
  useSameTime(around, store);
  return (
    <RunProvider store={store}>
      <RunPageProvider value={null}>
        <CrewStageProvider value={null}>
          <BreakpointsContext value={null}>
            <StaleContext value={NOTHING_STALE}>
              <ChildLevel runId={runId}>{children}</ChildLevel>
            </StaleContext>
          </BreakpointsContext>
        </CrewStageProvider>
      </RunPageProvider>
    </RunProvider>
  );
}

/** Moves the cursor of a run to the time at which another one is shown. */
function useSameTime(around: RunViewStore | null, store: RunViewStore) {
  useEffect(() => {
    if (!around) return;
    const follow = () => {
      const { cursor, events } = around.view.getState();
      const own = store.view.getState().events;
      const time = cursor === null ? undefined : events[cursor - 1]?.ts;
      if (own.length > 0) store.goTo(time === undefined ? null : cursorAt(own, time));
    };
    follow();
    const stops = [around.view.subscribe(follow), store.view.subscribe(follow)];
    return () => {
      for (const stop of stops) stop();
    };
  }, [around, store]);
}
