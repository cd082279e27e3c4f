import type { WorkflowNode } from "@/server/domain/graph/graph";

/** How sentences about a run name a node, and quote foreign text. */
export const nameOf = (node: WorkflowNode) => node.name || node.id;
export const quoted = (items: readonly string[]) =>
  items.length === 0 ? "nothing" : items.map((word) => `"${word}"`).join(", ");
