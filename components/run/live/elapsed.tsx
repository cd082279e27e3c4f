"use client";

import { type ReactNode, useEffect, useState } from "react";
import { useShallow } from "zustand/react/shallow";
import { formatClock, formatDuration } from "@/components/display/format";
import { useRun } from "../run-context";
import { isIdle, type RunView } from "./run-view-store";

/** How long the run has worked as of the cursor, excluding waits; ticks while it works. */
export function RunElapsed() {
  const { from, worked, isWaiting } = useRunTimes();
  if (worked === null) return <>–</>;
  return isWaiting === false ? <Ticking from={from} /> : <>{formatDuration(worked)}</>;
}

/** How long the run has only waited, if at least a second; ticks while it waits. */
export function RunWaited({ children }: { children: (time: ReactNode) => ReactNode }) {
  const { waited, waitingFrom, isWaiting } = useRunTimes();
  if (isWaiting) return children(<Ticking from={waitingFrom} />);
  return waited < 1_000 ? null : children(formatDuration(waited));
}

/** `isWaiting` is null if no clock ticks: after the end, and in the past. */
function useRunTimes() {
  return useRun(
    useShallow((view: RunView) => {
      const { state, cursor, events, lastSeq } = view;
      const { started_at } = state.run;
      // The clock stands still at the end, and while a child run is paused.
      const finished_at =
        state.run.finished_at ?? (cursor === null ? (view.pausedBelow ?? undefined) : undefined);
      const at = cursor ?? lastSeq;
      const waited = view.waited[at - 1] ?? 0;
      const last = events[at - 1]?.ts ?? 0;
      const begun = started_at ?? last;
      return {
        from: begun + waited,
        waited,
        waitingFrom: last - waited,
        worked: started_at === undefined ? null : Math.max(0, (finished_at ?? last) - started_at - waited),
        isWaiting: finished_at !== undefined || cursor !== null ? null : isIdle(state),
      };
    }),
    NO_TIMES,
  );
}
const NO_TIMES = { from: 0, waited: 0, waitingFrom: 0, worked: null, isWaiting: null };

/** When the clock of a run is at 0: its own start or, for a fork, the start of the original. */
export const zeroOf = ({ head: { run }, events }: RunView): number =>
  (run.forked ? undefined : run.started_at) ?? events[0]?.ts ?? 0;

/** The time now, in Unix milliseconds, anew every so many milliseconds. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** Time since a moment, ten times a second. */
export function Ticking({ from, className }: { from: number; className?: string | undefined }) {
  const now = useNow(100);
  return <span className={className}>{formatClock(now - from)}</span>;
}

const TWO_DAYS = 48 * 3_600_000;

/** How long it is until a moment, counting down by seconds; null once it has come. */
export function useTimeLeft(until: number): string | null {
  const left = until - useNow(1_000);
  // No one counts the minutes of a week.
  if (left > TWO_DAYS) return `${Math.round(left / (TWO_DAYS / 2))} days`;
  return left > 0 ? formatDuration(Math.ceil(left / 1_000) * 1_000) : null;
}
