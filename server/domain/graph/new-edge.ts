import type { WorkflowEdge } from "./graph";

/** A connection as it is first drawn: no default way, and not for errors, unless it says so. */
export const newEdge = (
  edge: Pick<WorkflowEdge, "id" | "source_node_id" | "target_node_id"> & Partial<WorkflowEdge>,
): WorkflowEdge => ({ is_default: false, kind: "normal", ...edge });
