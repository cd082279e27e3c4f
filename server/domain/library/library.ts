import type { AgentConfig } from "@/server/domain/agent/role";
import type { CrewConfig } from "@/server/domain/crew/crew";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { isAgentNode, isCrewNode, type WorkflowNode } from "../nodes";
import { agentsOfCrew, asMember } from "./agent-use";

/** What workflows may name instead of saying it themselves. */
export interface Library {
  crew(id: string): CrewConfig | undefined;
  agent(id: string): AgentConfig | undefined;
}

export const EMPTY_LIBRARY: Library = { crew: () => undefined, agent: () => undefined };

/**
 * The graph with a copy of every crew and agent that it names, as a run and a file need it: a run must not change
 * when the library does. A name that the library does not know keeps the copy that came with it, if there is one.
 * The same object where nothing is named.
 */
export function withLibrary(graph: WorkflowGraph, library: Library): WorkflowGraph {
  const nodes = Object.entries(graph.nodes).map(([id, node]) => [id, nodeWith(node, library)] as const);
  const isChanged = nodes.some(([id, node]) => node !== graph.nodes[id]);
  return isChanged ? { ...graph, nodes: Object.fromEntries(nodes) } : graph;
}

/** The crew with the current settings of its library agents; the same object if it has none. */
export function crewWith(crew: CrewConfig, library: Pick<Library, "agent">): CrewConfig {
  if (agentsOfCrew(crew).size === 0) return crew;
  const agents = crew.agents.map((member) => {
    const agent = member.agent_ref === undefined ? undefined : library.agent(member.agent_ref);
    return agent ? asMember(member, agent) : member;
  });
  return { ...crew, agents };
}

function nodeWith(node: WorkflowNode, library: Library): WorkflowNode {
  if (isAgentNode(node)) {
    const { agent_ref } = node.config;
    const agent = agent_ref === undefined ? undefined : (library.agent(agent_ref) ?? node.config.agent);
    if (!agent || (agent === node.config.agent && agent.role_name === node.config.required_role)) return node;
    return { ...node, config: { ...node.config, agent, required_role: agent.role_name } };
  }
  if (!isCrewNode(node)) return node;
  const { crew_id_or_config_ref: ref } = node.config;
  const crew = (ref ? library.crew(ref) : undefined) ?? node.config.crew;
  const whole = crew && crewWith(crew, library);
  return whole && whole !== node.config.crew ? { ...node, config: { ...node.config, crew: whole } } : node;
}
