import type { NodeCheck } from "../check";
import { nameOf } from "../names";

/** A node that waits for more ways than lead to it. */
export function checkJoin({ analysis, report, at, node }: NodeCheck): void {
  if (typeof node.join === "object") {
    const incomingCount = (analysis.incoming.get(node.id) ?? []).filter(
      (edge) => !analysis.backEdges.has(edge.id),
    ).length;
    if (node.join.n > incomingCount && analysis.position.has(node.id))
      report.error(
        "E_JOIN_N_TOO_LARGE",
        { ...at, field: "join" },
        `${nameOf(node)} waits for ${node.join.n} of its ways, but only ${incomingCount} ${incomingCount === 1 ? "leads" : "lead"} here.`,
        incomingCount === 0
          ? undefined
          : {
              kind: "set_node",
              node_id: node.id,
              set: { join: { ...node.join, n: incomingCount } },
              label: `Wait for ${incomingCount}`,
            },
      );
  }
}
