import type { CrewConfig } from "./crew";
import type { WorkflowGraph } from "./graph";

/** Which crews of the library a graph names, and at which nodes. */
export function crewUses(graph: Pick<WorkflowGraph, "nodes">): Map<string, string[]> {
  const uses = new Map<string, string[]>();
  for (const node of Object.values(graph.nodes)) {
    const id = node.node_type === "crew_task" ? node.config.crew_id_or_config_ref : undefined;
    if (!id) continue;
    const at = uses.get(id);
    if (at) at.push(node.id);
    else uses.set(id, [node.id]);
  }
  return uses;
}

/**
 * The graph with a copy of every crew that it names, as a run and a file need it: a run must not change when the
 * library does. A name that the library does not know keeps the copy that came with it, if there is one. The same
 * object where nothing is named.
 */
export function withCrews(graph: WorkflowGraph, find: (id: string) => CrewConfig | undefined): WorkflowGraph {
  if (crewUses(graph).size === 0) return graph;
  const nodes = Object.entries(graph.nodes).map(([id, node]) => {
    const crew =
      node.node_type === "crew_task" && node.config.crew_id_or_config_ref
        ? find(node.config.crew_id_or_config_ref)
        : undefined;
    return [
      id,
      crew && node.node_type === "crew_task" ? { ...node, config: { ...node.config, crew } } : node,
    ] as const;
  });
  return { ...graph, nodes: Object.fromEntries(nodes) };
}
