import type { AgentConfig } from "@/server/domain/agent/role";
import type { CrewConfig } from "./crew";
import { leaderOf } from "./leader";

/** A member that a person changed during the run. `tools`: only these of its role's tools. */
export interface ChangedMember {
  agent: AgentConfig;
  tools?: readonly string[];
}

/** What people changed of a crew's members on the way, by agent; null: taken out. */
export type TeamChanges = Readonly<Record<string, ChangedMember | null>>;

/** A crew with its members as they are by now. Who leads it stays who led it. */
export function teamNow(crew: CrewConfig, changes: TeamChanges | undefined): CrewConfig {
  if (!changes) return crew;
  const drawn = new Set(crew.agents.map(({ agent_id }) => agent_id));
  const agents = [
    ...crew.agents.flatMap((agent) => {
      const change = changes[agent.agent_id];
      return change === null ? [] : [change?.agent ?? agent];
    }),
    ...Object.entries(changes).flatMap(([id, change]) => (change && !drawn.has(id) ? [change.agent] : [])),
  ];
  return { ...crew, agents, ...managerNow(crew, agents, changes) };
}

function managerNow(
  crew: CrewConfig,
  agents: readonly AgentConfig[],
  changes: TeamChanges,
): Pick<CrewConfig, "manager"> {
  const { agent_id } = leaderOf(crew);
  const own = changes[agent_id]?.agent.llm_config;
  // The model that the crew names for its manager gives way to the one that a person chose for it since.
  const before = crew.agents.find((agent) => agent.agent_id === agent_id)?.llm_config;
  const isChosen = own !== undefined && JSON.stringify(own) !== JSON.stringify(before);
  if (isChosen && crew.manager?.llm_config) return { manager: { agent_id } };
  const [first] = agents;
  if (!first || leaderOf({ ...crew, agents: [...agents] }).agent_id === agent_id) return {};
  return agents.some((agent) => agent.agent_id === agent_id)
    ? { manager: { ...crew.manager, agent_id } }
    : {};
}
