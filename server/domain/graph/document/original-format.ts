import { defined } from "@/server/domain/base/defined";
import { recordOf } from "@/server/domain/base/guards";
import { canonicalJson } from "@/server/domain/base/json";
import { type Finding, Findings, type Raw } from "@/server/domain/base/lenient-reader";
import { getNodeKind, isRouterNode } from "@/server/domain/nodes";
import { isDefaultLabel } from "@/server/domain/nodes/conditional-router";
import { analyse } from "../analysis";
import type { WorkflowEdge, WorkflowGraph } from "../graph";
import { orderedNodes, writeGraph } from "./graph-writer";

const ORIGINAL_TYPES = new Map([
  ["start", "start_node"],
  ["end", "end_node"],
  ["agent_task", "agent_task"],
  ["crew_task", "crew_task"],
  ["conditional_router", "conditional_router_node"],
]);

const ORIGINAL_NODE_FIELDS = new Set(["id", "node_type", "name", "config", "input_keys", "output_keys"]);

/** Fields of the graph that the reference documents don't have, with what to say about them. */
const LOST_FIELDS: readonly [field: string, message: string][] = [
  ["groups", "Groups aren't part of this format."],
  ["version", "Version numbers aren't part of this format."],
  ["config", "Run limits and settings aren't part of this format."],
  ["project_context", "Project context isn't part of this format."],
  ["dismissed_advice", "Dismissed advice isn't part of this format."],
];

/** The graph in the format of the reference documents, and what that leaves out. */
export function toOriginal(graph: WorkflowGraph): { graph: Raw; losses: Finding[] } {
  const findings = new Findings();
  const full = writeGraph(graph);
  const nodes: Raw = {};
  const removed = new Set<string>();
  for (const node of orderedNodes(graph)) {
    const at = `nodes.${node.id}`;
    const type = ORIGINAL_TYPES.get(node.node_type);
    if (!type) {
      removed.add(node.id);
      findings.dropped(at, lostNode(node));
      continue;
    }
    const written = recordOf(recordOf(full.nodes)[node.id]);
    const { config, input_keys, output_keys } = written;
    nodes[node.id] = defined({
      id: node.id,
      node_type: type,
      name: node.name,
      config,
      input_keys,
      output_keys,
    });
    for (const key of Object.keys(written))
      if (!ORIGINAL_NODE_FIELDS.has(key) && key !== "ui")
        findings.dropped(`${at}.${key}`, `"${key}" isn't part of this format.`);
    const asks = recordOf(config);
    if (isRouterNode(node) && asks.router_function_name === undefined)
      findings.changed(
        `${at}.config`,
        `"${node.name || node.id}" routes by its settings; the original format requires a registered function (router_function_name).`,
      );
  }
  if (Object.values(graph.nodes).some(({ ui: place }) => place))
    findings.dropped("nodes", "Positions on the canvas aren't part of this format.");
  for (const [field, message] of LOST_FIELDS) if (full[field] !== undefined) findings.dropped(field, message);
  const edges = originalEdges(graph, removed, findings);
  const { graph_id, description, start_node_id, global_state_schema } = full;
  const isKept = (id: unknown): id is string => typeof id === "string" && !removed.has(id);
  const start = isKept(start_node_id) ? start_node_id : analyse(graph).start;
  return {
    graph: {
      ...defined({ graph_id, description, start_node_id: isKept(start) ? start : undefined }),
      nodes,
      edges,
      ...defined({ global_state_schema }),
    },
    losses: findings.all(),
  };
}

function lostNode({ id, name, node_type }: WorkflowGraph["nodes"][string]): string {
  const { title, executes } = getNodeKind(node_type);
  return executes === false
    ? `${title}s aren't part of this format.`
    : `"${name || id}" (${title}) isn't part of this format. Its connections now bypass it.`;
}

function originalEdges(graph: WorkflowGraph, removed: ReadonlySet<string>, findings: Findings): Raw[] {
  const outgoing = new Map<string, WorkflowEdge[]>();
  for (const edge of graph.edges)
    outgoing.set(edge.source_node_id, [...(outgoing.get(edge.source_node_id) ?? []), edge]);
  /** Where an edge leads without the removed nodes. */
  const targets = (id: string, seen: ReadonlySet<string> = new Set()): string[] => {
    if (!removed.has(id)) return [id];
    if (seen.has(id)) return [];
    return (outgoing.get(id) ?? []).flatMap((edge) => targets(edge.target_node_id, new Set(seen).add(id)));
  };
  const written: Raw[] = [];
  for (const edge of graph.edges) {
    const at = `edges.${edge.id}`;
    if (removed.has(edge.source_node_id)) continue;
    if (edge.kind === "error") {
      findings.dropped(at, "Error connections aren't part of this format.");
      continue;
    }
    if (edge.condition !== undefined)
      findings.dropped(
        `${at}.condition`,
        "Connection conditions aren't part of this format, so this connection is always used there.",
      );
    const label = originalLabel(graph, edge, findings);
    for (const target of targets(edge.target_node_id))
      written.push(
        defined({
          source_node_id: edge.source_node_id,
          target_node_id: target,
          condition_name: edge.condition_name ?? undefined,
          edge_label: label,
        }),
      );
  }
  const seen = new Set<string>();
  return written.filter((edge) => {
    const text = canonicalJson(edge);
    return seen.has(text) ? false : seen.add(text);
  });
}

/** The label of an edge; a default edge of a router needs one. */
function originalLabel(graph: WorkflowGraph, edge: WorkflowEdge, findings: Findings): string | undefined {
  const at = `edges.${edge.id}`;
  const label = edge.edge_label || undefined;
  if (!edge.is_default) return label;
  if (label) {
    if (!isDefaultLabel(label))
      findings.dropped(
        `${at}.is_default`,
        "Default routes aren't part of this format; the router function must return this label.",
      );
    return label;
  }
  const source = graph.nodes[edge.source_node_id];
  if (!source || !getNodeKind(source.node_type).routes) return undefined;
  findings.changed(at, 'Added the label "default" to the default route.');
  return "default";
}
