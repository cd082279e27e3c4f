"use client";

import { useEffect, useState } from "react";
import { formatClock, formatDuration } from "@/components/display/format";
import { useRun } from "./run-context";

/** How long the run took, or has taken as of the cursor; ticks while it runs. */
export function RunElapsed({ className }: { className?: string | undefined }) {
  const started = useRun<number | undefined>(({ state }) => state.run.started_at, undefined);
  const finished = useRun<number | undefined>(({ state }) => state.run.finished_at, undefined);
  const cursorTime = useRun<number | null>(
    ({ cursor, events }) => (cursor === null ? null : (events[cursor - 1]?.ts ?? null)),
    null,
  );
  if (started === undefined) return <span className={className}>–</span>;
  const until = finished ?? cursorTime;
  if (until !== null) return <span className={className}>{formatDuration(until - started)}</span>;
  return <Ticking from={started} className={className} />;
}

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
  // Nobody counts the minutes of a week.
  if (left > TWO_DAYS) return `${Math.round(left / (TWO_DAYS / 2))} days`;
  return left > 0 ? formatDuration(Math.ceil(left / 1_000) * 1_000) : null;
}
