import clsx from "clsx";
import {
  Ban,
  Check,
  Circle,
  CircleDashed,
  CirclePause,
  CornerDownRight,
  Hourglass,
  LoaderCircle,
  type LucideIcon,
  OctagonPause,
  TriangleAlert,
  X,
} from "lucide-react";
import { FINAL_STATUS_LABELS, type FinalStatus } from "@/server/domain/agent/outcome";

/** The statuses of nodes, runs and their ends. */
export type Status =
  | "idle"
  | "ready"
  | "queued"
  | "running"
  | "waiting"
  | "held"
  | "paused"
  | "completed"
  | "warned"
  | "failed"
  | "skipped"
  | "cancelled"
  | "finished"
  | FinalStatus;

interface Mark {
  word: string;
  icon: LucideIcon;
  color: string;
  /** White icon on a filled disc, for final states. */
  filled?: boolean | undefined;
  spins?: boolean | undefined;
}

const marks: Record<Status, Mark> = {
  idle: { word: "Idle", icon: Circle, color: "text-ink-3" },
  ready: { word: "Queued", icon: CircleDashed, color: "text-queued" },
  queued: { word: "Queued", icon: CircleDashed, color: "text-queued" },
  running: { word: "Running", icon: LoaderCircle, color: "text-running", spins: true },
  waiting: { word: "Waiting", icon: Hourglass, color: "text-waiting" },
  paused: { word: "Paused", icon: CirclePause, color: "text-waiting" },
  held: { word: "Quarantined", icon: OctagonPause, color: "text-failed" },
  completed: { word: "Completed", icon: Check, color: "text-completed", filled: true },
  warned: { word: "Completed with failures", icon: TriangleAlert, color: "text-waiting" },
  failed: { word: "Failed", icon: X, color: "text-failed", filled: true },
  skipped: { word: "Skipped", icon: CornerDownRight, color: "text-ink-3" },
  cancelled: { word: "Cancelled", icon: Ban, color: "text-ink-3" },
  finished: { word: "Finished", icon: Check, color: "text-ink-2" },
  COMPLETED: { word: FINAL_STATUS_LABELS.COMPLETED, icon: Check, color: "text-completed", filled: true },
  ERROR: { word: FINAL_STATUS_LABELS.ERROR, icon: X, color: "text-failed", filled: true },
  INCOMPLETE: { word: FINAL_STATUS_LABELS.INCOMPLETE, icon: CirclePause, color: "text-waiting" },
  CANCELLED: { word: FINAL_STATUS_LABELS.CANCELLED, icon: Ban, color: "text-ink-3" },
};

/** The label of a status, for sentences and announcements. */
export function statusWord(status: Status): string {
  return marks[status].word;
}

export interface StatusMarkProps {
  status: Status;
  size?: "sm" | "md" | undefined;
  /** Shows the label; otherwise it is for screen readers and on hover only. */
  withWord?: boolean | undefined;
  /** A past state: no animation. */
  isPast?: boolean | undefined;
  className?: string | undefined;
}

/** A status by icon, color and label; never by color alone. */
export function StatusMark({ status, size = "md", withWord, isPast, className }: StatusMarkProps) {
  const { word, icon: Icon, color, filled, spins } = marks[status];
  const px = size === "sm" ? 14 : 16;
  return (
    <span
      data-status={status}
      title={withWord ? undefined : word}
      className={clsx("inline-flex shrink-0 items-center gap-1.5 whitespace-nowrap", className)}
    >
      <span
        aria-hidden="true"
        style={{ width: px, height: px }}
        className={clsx("inline-flex shrink-0 items-center justify-center", color)}
      >
        {filled ? (
          <span className="flex size-full items-center justify-center rounded-full bg-current">
            <Icon className="text-surface" size={px - 5} strokeWidth={3.25} />
          </span>
        ) : (
          <Icon
            size={px}
            strokeWidth={2}
            className={clsx(spins && !isPast && "animate-spin motion-reduce:[animation-duration:4s]")}
          />
        )}
      </span>
      {withWord ? (
        <span className={size === "sm" ? "text-xs" : "text-[13px]"}>{word}</span>
      ) : (
        <span className="sr-only">{word}</span>
      )}
    </span>
  );
}
