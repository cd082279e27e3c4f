import { formatList } from "@/components/display/format";
import { oneLine } from "@/components/display/one-line";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { WorkflowEdge, WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind } from "@/server/domain/nodes";
import { chooseEdges } from "@/server/domain/run/schedule/choose-edges";

/** The edges that a router's answer takes; `isFallback`: no edge has the answer as its label. */
export function routeOf(
  graph: WorkflowGraph,
  nodeId: string,
  labels: readonly string[],
): { names: string[]; isFallback: boolean } {
  const node = graph.nodes[nodeId];
  const outgoing = graph.edges.filter(({ source_node_id }) => source_node_id === nodeId);
  const taken = node ? (chooseEdges(outgoing, node, labels) ?? []) : [];
  const nameOf = ({ edge_label, target_node_id }: WorkflowEdge) =>
    edge_label || graph.nodes[target_node_id]?.name || target_node_id;
  return {
    names: taken.map(nameOf),
    isFallback: !taken.some(({ edge_label }) => edge_label && labels.includes(edge_label)),
  };
}

/**
 * The most informative part: of a start node, the first input that is not empty; of any other node, the whole output.
 */
function mainOf(node: WorkflowNode | undefined, output: JsonObject): Json {
  if (!node || !getNodeKind(node.node_type).begins) return output;
  return node.output_keys.map((key) => output[key] ?? "").find((value) => oneLine(value) !== "") ?? output;
}

/**
 * What a node returned, in one line: the start of its output, or where a router or a person sent the run. A fallback
 * names the value that matched no edge.
 */
export function resultLine(
  graph: WorkflowGraph,
  nodeId: string,
  { labels = [], next, output }: { labels?: readonly string[]; next?: string; output?: JsonObject | null },
  max: number,
): string {
  if (next !== undefined) return `→ ${graph.nodes[next]?.name || next} (overridden)`.slice(0, max);
  if (labels.length === 0) return output ? oneLine(mainOf(graph.nodes[nodeId], output)).slice(0, max) : "";
  const { names, isFallback } = routeOf(graph, nodeId, labels);
  if (names.length === 0) return `→ ${labels.join(", ")}`.slice(0, max);
  const where = `→ ${names.join(", ")}`;
  return (isFallback ? `${where} (otherwise: ${formatList(labels)})` : where).slice(0, max);
}
