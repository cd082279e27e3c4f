import type { WorkflowEdge, WorkflowNode } from "@/server/domain/graph/graph";
import { settingsOf } from "@/server/domain/nodes";
import { isDefaultLabel } from "@/server/domain/nodes/conditional-router";

/** Which normal edges of a router's outgoing ones its labels choose; null if none matches and there is no default. */
export function chooseEdges(
  outgoing: readonly WorkflowEdge[] = [],
  node: WorkflowNode,
  labels: readonly string[],
): WorkflowEdge[] | null {
  const config = settingsOf(node);
  const edges = outgoing.filter((edge) => edge.kind === "normal");
  const wanted = new Set(config.mode === "all" ? labels : labels.slice(0, 1));
  const matching = edges.filter((edge) => edge.edge_label != null && wanted.has(edge.edge_label));
  if (matching.length > 0) return matching;
  const fallback = edges.filter(
    (edge) =>
      edge.is_default ||
      (edge.edge_label != null &&
        (edge.edge_label === config.default_label || isDefaultLabel(edge.edge_label))),
  );
  if (fallback.length > 0) return fallback;
  const unnamed = edges.filter((edge) => edge.edge_label == null || edge.edge_label === "");
  return unnamed.length > 0 ? unnamed : null;
}
