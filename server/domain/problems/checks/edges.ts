import { type Analysis, sideEntries } from "@/server/domain/graph/analysis";
import type { WorkflowEdge, WorkflowGraph } from "@/server/domain/graph/graph";
import { getNodeKind } from "@/server/domain/nodes";
import { checkExpression } from "@/server/domain/text/expression/expression";
import type { Check } from "../check";
import type { Fix } from "../fixes";
import { nameOf } from "../names";

/** Edges that lead nowhere, that may not be there, or that are never taken. */
export function checkEdges({ graph, report, analysis, reading }: Check): void {
  const ids = new Set<string>();
  const seen = new Map<string, WorkflowEdge>();
  for (const edge of graph.edges) {
    const at = { kind: "edge" as const, id: edge.id };
    const remove: Fix = { kind: "remove_edge", edge_id: edge.id, label: "Remove this edge" };
    if (ids.has(edge.id))
      report.error(
        "E_DUPLICATE_ID",
        at,
        `Two edges have the id "${edge.id}". Draw one of them anew.`,
        remove,
      );
    ids.add(edge.id);
    const source = graph.nodes[edge.source_node_id];
    const target = graph.nodes[edge.target_node_id];
    if (!source || !target) {
      const missing = source ? edge.target_node_id : edge.source_node_id;
      report.error(
        "E_EDGE_UNKNOWN_NODE",
        at,
        `This edge is tied to "${missing}", which does not exist. Remove the edge.`,
        remove,
      );
      continue;
    }
    const from = getNodeKind(source.node_type);
    const to = getNodeKind(target.node_type);
    if (from.executes === false || from.hasExit === false)
      report.error(
        "E_EDGE_NOT_ALLOWED",
        at,
        `Nothing can follow ${nameOf(source)}. Remove this edge.`,
        remove,
      );
    else if (to.executes === false || (to.hasEntry === false && !to.begins))
      report.error(
        "E_EDGE_NOT_ALLOWED",
        at,
        `Nothing can lead to ${nameOf(target)}. Remove this edge.`,
        remove,
      );
    else if (to.begins)
      report.warning(
        "W_START_HAS_INCOMING",
        at,
        `This edge leads back to ${nameOf(target)}; the run then begins anew with what it knows. If that is not meant, lead it to the node after.`,
      );

    const same = JSON.stringify([
      edge.source_node_id,
      edge.target_node_id,
      edge.edge_label ?? null,
      edge.kind,
      edge.condition ?? null,
      edge.condition_name ?? null,
    ]);
    if (seen.has(same))
      report.error(
        "E_DUPLICATE_LABEL",
        at,
        edge.edge_label
          ? `Two edges from ${nameOf(source)} to ${nameOf(target)} are labelled "${edge.edge_label}". Remove one.`
          : `Two edges lead from ${nameOf(source)} to ${nameOf(target)} alike. Remove one.`,
        remove,
      );
    seen.set(same, edge);
    if (edge.condition !== undefined && reading.ofEdge(edge.id))
      report.texts("E_BAD_EXPRESSION", at, "condition", checkExpression(edge.condition, { result: "bool" }));
    if (edge.kind === "error" && source.on_error === "continue")
      report.warning(
        "W_ERROR_EDGE_UNUSED",
        at,
        `${nameOf(source)} goes on as if nothing had happened when it fails, so this edge is never taken. Set "When it fails" to follow the error edge.`,
        {
          kind: "set_node",
          node_id: source.id,
          set: { on_error: "error_edge" },
          label: "Follow the error edge",
        },
      );
  }
  for (const id of analysis.irreducible)
    report.warning(
      "W_IRREDUCIBLE_LOOP",
      { kind: "edge", id },
      "This loop can be entered in two places, so its rounds cannot be told apart. Lead every way into it to the same node first.",
      oneEntry(graph, analysis, id),
    );
}

/** Leads every way into the loop of a back edge to where that edge leads. */
function oneEntry(graph: WorkflowGraph, analysis: Analysis, backEdge: string): Fix | undefined {
  const back = graph.edges.find(({ id }) => id === backEdge);
  const header = back && graph.nodes[back.target_node_id];
  if (!header) return undefined;
  return {
    kind: "lead_to",
    node_id: header.id,
    edge_ids: sideEntries(analysis, back).map(({ id }) => id),
    label: `Enter it at ${nameOf(header)} only`,
  };
}
