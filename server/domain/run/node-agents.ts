import type { WorkflowNode } from "@/server/domain/graph/graph";
import { modelUses } from "@/server/domain/library/model-uses";
import { isCrewNode, settingsOf } from "@/server/domain/nodes";

/** As which agent a router that asks a model works. */
const ROUTER_AGENT = "router";

/** The agents that may ask a model in a node, by their ids; none where it asks none. */
export function agentsOfNode(node: WorkflowNode): string[] {
  if (isCrewNode(node)) return (node.config.crew?.agents ?? []).map(({ agent_id }) => agent_id);
  if (modelUses({ nodes: { [node.id]: node } }).length === 0) return [];
  const { agent_id, agent, required_role } = settingsOf(node);
  return [agent_id ?? agent?.agent_id ?? required_role ?? ROUTER_AGENT];
}
