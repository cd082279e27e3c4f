import type { Users } from "@/server/domain/library/uses";
import type { AgentStore } from "./library/agents";
import type { CrewStore } from "./library/crews";
import type { WorkflowStore } from "./workflows";

/** Everything that may name a role, an agent or a crew. */
export const usersOf = (stores: {
  workflows: WorkflowStore;
  crews: CrewStore;
  agents: AgentStore;
}): Users => ({
  workflows: stores.workflows.list(),
  crews: stores.crews.list(),
  agents: stores.agents.list(),
});
