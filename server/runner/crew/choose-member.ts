import type { RunError } from "@/server/domain/agent/outcome";
import type { AgentConfig } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { fitness } from "@/server/domain/crew/best-fit";
import { whoIsChosen } from "@/server/domain/crew/past-work";
import type { Task } from "@/server/domain/crew/plan";
import type { Crew } from "./crew";

export interface ChosenMember {
  agent: AgentConfig;
  /** The reason for the choice, as the end of a sentence; absent if the task names a member. */
  why?: string;
}

/** How many tasks an agent is working on, and how many it has been given so far. */
interface Load {
  activeTasks(agent_id: string): number;
  given(agent_id: string): number;
}

/**
 * Chooses the member for a task: the named agent, or the least busy of the named team or role. Without a name: the
 * member whose role description, responsibilities and tools fit best, then the one with fewer failures in this and
 * earlier runs, then the one that needs fewer tokens.
 */
export function chooseMember(crew: Crew, task: Task, load: Load): ChosenMember | undefined {
  const { agents } = crew.config;
  const wanted = task.assigned_agent ?? undefined;
  const named = wanted === undefined ? undefined : agents.find(({ agent_id }) => agent_id === wanted);
  if (named) return { agent: named };
  const team = wanted === undefined ? undefined : crew.view.teams[wanted]?.agents;
  const role = task.required_role ?? wanted;
  if (team === undefined && role === undefined) return bestOf(crew, task, load);
  const agent = agents
    .filter(({ agent_id, role_name }) => (team ? team.includes(agent_id) : role_name === role))
    .toSorted(
      ({ agent_id: a }, { agent_id: b }) =>
        load.activeTasks(a) - load.activeTasks(b) || load.given(a) - load.given(b),
    )[0];
  return agent && { agent };
}

function bestOf(crew: Crew, task: Task, load: Load): ChosenMember | undefined {
  const { agents } = crew.config;
  const chosen = whoIsChosen(
    agents.map(({ agent_id, role_name }) => {
      const skills = crew.run.findRole(role_name);
      return {
        agent_id,
        fits: skills ? fitness(task.description, skills) : 0,
        failed: crew.countFailed(agent_id),
        at_work: load.activeTasks(agent_id),
        given: load.given(agent_id),
        tokens: crew.tokensPerTask(agent_id),
        past: crew.pastOf(agent_id),
      };
    }),
  );
  const agent = agents.find(({ agent_id }) => agent_id === chosen?.agent_id);
  return agent && { agent, ...defined({ why: chosen?.why === undefined ? undefined : chosen.why }) };
}

/** The error for a task that no member of the crew can do. */
export function unroutable(task: Task, agents: readonly AgentConfig[]): RunError {
  const roles = [...new Set(agents.map(({ role_name }) => role_name))].join(", ");
  const wanted = task.required_role ?? task.assigned_agent;
  return {
    code: "CONFIG",
    message: wanted
      ? `Task "${task.task_id}" needs ${wanted}, but the crew has no such agent. The crew has: ${roles}.`
      : `Task "${task.task_id}" doesn't name a role, and none of the crew's roles matches its description. The crew has: ${roles}.`,
    retryable: false,
    user_action: "edit_graph",
  };
}
