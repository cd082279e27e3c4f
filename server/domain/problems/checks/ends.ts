import { must } from "@/server/domain/base/must";
import { bodyNodes } from "@/server/domain/graph/bodies";
import { getNodeKind, isExecutable } from "@/server/domain/nodes";
import type { Check } from "../check";
import { named, nameOf } from "../names";

/** Where a run begins and ends, and what it never reaches. */
export function checkEnds(check: Check): void {
  checkStart(check);
  if (check.analysis.start === null) return;
  checkEnd(check);
  checkReachable(check);
}

const WORKFLOW = { kind: "workflow" as const };

function checkStart({ graph, analysis, report }: Check): void {
  const starts = Object.values(graph.nodes).filter((node) => getNodeKind(node.node_type).begins);
  const startId = graph.start_node_id;
  if (startId && !graph.nodes[startId]) {
    const only = starts[0];
    report.error(
      "E_NO_START",
      { ...WORKFLOW, field: "start_node_id" },
      `This workflow starts at "${startId}", which doesn't exist. Choose a start node.`,
      only
        ? { kind: "set_start", node_id: only.id, label: `Start at ${nameOf(only)}` }
        : { kind: "add_start", label: "Add start node" },
    );
  } else if (!startId && starts.length === 0)
    report.error("E_NO_START", WORKFLOW, "Add a start node, where runs begin.", {
      kind: "add_start",
      label: "Add start node",
    });
  const begins = analysis.start ?? starts[0]?.id;
  for (const node of starts)
    if (node.id !== begins)
      report.error(
        "E_MANY_STARTS",
        { kind: "node", id: node.id },
        `A run starts only at ${named(graph, begins ?? "")}. Remove ${nameOf(node)}, and connect the nodes that follow it.`,
        { kind: "remove_node", node_id: node.id, label: "Remove start node" },
      );
}

function checkEnd({ graph, analysis, report }: Check): void {
  const nodes = Object.values(graph.nodes);
  const isEnd = (id: string) => getNodeKind(must(graph.nodes, id).node_type).ends !== undefined;
  const [first, ...others] = nodes.filter(isExecutable);
  if (analysis.order.some(isEnd)) return;
  const hasEnd = nodes.some((node) => isEnd(node.id));
  report.warning(
    "W_NO_END",
    WORKFLOW,
    first && others.length === 0
      ? `${nameOf(first)} leads nowhere. Add the first step.`
      : hasEnd
        ? "No path leads from the start to an end node, so runs stay incomplete. Connect one."
        : "Add an end node. Without one, runs stay incomplete.",
    others.length === 0 || hasEnd ? undefined : { kind: "add_end", label: "Add end node" },
  );
}

function checkReachable({ graph, analysis, report, outgoing }: Check): void {
  const bodies = bodyNodes(graph);
  for (const node of Object.values(graph.nodes)) {
    const kind = getNodeKind(node.node_type);
    if (kind.executes === false || kind.begins || analysis.position.has(node.id) || bodies.has(node.id))
      continue;
    const isLoose = !graph.edges.some((edge) => edge.target_node_id === node.id);
    report.warning(
      "W_UNREACHABLE",
      { kind: "node", id: node.id },
      isLoose
        ? `${nameOf(node)} has no incoming connection, so it never runs. Connect or remove it.`
        : `${nameOf(node)} can't be reached from the start, so it never runs. Connect its upstream nodes.`,
      isLoose && !outgoing.has(node.id)
        ? { kind: "remove_node", node_id: node.id, label: "Remove node" }
        : undefined,
    );
  }
}
