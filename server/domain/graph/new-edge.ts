import type { WorkflowEdge } from "./graph";

/** A new connection with defaults: not the default route and not an error path, unless set. */
export const newEdge = (
  edge: Pick<WorkflowEdge, "id" | "source_node_id" | "target_node_id"> & Partial<WorkflowEdge>,
): WorkflowEdge => ({ is_default: false, kind: "normal", ...edge });
