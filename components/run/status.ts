import { type Status, statusWord } from "@/components/ui/status-mark";
import type { NodeStatus } from "@/server/domain/run";

/** A node's status in a word. */
export function nodeWord(status: NodeStatus): string {
  return status === "idle" ? "Not reached" : statusWord(status);
}

/** The one status to show for a run, from what lists (`queued`…) or the fold (`created`…) say of it. */
export function runStatus(status: string, finalStatus?: string | null): Status {
  if (finalStatus) return finalStatus as Status;
  if (status === "running" || status === "waiting" || status === "held" || status === "finished")
    return status;
  return "queued";
}
