import type { RunState } from "@/server/domain/run";
import type { NewEvent } from "@/server/domain/run/events";

/** How many of the newest errors are kept as text. */
const MOST_KEPT = 3;

/** Counts the errors of a run for `escalate` (domain/agent/escalate.ts). */
export class ErrorCount {
  count = 0;
  /** The newest errors, the last one last. */
  newest: readonly string[] = [];

  constructor(private readonly s: RunState) {}

  heed(event: NewEvent): void {
    if (event.type === "run_forked") {
      this.count = 0;
      this.newest = [];
    }
    const error = this.errorIn(event);
    if (error === null) return;
    this.count++;
    this.newest = [...this.newest, error].slice(-MOST_KEPT);
  }

  private errorIn(event: NewEvent): string | null {
    switch (event.type) {
      case "node_failed": {
        const { node_id = "" } = event;
        return `${this.s.graph.nodes[node_id]?.name || node_id}: ${event.payload.error.message}`;
      }
      case "tool_call_completed": {
        const { tool_name, status_code, error } = event.payload;
        return status_code === 200 ? null : `${tool_name} (${status_code}): ${error ?? "failed"}`;
      }
      case "agent_finished": {
        const { status, error } = event.payload;
        const isOfCrew = event.activation_id !== undefined && this.s.crews[event.activation_id] !== undefined;
        return isOfCrew && (status === "failed" || status === "rejected")
          ? `${event.agent_id}: ${error?.message ?? "The task was returned."}`
          : null;
      }
      case "child_finished": {
        const { node_id = "", payload } = event;
        return payload.final_status === "COMPLETED"
          ? null
          : `${this.s.graph.nodes[node_id]?.name || node_id}: ${payload.error?.message ?? "A run didn't complete."}`;
      }
      default:
        return null;
    }
  }
}
