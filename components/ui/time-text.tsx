"use client";

import { useSyncExternalStore } from "react";

/** One clock for all relative times; ticks every ten seconds while one is shown. */
let now = 0;
let timer: ReturnType<typeof setInterval> | undefined;
const watchers = new Set<() => void>();
function watch(onTick: () => void) {
  watchers.add(onTick);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const listener of watchers) listener();
  }, 10_000);
  return () => {
    watchers.delete(onTick);
    if (watchers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}
function currentTime(): number {
  // Constant between ticks: a snapshot that changes on every read would render endlessly.
  if (now === 0 || !timer) now = now === 0 || Date.now() - now > 10_000 ? Date.now() : now;
  return now;
}

/** A time as "4 min ago", in full on hover. The server renders only the machine-readable time. */
export function TimeText({ at, className }: { at: number | string | Date; className?: string }) {
  const moment = new Date(at);
  const time = useSyncExternalStore(watch, currentTime, () => 0);
  return (
    <time
      dateTime={moment.toISOString()}
      title={time === 0 ? undefined : full.format(moment)}
      className={className}
      suppressHydrationWarning
    >
      {time === 0 ? "" : formatRelativeTime(moment.getTime(), time)}
    </time>
  );
}

const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const day = new Intl.DateTimeFormat("en", { day: "numeric", month: "short" });
const dayAndYear = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric" });

/** "just now", "4 min ago", "2 h ago", "3 d ago", then the date. */
export function formatRelativeTime(at: number, from: number): string {
  const seconds = Math.round((from - at) / 1000);
  if (seconds < 45) return "just now";
  if (seconds < 3600) return `${Math.max(1, Math.round(seconds / 60))} min ago`;
  if (seconds < 86_400) return `${Math.round(seconds / 3600)} h ago`;
  if (seconds < 7 * 86_400) return `${Math.round(seconds / 86_400)} d ago`;
  const moment = new Date(at);
  return (moment.getFullYear() === new Date(from).getFullYear() ? day : dayAndYear).format(moment);
}
