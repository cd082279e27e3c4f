import { getNodeKind, isExecutable } from "../nodes";
import { withInnerBodies } from "./bodies";
import { WorkflowGraph } from "./graph";
import { keysRead } from "./keys/keys-read";
import { stateProperties } from "./keys/state-properties";
import { isStartNode } from "./run-input";

/** Why a node can't be run by itself, as a message; null if it can. */
export function singleNodeError(graph: WorkflowGraph, nodeId: string): string | null {
  const node = graph.nodes[nodeId];
  if (!node) return "This node isn't in the workflow.";
  if (!isExecutable(node)) return "Notes can't run.";
  if (isStartNode(node)) return "A start node can't run alone. Run the workflow instead.";
  if (getNodeKind(node.node_type).ends) return "An end node can't run alone. Run the workflow instead.";
  return null;
}

/**
 * A workflow with a single node of another one: it starts with the node's inputs, and each of its routes ends.
 * What it runs as its body comes along. Conditions of routes are left out, since nothing follows. Null if `singleNodeError` gives a reason.
 */
export function graphOfNode(graph: WorkflowGraph, nodeId: string): WorkflowGraph | null {
  const node = graph.nodes[nodeId];
  if (!node || singleNodeError(graph, nodeId) !== null) return null;
  const start = `before_${nodeId}`;
  const end = `after_${nodeId}`;
  const { required, optional } = keysRead(node);
  const outgoingEdges = graph.edges.filter(({ source_node_id }) => source_node_id === nodeId);
  const outward = outgoingEdges.map(({ id, kind, edge_label, is_default }) => ({
    id,
    kind,
    edge_label,
    is_default,
    source_node_id: nodeId,
    target_node_id: end,
  }));
  const plain = { id: "only_out", source_node_id: nodeId, target_node_id: end };
  const needsPlain =
    !getNodeKind(node.node_type).routes && !outgoingEdges.some(({ kind }) => kind === "normal");
  const inside = withInnerBodies(graph, [nodeId]);
  inside.delete(nodeId);
  const isInside = (id: string) => inside.has(id);
  return WorkflowGraph.parse({
    ...graph,
    start_node_id: start,
    groups: (graph.groups ?? []).filter(({ node_ids }) => node_ids.some(isInside)),
    nodes: {
      [start]: {
        id: start,
        node_type: "start",
        name: "Start",
        output_keys: [...required, ...optional],
        config: { input_schema: inputSchemaOf(graph, required, optional) },
      },
      // It waits for one way only, whatever it joined.
      [nodeId]: { ...node, join: "all" },
      ...Object.fromEntries(Object.entries(graph.nodes).filter(([id]) => isInside(id))),
      [end]: { id: end, node_type: "end", name: "End", config: {} },
    },
    edges: [
      { id: "only_in", source_node_id: start, target_node_id: nodeId },
      ...outward,
      ...graph.edges.filter(
        ({ source_node_id, target_node_id }) => isInside(source_node_id) && isInside(target_node_id),
      ),
      ...(needsPlain ? [plain] : []),
    ],
  });
}

/** Asks for these keys, each by its schema in the workflow. */
export function inputSchemaOf(graph: WorkflowGraph, required: string[], optional: string[]) {
  const known = stateProperties(graph);
  return {
    type: "object",
    required,
    properties: Object.fromEntries([...required, ...optional].map((key) => [key, known[key] ?? {}])),
  };
}
