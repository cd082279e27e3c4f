"use client";

import { useMemo } from "react";
import { useRun, useRunViewStore } from "@/components/run/run-context";
import type { RunEvent } from "@/server/domain/run/events";

const NONE: readonly RunEvent[] = [];

/** The events of the run up to the cursor; the same array until something is added. */
export function useEventsSoFar(): readonly RunEvent[] {
  const store = useRunViewStore();
  const upTo = useRun(({ cursor, lastSeq }) => cursor ?? lastSeq, 0);
  return useMemo(() => store?.view.getState().events.slice(0, upTo) ?? NONE, [store, upTo]);
}

/** All events of the run; the same array until something is added. */
export function useAllEvents(): readonly RunEvent[] {
  const store = useRunViewStore();
  const lastSeq = useRun((view) => view.lastSeq, 0);
  return useMemo(() => store?.view.getState().events.slice(0, lastSeq) ?? NONE, [store, lastSeq]);
}
