"use client";

import clsx from "clsx";
import { History } from "lucide-react";
import type { ReactNode } from "react";
import { formatDuration } from "@/components/display/format";
import { useRun, useRunViewStore } from "@/components/run/run-context";

/** Moves the cursor to a moment. The default label is the time since the run started. */
export function MomentLink({
  seq,
  about,
  children,
  className,
}: {
  seq: number;
  /** What happened there, for screen readers. */
  about: string;
  children?: ReactNode;
  className?: string;
}) {
  const store = useRunViewStore();
  const after = useRun(({ events }) => (events[seq - 1]?.ts ?? 0) - (events[0]?.ts ?? 0), 0);
  const isHere = useRun(({ cursor }) => cursor === seq, false);
  return (
    <button
      type="button"
      aria-current={isHere ? "true" : undefined}
      onClick={() => store?.goTo(seq)}
      className={clsx(
        "inline-flex shrink-0 items-center gap-1 rounded px-1 text-xs text-ink-2 tabular-nums hover:bg-ink/6 hover:text-accent pointer-coarse:min-h-9",
        isHere && "bg-accent-soft text-accent",
        className,
      )}
    >
      <History aria-hidden className="size-3" />
      <span className="sr-only">Go to this point: {about}, </span>
      {children ?? formatDuration(Math.max(0, after))}
    </button>
  );
}
