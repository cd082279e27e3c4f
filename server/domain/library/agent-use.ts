import type { AgentConfig } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import type { CrewConfig } from "@/server/domain/crew/crew";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { isAgentNode, isCrewNode, type WorkflowNode } from "../nodes";

/** Which agents of the library the members of a crew are. */
export const agentsOfCrew = ({ agents }: Pick<CrewConfig, "agents">): Set<string> =>
  new Set(agents.flatMap(({ agent_ref }) => agent_ref ?? []));

/** Which agents of the library a graph names, and at which nodes. */
export function agentUses(graph: Pick<WorkflowGraph, "nodes">): Map<string, string[]> {
  const uses = new Map<string, string[]>();
  for (const node of Object.values(graph.nodes))
    for (const agent of agentsOf(node)) {
      const at = uses.get(agent);
      if (at) at.push(node.id);
      else uses.set(agent, [node.id]);
    }
  return uses;
}

function agentsOf(node: WorkflowNode): Set<string> {
  if (isAgentNode(node)) return new Set(node.config.agent_ref ? [node.config.agent_ref] : []);
  return isCrewNode(node) && node.config.crew ? agentsOfCrew(node.config.crew) : new Set();
}

/**
 * An agent of the library as a member of a crew: all settings are the library's, but others in the crew know it by
 * the member's id, and where the library leaves open whom it may hand over to, the crew may say.
 */
export function asMember(member: AgentConfig, agent: AgentConfig): AgentConfig {
  const { agent_id, agent_ref, handoffs } = member;
  return {
    ...agent,
    agent_id,
    ...defined({ agent_ref, handoffs: handoffs && !agent.handoffs ? handoffs : undefined }),
  };
}
