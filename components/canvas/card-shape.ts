import type { WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind, isCrewNode } from "@/server/domain/nodes";

/** The silhouette of a kind: told apart before a word is read. */
type Shape = "start" | "end" | "router" | "agent" | "crew" | "wait" | "data";

/** The silhouette of a node's card; canvas.css draws it. */
export function shapeOf(node: WorkflowNode): Shape {
  const kind = getNodeKind(node.node_type);
  if (kind.executes === false) return "data";
  if (kind.hasEntry === false) return "start";
  if (kind.hasExit === false) return "end";
  if (kind.routes) return "router";
  if (isCrewNode(node)) return "crew";
  if (kind.group === "agents") return "agent";
  return kind.group === "flow" || kind.group === "people" ? "wait" : "data";
}
