import type { AgentConfig } from "@/server/domain/agent/role";
import type { CrewConfig } from "@/server/domain/crew/crew";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { agentsOfCrew, agentUses } from "./agent-use";
import { crewUses } from "./crew-use";
import { rolesOfCrew, roleUses } from "./role-use";

/** Something that names a role, an agent or a crew. */
export interface Use {
  kind: "workflow" | "crew" | "agent";
  id: string;
  name: string;
  /** Where in a workflow. */
  node_ids: string[];
}

/** Everything that may name a role, an agent or a crew. */
export interface Users {
  workflows: readonly { id: string; name: string; graph: Pick<WorkflowGraph, "nodes"> }[];
  crews: readonly { id: string; name: string; crew: CrewConfig }[];
  agents: readonly { id: string; name: string; agent: AgentConfig }[];
}

/** Who names which role. Whoever names a crew or an agent of the library does not name its roles. */
export function usesOfRoles({ workflows, crews, agents }: Users): Map<string, Use[]> {
  const uses: Uses = new Map();
  for (const { id, name, graph } of workflows)
    for (const [role, node_ids] of roleUses(graph))
      note(uses, role, { kind: "workflow", id, name, node_ids });
  for (const { id, name, crew } of crews)
    for (const role of rolesOfCrew(crew)) note(uses, role, { kind: "crew", id, name, node_ids: [] });
  for (const { id, name, agent } of agents)
    if (agent.role_name) note(uses, agent.role_name, { kind: "agent", id, name, node_ids: [] });
  return uses;
}

/** Who names which agent of the library. */
export function usesOfAgents({ workflows, crews }: Pick<Users, "workflows" | "crews">): Map<string, Use[]> {
  const uses: Uses = new Map();
  for (const { id, name, graph } of workflows)
    for (const [agent, node_ids] of agentUses(graph))
      note(uses, agent, { kind: "workflow", id, name, node_ids });
  for (const { id, name, crew } of crews)
    for (const agent of agentsOfCrew(crew)) note(uses, agent, { kind: "crew", id, name, node_ids: [] });
  return uses;
}

/** Who names which crew of the library. */
export function usesOfCrews({ workflows }: Pick<Users, "workflows">): Map<string, Use[]> {
  const uses: Uses = new Map();
  for (const { id, name, graph } of workflows)
    for (const [crew, node_ids] of crewUses(graph))
      note(uses, crew, { kind: "workflow", id, name, node_ids });
  return uses;
}

const PLURALS = { workflow: "workflows", crew: "crews", agent: "agents" } as const;

/** A count of uses as text: "2 workflows and 1 crew"; "" for none. */
export function countUses(uses: readonly Pick<Use, "kind">[]): string {
  const parts = (["workflow", "crew", "agent"] as const).flatMap((kind) => {
    const count = uses.filter((use) => use.kind === kind).length;
    return count === 0 ? [] : [`${count} ${count === 1 ? kind : PLURALS[kind]}`];
  });
  return parts.length < 2 ? (parts[0] ?? "") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

type Uses = Map<string, Use[]>;

function note(uses: Uses, key: string, use: Use): void {
  const known = uses.get(key);
  if (known) known.push(use);
  else uses.set(key, [use]);
}
