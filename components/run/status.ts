import type { Status } from "@/components/display/status-mark";
import type { FinalStatus } from "@/server/domain/agent/outcome";
import type { TaskStatus } from "@/server/domain/crew/plan";

/** The one status to show for a run, from what lists (`queued`…) or the fold (`created`…) say of it. */
export function runStatus(status: string, finalStatus?: FinalStatus | null): Status {
  if (finalStatus) return finalStatus;
  if (
    status === "running" ||
    status === "waiting" ||
    status === "paused" ||
    status === "held" ||
    status === "finished"
  )
    return status;
  return "queued";
}

/** The status to show for a task of a plan. */
export const TASK_STATUS: Record<TaskStatus, Status> = {
  pending: "ready",
  in_progress: "running",
  completed: "completed",
  failed: "failed",
  blocked: "waiting",
  skipped: "skipped",
  cancelled: "cancelled",
  awaiting_human: "waiting",
};
