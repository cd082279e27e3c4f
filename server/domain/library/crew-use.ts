import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { isCrewNode } from "@/server/domain/nodes";

/** Which crews of the library a graph names, and at which nodes. */
export function crewUses(graph: Pick<WorkflowGraph, "nodes">): Map<string, string[]> {
  const uses = new Map<string, string[]>();
  for (const node of Object.values(graph.nodes)) {
    const id = isCrewNode(node) ? node.config.crew_id_or_config_ref : undefined;
    if (!id) continue;
    const at = uses.get(id);
    if (at) at.push(node.id);
    else uses.set(id, [node.id]);
  }
  return uses;
}
