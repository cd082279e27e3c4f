"use client";

import clsx from "clsx";
import { Hourglass, Server, Unplug } from "lucide-react";
import { placeLabel } from "@/server/domain/run/engine-labels";
import type { RunPlace } from "@/server/domain/run/engine-state";
import { useRun } from "./run-context";

const ICONS = { at_work: Server, waits_for_worker: Hourglass, engine_away: Unplug } as const;

const timeOf = (at: number) =>
  new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });

/** The worker that executes the run; nothing if the server does, or if the past is shown. */
export function RunLocation({
  place,
  className,
}: {
  place: RunPlace | null;
  className?: string | undefined;
}) {
  const isPast = useRun(({ cursor }) => cursor !== null, false);
  if (!place || isPast) return null;
  const Icon = ICONS[place.state];
  const text = placeLabel(place, timeOf);
  return (
    <p
      title={text}
      className={clsx(
        "flex min-w-0 items-center gap-1.5 text-xs leading-4",
        className,
        place.state === "engine_away" ? "text-waiting-ink" : "text-ink-2",
      )}
    >
      <Icon aria-hidden className="size-3 shrink-0 opacity-80" strokeWidth={1.75} />
      <span className="min-w-0 truncate">{text}</span>
    </p>
  );
}
