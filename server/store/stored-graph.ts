import { recordOf } from "@/server/domain/base/guards";
import { WorkflowGraph } from "@/server/domain/graph/graph";

/** Reads a stored graph. Ignores run settings that are no longer valid. */
export function readStoredGraph(text: string): WorkflowGraph {
  const value: unknown = JSON.parse(text);
  const read = WorkflowGraph.safeParse(value);
  if (read.success) return read.data;
  return WorkflowGraph.parse({ ...recordOf(value), config: undefined });
}
