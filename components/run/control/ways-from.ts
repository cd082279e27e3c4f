import type { WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";

/** The nodes that a way leads to from a node, each once. */
export const successorsOf = ({ nodes, edges }: WorkflowGraph, id: string): WorkflowNode[] =>
  [
    ...new Set(
      edges.flatMap((edge) =>
        edge.source_node_id === id && edge.kind !== "error" ? [edge.target_node_id] : [],
      ),
    ),
  ].flatMap((target) => nodes[target] ?? []);
