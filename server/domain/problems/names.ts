import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { WorkflowNode } from "@/server/domain/nodes";

/** A node's name in a sentence. */
export const nameOf = (node: WorkflowNode) => `"${node.name || node.id}"`;

/** The same by id; the id itself if there is no such node. */
export const named = (graph: WorkflowGraph, id: string) =>
  graph.nodes[id] ? nameOf(graph.nodes[id]) : `"${id}"`;

export const formatCount = (count: number) => count.toLocaleString("en-US");

export const quoted = (items: readonly string[]) => items.map((word) => `"${word}"`).join(", ");
