import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { WorkflowNode } from "@/server/domain/nodes";

/** A node as a sentence names it. */
export const nameOf = (node: WorkflowNode) => `"${node.name || node.id}"`;

/** The same by its id, also where there is no such node. */
export const named = (graph: WorkflowGraph, id: string) =>
  graph.nodes[id] ? nameOf(graph.nodes[id]) : `"${id}"`;

/** A number as people write it. */
export const formatCount = (count: number) => count.toLocaleString("en-US");

/** Words in a row, each in quotes. */
export const quoted = (items: readonly string[]) => items.map((word) => `"${word}"`).join(", ");
