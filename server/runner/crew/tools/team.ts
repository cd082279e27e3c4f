import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import { present } from "@/server/domain/base/must";
import type { TaskStatus } from "@/server/domain/crew/plan";
import { isSince } from "@/server/domain/run/edition";
import type { Payloads } from "@/server/domain/run/events";
import type { Caller, RunTool, RunToolResult } from "../../agent/task";
import { defineRunTool, done, rejected } from "../../agent/tools/run-tool";
import type { Crew } from "../crew";

/** Statuses of tasks that have not started. */
const OPEN: ReadonlySet<TaskStatus> = new Set(["pending", "awaiting_human"]);
const names = z.array(z.string()).max(32);

/** Teams inside a crew that agents form on the way: a name that stands for several of them. */
export function teamTools(crew: Crew): RunTool[] {
  const change = (
    caller: Caller,
    { purpose, ...changed }: Omit<Payloads["team_changed"], "by">,
  ): RunToolResult => {
    const by = caller.task.agent_id;
    crew.run.emit({
      type: "team_changed",
      agent_id: by,
      payload: { ...changed, by, ...defined({ purpose: purpose || undefined }) },
    });
    return done({ team: changed.team, agents: changed.agents });
  };
  /** Their ids, or what is wrong. */
  const resolve = (agents: readonly string[]): string[] | RunToolResult => {
    const unknown = agents.filter((name) => !crew.member(name));
    if (unknown.length > 0) {
      const known = crew.config.agents.map(({ agent_id }) => agent_id).join(", ");
      return rejected(404, `Unknown agent: ${unknown.join(", ")}. The crew has: ${known}.`);
    }
    return [...new Set(agents.map((name) => present(crew.member(name), "crew.member(name)").agent_id))];
  };
  const unknownTeam = (team: string) => rejected(404, `There is no team "${team}".`);

  return [
    defineRunTool({
      name: "create_team",
      description: "Form a team of coworkers for a purpose.",
      input: z.object({
        team_name: z.string().min(1).max(80),
        agents: names.min(1),
        purpose: z.string().max(2000),
      }),
      *call({ team_name, agents, purpose }, caller) {
        if (crew.view.teams[team_name]) return rejected(409, `There is already a team "${team_name}".`);
        const ids = resolve(agents);
        return Array.isArray(ids)
          ? change(caller, { team: team_name, action: "created", agents: ids, purpose })
          : ids;
      },
    }),
    defineRunTool({
      name: "modify_team",
      description: "Add agents to a team, or remove some.",
      input: z.object({
        team_name: z.string(),
        add_agents: names.default([]),
        remove_agents: names.default([]),
      }),
      *call({ team_name, add_agents, remove_agents }, caller) {
        const team = crew.view.teams[team_name];
        if (!team) return unknownTeam(team_name);
        const [added, removed] = [resolve(add_agents), resolve(remove_agents)];
        if (!Array.isArray(added)) return added;
        if (!Array.isArray(removed)) return removed;
        const agents = [...new Set([...team.agents, ...added])].filter((id) => !removed.includes(id));
        if (agents.length === 0)
          return rejected(400, "A team needs at least one agent; dissolve it instead.");
        return change(caller, { team: team_name, action: "modified", agents });
      },
    }),
    defineRunTool({
      name: "dissolve_team",
      description: "Dissolve a team; its agents stay in the crew.",
      input: z.object({ team_name: z.string(), reason: z.string().max(2000) }),
      *call({ team_name, reason }, caller) {
        const team = crew.view.teams[team_name];
        if (!team) return unknownTeam(team_name);
        const waiting = (crew.plan?.tasks ?? []).filter(
          ({ assigned_agent, status }) => assigned_agent === team_name && OPEN.has(status),
        );
        if (waiting.length > 0 && isSince(crew.run.s.run, 3)) {
          const ids = waiting.map(({ task_id }) => task_id).join(", ");
          return rejected(
            409,
            `Tasks of "${team_name}" are not done: ${ids}. Assign them to other agents first.`,
          );
        }
        return change(caller, {
          team: team_name,
          action: "dissolved",
          agents: [...team.agents],
          purpose: reason,
        });
      },
    }),
  ];
}
