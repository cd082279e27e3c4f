import { getNodeKind, type WorkflowNode } from ".";

/** The outline of a node's card: told apart before a word is read. */
export type Silhouette = "start" | "end" | "router" | "agent" | "crew" | "wait" | "data";

/** The silhouette of a node, by what its kind declares; canvas.css draws it on cards, and lists of workflows in small. */
export function silhouetteOf({ node_type }: Pick<WorkflowNode, "node_type">): Silhouette {
  const kind = getNodeKind(node_type);
  if (kind.executes === false) return "data";
  if (kind.hasEntry === false) return "start";
  if (kind.hasExit === false) return "end";
  if (kind.routes) return "router";
  if (kind.works === "crew") return "crew";
  if (kind.group === "agents") return "agent";
  return kind.group === "flow" || kind.group === "people" ? "wait" : "data";
}
