import type { Status } from "@/components/ui/status-mark";

/** The one status to show for a run, from what lists (`queued`…) or the fold (`created`…) say of it. */
export function runStatus(status: string, finalStatus?: string | null): Status {
  if (finalStatus) return finalStatus as Status;
  if (status === "running" || status === "waiting" || status === "held" || status === "finished")
    return status;
  return "queued";
}
