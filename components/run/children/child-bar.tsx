"use client";

import { ChevronLeft, ChevronRight, ExternalLink, X } from "lucide-react";
import { StatusMark } from "@/components/display/status-mark";
import { IconButton } from "@/components/ui/icon-button";
import { PageLink } from "@/components/ui/page-link";
import type { ChildRun } from "@/server/domain/run";
import { useRun } from "../run-context";
import { runStatus } from "../status";
import { runHref } from "./child-runs";

/** Inside a run that is shown within another one: how it stands, which item it is for, and the way to its page. */
export function ChildBar({
  child: { run_id, item },
  hasBegun,
  hasBefore,
  hasAfter,
  onItem,
  onClose,
}: {
  child: ChildRun;
  hasBegun: boolean;
  /** Whether the previous and the next item have runs. */
  hasBefore: boolean;
  hasAfter: boolean;
  onItem: (item: number) => void;
  onClose: () => void;
}) {
  const status = useRun(
    ({ state: { run } }) => runStatus(run.paused_at ? "paused" : run.status, run.final_status),
    "queued",
  );
  const isPast = useRun(({ cursor }) => cursor !== null, false);
  return (
    <>
      {hasBegun ? <StatusMark status={status} withWord isPast={isPast} /> : null}
      {item === undefined ? null : (
        <span className="flex items-center gap-1 text-[13px] tabular-nums">
          <IconButton
            label="Previous item"
            size="sm"
            icon={<ChevronLeft aria-hidden />}
            disabled={!hasBefore}
            onClick={() => onItem(item - 1)}
          />
          Item {(item + 1).toLocaleString("en-US")}
          <IconButton
            label="Next item"
            size="sm"
            icon={<ChevronRight aria-hidden />}
            disabled={!hasAfter}
            onClick={() => onItem(item + 1)}
          />
        </span>
      )}
      <PageLink
        href={runHref(run_id)}
        className="inline-flex items-center gap-1 text-[13px] font-medium text-accent hover:text-accent-hover"
      >
        Open run
        <ExternalLink aria-hidden className="size-3.5" />
      </PageLink>
      <IconButton label="Close run" shortcut="Esc" icon={<X aria-hidden />} size="sm" onClick={onClose} />
    </>
  );
}
