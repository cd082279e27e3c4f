import type { WorkflowNode } from "@/server/domain/graph/graph";

/** What a dialog about one time that a node ran in a run is given. */
export interface AboutNode {
  runId: string;
  node: WorkflowNode;
  activationId: string;
  onClose: () => void;
}
