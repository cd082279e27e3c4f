import type { Breakpoint, BreakpointKind } from "@/server/domain/agent/breakpoint/breakpoint";
import type { WorkflowGraph } from "@/server/domain/graph/graph";

export const KIND_LABELS: Readonly<Record<BreakpointKind, { label: string; hint: string }>> = {
  node_start: { label: "Before a node", hint: "Holds just before it begins" },
  node_end: { label: "After a node", hint: "Holds once it has ended" },
  llm_call: { label: "Model call", hint: "Holds before a model is asked" },
  tool_call: { label: "Tool call", hint: "Holds before a tool is called" },
  handoff: { label: "Handoff", hint: "Holds where an agent hands over to another" },
  error: { label: "Error", hint: "Holds where a node fails" },
  state_write: { label: "Write to a key", hint: "Holds once a key of the state was written" },
  loop_iteration: { label: "Turn of a loop", hint: "Holds where a loop begins another turn" },
  edge: { label: "Connection", hint: "Holds where a connection is taken" },
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
  tool_call: ({ one: { tool = "any tool" }, inNode }) => `Before a call of ${tool}${inNode}`,
  handoff: ({ inNode }) => `At a handoff${inNode}`,
  error: ({ inNode }) => `At an error${inNode}`,
  state_write: ({ one: { key = "any key" }, node }) =>
    `When ${key} is written${node === undefined ? "" : ` by ${node}`}`,
  loop_iteration: ({ node }) =>
    node === undefined ? "At each turn of a loop" : `At each turn of the loop at ${node}`,
  edge: ({ one, graph }) => edgeTitle(one.edge_id, graph),
};

/** The condition and hit count of a breakpoint; empty if it always pauses. */
export function breakpointLimits({ condition, hit_count }: Breakpoint): string {
  const parts = [
    condition ? `if ${condition}` : "",
    hit_count !== undefined && hit_count > 1 ? `from time ${hit_count} on` : "",
  ];
  return parts.filter(Boolean).join(", ");
}

function edgeTitle(id: string | undefined, graph: WorkflowGraph): string {
  if (id === undefined) return "On any connection";
  const edge = graph.edges.find((known) => known.id === id);
  if (!edge) return "On a connection that is gone";
  return `On the way from ${nameOf(edge.source_node_id, graph)} to ${nameOf(edge.target_node_id, graph)}`;
}

const nameOf = (id: string, { nodes }: WorkflowGraph) =>
  nodes[id] ? nodes[id].name || id : "a node that is gone";
