import type { WorkflowNode } from "@/server/domain/graph/graph";

/** How sentences about a run name a node, and words of somebody else. */
export const nameOf = (node: WorkflowNode) => node.name || node.id;
export const quoted = (words: readonly string[]) =>
  words.length === 0 ? "nothing" : words.map((word) => `"${word}"`).join(", ");
