import type { Breakpoint, BreakpointKind } from "@/server/domain/agent/breakpoint/breakpoint";
import type { WorkflowGraph } from "@/server/domain/graph/graph";

/** What a breakpoint may be set on, as the list of kinds has it. */
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

/** Where it holds, in words: "Before Review". */
export function breakpointTitle(one: Breakpoint, graph: WorkflowGraph): string {
  const node = one.node_id === undefined ? undefined : nameOf(one.node_id, graph);
  const inNode = node === undefined ? "" : ` in ${node}`;
  switch (one.on) {
    case "node_start":
      return `Before ${node ?? "each node"}`;
    case "node_end":
      return `After ${node ?? "each node"}`;
    case "llm_call":
      return `Before a model call${inNode}`;
    case "tool_call":
      return `Before a call of ${one.tool ?? "any tool"}${inNode}`;
    case "handoff":
      return `At a handoff${inNode}`;
    case "error":
      return `At an error${inNode}`;
    case "state_write":
      return `When ${one.key ?? "any key"} is written${node === undefined ? "" : ` by ${node}`}`;
    case "loop_iteration":
      return node === undefined ? "At each turn of a loop" : `At each turn of the loop at ${node}`;
    case "edge":
      return edgeTitle(one.edge_id, graph);
  }
}

/** What it waits for beside its place; empty where it always holds. */
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
