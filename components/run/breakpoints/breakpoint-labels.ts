import type { Breakpoint, BreakpointKind } from "@/server/domain/agent/breakpoint/breakpoint";
import type { WorkflowGraph } from "@/server/domain/graph/graph";

export const KIND_LABELS: Readonly<Record<BreakpointKind, { label: string; hint: string }>> = {
  node_start: { label: "Before a node", hint: "Pauses before the node starts" },
  node_end: { label: "After a node", hint: "Pauses after the node finishes" },
  llm_call: { label: "Model call", hint: "Pauses before a model call" },
  tool_call: { label: "Tool call", hint: "Pauses before a tool call" },
  handoff: { label: "Handoff", hint: "Pauses when an agent hands off to another" },
  error: { label: "Error", hint: "Pauses when a node fails" },
  state_write: { label: "State write", hint: "Pauses after a state key is written" },
  loop_iteration: { label: "Loop iteration", hint: "Pauses at each loop iteration" },
  edge: { label: "Connection", hint: "Pauses when the connection is taken" },
};

/** The place of a breakpoint: "Before Review". */
export function breakpointTitle(one: Breakpoint, graph: WorkflowGraph): string {
  const node = one.node_id === undefined ? undefined : nameOf(one.node_id, graph);
  return TITLES[one.on]({ one, graph, node, inNode: node === undefined ? "" : ` in ${node}` });
}

interface TitleParts {
  one: Breakpoint;
  graph: WorkflowGraph;
  node: string | undefined;
  inNode: string;
}

const TITLES: Readonly<Record<BreakpointKind, (parts: TitleParts) => string>> = {
  node_start: ({ node = "each node" }) => `Before ${node}`,
  node_end: ({ node = "each node" }) => `After ${node}`,
  llm_call: ({ inNode }) => `Before a model call${inNode}`,
  tool_call: ({ one: { tool = "any tool" }, inNode }) => `Before a call to ${tool}${inNode}`,
  handoff: ({ inNode }) => `At a handoff${inNode}`,
  error: ({ inNode }) => `At an error${inNode}`,
  state_write: ({ one: { key = "any key" }, node }) =>
    `When ${key} is written${node === undefined ? "" : ` by ${node}`}`,
  loop_iteration: ({ node }) =>
    node === undefined ? "At each loop iteration" : `At each iteration of the loop at ${node}`,
  edge: ({ one, graph }) => edgeTitle(one.edge_id, graph),
};

/** The condition and hit count of a breakpoint; empty if it always pauses. */
export function breakpointLimits({ condition, hit_count }: Breakpoint): string {
  const parts = [
    condition ? `if ${condition}` : "",
    hit_count !== undefined && hit_count > 1 ? `starting at hit ${hit_count}` : "",
  ];
  return parts.filter(Boolean).join(", ");
}

function edgeTitle(id: string | undefined, graph: WorkflowGraph): string {
  if (id === undefined) return "On any connection";
  const edge = graph.edges.find((known) => known.id === id);
  if (!edge) return "On a deleted connection";
  return `On the connection from ${nameOf(edge.source_node_id, graph)} to ${nameOf(edge.target_node_id, graph)}`;
}

const nameOf = (id: string, { nodes }: WorkflowGraph) =>
  nodes[id] ? nodes[id].name || id : "a deleted node";
