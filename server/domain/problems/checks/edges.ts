import { type Analysis, sideEntries } from "@/server/domain/graph/analysis";
import type { WorkflowEdge, WorkflowGraph } from "@/server/domain/graph/graph";
import { getNodeKind, type WorkflowNode } from "@/server/domain/nodes";
import { checkExpression } from "@/server/domain/text/expression/expression";
import type { Check } from "../check";
import type { Fix } from "../fixes";
import { nameOf } from "../names";

/** Edges that lead nowhere, are not allowed, or are never taken. */
export function checkEdges({ graph, report, analysis, reading }: Check): void {
  const ids = new Set<string>();
  const seen = new Set<string>();
  for (const edge of graph.edges) {
    const at = { kind: "edge" as const, id: edge.id };
    const remove: Fix = { kind: "remove_edge", edge_id: edge.id, label: "Remove connection" };
    if (ids.has(edge.id))
      report.error("E_DUPLICATE_ID", at, `Duplicate connection id "${edge.id}". Redraw one of them.`, remove);
    ids.add(edge.id);
    const source = graph.nodes[edge.source_node_id];
    const target = graph.nodes[edge.target_node_id];
    if (!source || !target) {
      const missing = source ? edge.target_node_id : edge.source_node_id;
      report.error(
        "E_EDGE_UNKNOWN_NODE",
        at,
        `This connection refers to "${missing}", which doesn't exist. Remove it.`,
        remove,
      );
      continue;
    }
    const forbidden = whyForbidden(source, target);
    if (forbidden !== null)
      report.error("E_EDGE_NOT_ALLOWED", at, `${forbidden}. Remove this connection.`, remove);
    else if (getNodeKind(target.node_type).begins)
      report.warning(
        "W_START_HAS_INCOMING",
        at,
        `This connection restarts the run at ${nameOf(target)} with its current state. If unintended, connect to the next node.`,
      );

    const key = keyOf(edge);
    if (seen.has(key))
      report.error(
        "E_DUPLICATE_LABEL",
        at,
        edge.edge_label
          ? `Two connections from ${nameOf(source)} to ${nameOf(target)} have the label "${edge.edge_label}". Remove one.`
          : `Two identical connections lead from ${nameOf(source)} to ${nameOf(target)}. Remove one.`,
        remove,
      );
    seen.add(key);
    if (edge.condition !== undefined && reading.ofEdge(edge.id))
      report.texts("E_BAD_EXPRESSION", at, "condition", checkExpression(edge.condition, { result: "bool" }));
    if (edge.kind === "error" && source.on_error === "continue")
      report.warning(
        "W_ERROR_EDGE_UNUSED",
        at,
        `${nameOf(source)} continues on failure, so this connection is never used. Set “On error” to follow the error path.`,
        {
          kind: "set_node",
          node_id: source.id,
          set: { on_error: "error_edge" },
          label: "Follow the error path",
        },
      );
  }
  for (const id of analysis.irreducible)
    report.warning(
      "W_IRREDUCIBLE_LOOP",
      { kind: "edge", id },
      "This loop has two entry points, so its iterations can't be counted. Route all entries through one node.",
      oneEntry(graph, analysis, id),
    );
}

/** What keeps an edge from connecting two nodes, or null. */
function whyForbidden(source: WorkflowNode, target: WorkflowNode): string | null {
  const from = getNodeKind(source.node_type);
  const to = getNodeKind(target.node_type);
  if (from.executes === false || from.hasExit === false)
    return `${nameOf(source)} can't have outgoing connections`;
  if (to.executes === false || (to.hasEntry === false && !to.begins))
    return `${nameOf(target)} can't have incoming connections`;
  return null;
}

/** The same for edges that do the same. */
const keyOf = (edge: WorkflowEdge): string =>
  JSON.stringify([
    edge.source_node_id,
    edge.target_node_id,
    edge.edge_label,
    edge.kind,
    edge.condition,
    edge.condition_name,
  ]);

/** Leads all edges into the loop of a back edge to the target of that edge. */
function oneEntry(graph: WorkflowGraph, analysis: Analysis, backEdge: string): Fix | undefined {
  const back = graph.edges.find(({ id }) => id === backEdge);
  const header = back && graph.nodes[back.target_node_id];
  if (!header) return undefined;
  return {
    kind: "lead_to",
    node_id: header.id,
    edge_ids: sideEntries(analysis, back).map(({ id }) => id),
    label: `Only enter at ${nameOf(header)}`,
  };
}
