import type { WorkflowGraph } from "./graph";
import type { WorkflowNode } from "./nodes";

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

/** The graph with every mention of a role under its new name; the same object if there is none. */
export function withRoleRenamed(graph: WorkflowGraph, from: string, to: string): WorkflowGraph {
  const renamed = Object.entries(graph.nodes).map(([id, node]) => [id, renamedIn(node, from, to)] as const);
  const changed = renamed.some(([id, node]) => node !== graph.nodes[id]);
  return changed ? { ...graph, nodes: Object.fromEntries(renamed) } : graph;
}

function rolesOf(node: WorkflowNode): Set<string> {
  const named: (string | undefined)[] = [];
  if (node.node_type === "agent_task") named.push(node.config.required_role);
  if (node.node_type === "crew_task") {
    for (const agent of node.config.crew?.agents ?? []) named.push(agent.role_name);
    for (const task of node.config.plan?.tasks ?? []) named.push(task.required_role);
  }
  return new Set(named.filter((name): name is string => !!name));
}

function renamedIn(node: WorkflowNode, from: string, to: string): WorkflowNode {
  if (!rolesOf(node).has(from)) return node;
  if (node.node_type === "agent_task") return { ...node, config: { ...node.config, required_role: to } };
  if (node.node_type !== "crew_task") return node;
  const { crew, plan } = node.config;
  return {
    ...node,
    config: {
      ...node.config,
      ...(crew && {
        crew: {
          ...crew,
          agents: crew.agents.map((agent) =>
            agent.role_name === from ? { ...agent, role_name: to } : agent,
          ),
        },
      }),
      ...(plan && {
        plan: {
          ...plan,
          tasks: plan.tasks.map((task) =>
            task.required_role === from ? { ...task, required_role: to } : task,
          ),
        },
      }),
    },
  };
}
