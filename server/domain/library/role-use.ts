import type { AgentConfig } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import type { CrewConfig } from "@/server/domain/crew/crew";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { isAgentNode, isCrewNode, type WorkflowNode } from "../nodes";

/** Which roles a graph names, and at which nodes. */
export function roleUses(graph: Pick<WorkflowGraph, "nodes">): Map<string, string[]> {
  const uses = new Map<string, string[]>();
  for (const node of Object.values(graph.nodes))
    for (const role of rolesOf(node)) {
      const at = uses.get(role);
      if (at) at.push(node.id);
      else uses.set(role, [node.id]);
    }
  return uses;
}

/** The roles that the members of a crew have. */
export const rolesOfCrew = ({ agents }: Pick<CrewConfig, "agents">): Set<string> =>
  new Set(agents.flatMap(({ role_name }) => role_name || []));

/** The graph with every mention of a role under its new name; the same object if there is none. */
export function withRoleRenamed(graph: WorkflowGraph, from: string, to: string): WorkflowGraph {
  const renamed = Object.entries(graph.nodes).map(([id, node]) => [id, renamedIn(node, from, to)] as const);
  const changed = renamed.some(([id, node]) => node !== graph.nodes[id]);
  return changed ? { ...graph, nodes: Object.fromEntries(renamed) } : graph;
}

/** The crew with the new name of a role, wherever it stands; the same object if it does not. */
export function crewWithRoleRenamed(crew: CrewConfig, from: string, to: string): CrewConfig {
  const agents = crew.agents.map((agent) => agentWithRoleRenamed(agent, from, to));
  return agents.some((agent, at) => agent !== crew.agents[at]) ? { ...crew, agents } : crew;
}

/** The agent with the new name of a role, as its own and as one that it may hand over to. */
export function agentWithRoleRenamed(agent: AgentConfig, from: string, to: string): AgentConfig {
  const { role_name, handoffs } = agent;
  if (role_name !== from && !handoffs?.includes(from)) return agent;
  return {
    ...agent,
    role_name: role_name === from ? to : role_name,
    ...defined({ handoffs: handoffs ? handoffs.map((name) => (name === from ? to : name)) : undefined }),
  };
}

function rolesOf(node: WorkflowNode): Set<string> {
  const named: (string | undefined)[] = [];
  if (isAgentNode(node)) {
    const { agent_ref, agent, required_role } = node.config;
    named.push(agent_ref ? agent?.role_name : required_role);
  }
  if (isCrewNode(node)) {
    const { crew, plan } = node.config;
    if (crew) named.push(...rolesOfCrew(crew));
    for (const task of plan?.tasks ?? []) named.push(task.required_role);
  }
  return new Set(named.filter((name): name is string => !!name));
}

function renamedIn(node: WorkflowNode, from: string, to: string): WorkflowNode {
  if (isAgentNode(node)) {
    const { required_role, agent: before } = node.config;
    const agent = before && agentWithRoleRenamed(before, from, to);
    if (required_role !== from && agent === before) return node;
    const role = required_role === from ? to : required_role;
    return { ...node, config: { ...node.config, required_role: role, ...defined({ agent }) } };
  }
  if (!isCrewNode(node)) return node;
  const { crew: before, plan } = node.config;
  const crew = before && crewWithRoleRenamed(before, from, to);
  const isPlanned = plan?.tasks.some(({ required_role }) => required_role === from) ?? false;
  if (crew === before && !isPlanned) return node;
  return {
    ...node,
    config: {
      ...node.config,
      ...defined({
        crew,
        plan:
          plan && isPlanned
            ? {
                ...plan,
                tasks: plan.tasks.map((task) =>
                  task.required_role === from ? { ...task, required_role: to } : task,
                ),
              }
            : undefined,
      }),
    },
  };
}
