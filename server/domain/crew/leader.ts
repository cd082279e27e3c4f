import type { AgentConfig } from "@/server/domain/agent/role";
import { must } from "@/server/domain/base/must";
import type { CrewConfig } from "./crew";

/** The agent that leads its crew and writes its plans: the named manager, else a role that sounds like one, else the first. */
export function leaderOf(crew: Pick<CrewConfig, "agents" | "manager">): AgentConfig {
  return (
    crew.agents.find(({ agent_id }) => agent_id === crew.manager?.agent_id) ??
    crew.agents.find(({ role_name }) => /plan|manage|lead/i.test(role_name)) ??
    must(crew.agents, 0)
  );
}

/** Whether a crew needs its leader from start to end. */
export const isLed = ({ process, planning, on_task_failure, manager }: CrewConfig): boolean =>
  process === "hierarchical" ||
  process === "consensus" ||
  ((process === "sequential" || process === "parallel") &&
    (planning || on_task_failure === "replan" || manager?.agent_id !== undefined));
