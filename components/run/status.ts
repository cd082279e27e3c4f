import type { NodeStatus } from "@/server/domain/run";
import type { FinalStatus } from "@/server/domain/outcome";


/** The word for where a run is, for people; never said by colour alone. */
export interface RunWord {
  word: string;
  tone: "queued" | "running" | "waiting" | "completed" | "failed" | "incomplete" | "cancelled";
}

const FINAL: Record<FinalStatus, RunWord> = {
  COMPLETED: { word: "Completed", tone: "completed" },
  ERROR: { word: "Failed", tone: "failed" },
  INCOMPLETE: { word: "Stopped at a limit", tone: "incomplete" },
  CANCELLED: { word: "Cancelled", tone: "cancelled" },
};

/** A run's status in a word, from what lists (`queued`…) or the fold (`created`…) say of it. */
export function runWord(status: string, finalStatus?: FinalStatus | string | null): RunWord {
  if (finalStatus && Object.hasOwn(FINAL, finalStatus)) return FINAL[finalStatus as FinalStatus];
  if (status === "running") return { word: "Running", tone: "running" };
  if (status === "waiting") return { word: "Waiting", tone: "waiting" };
  if (status === "finished") return { word: "Finished", tone: "completed" };
  return { word: "Queued", tone: "queued" };
}

const NODE: Record<NodeStatus, string> = {
  idle: "Not reached",
  ready: "Queued",
  running: "Running",
  waiting: "Waiting",
  completed: "Completed",
  failed: "Failed",
  skipped: "Skipped",
  cancelled: "Cancelled",
};

/** A node's status in a word. */
export function nodeWord(status: NodeStatus): string {
  return NODE[status];
}
