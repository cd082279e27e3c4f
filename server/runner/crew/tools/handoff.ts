import { z } from "zod";
import type { AgentConfig } from "@/server/domain/agent/role";
import { findStuck } from "@/server/domain/agent/stuck";
import { defined } from "@/server/domain/base/defined";
import { must } from "@/server/domain/base/must";
import { Json } from "@/server/domain/base/values";
import { leaderOf } from "@/server/domain/crew/leader";
import { NodeFailure } from "@/server/domain/nodes";
import { isSince } from "@/server/domain/run/edition";
import { Children } from "@/server/runner/node/flow";
import type { RunTool, RunToolResult } from "../../agent/task";
import { defineRunTool, done, rejected } from "../../agent/tools/run-tool";
import type { Crew } from "../crew";
import { delegate, waitsFor } from "./delegation";

/** The ids of the agents that an agent may hand off to; its own list may also name roles. */
export function destinationsOf(crew: Crew, { agent_id: self, handoffs }: AgentConfig): string[] {
  // A manager gets every answer anyway.
  const manager = crew.config.process === "hierarchical" ? leaderOf(crew.config).agent_id : undefined;
  return crew.config.agents.flatMap(({ agent_id, role_name }) =>
    agent_id !== self &&
    agent_id !== manager &&
    (!handoffs || handoffs.includes(agent_id) || handoffs.includes(role_name))
      ? [agent_id]
      : [],
  );
}

/** Hands the task off to another agent, or parts of it to several at once for their results. */
export const handoffTools = (crew: Crew, agent: AgentConfig): [handoff: RunTool, parallel: RunTool] => [
  handoffTool(crew, agent),
  parallelTool(crew),
];

function handoffTool(crew: Crew, agent: AgentConfig): RunTool {
  // Lists the initial members; agents that joined later are accepted too.
  const initialDestinations = destinationsOf(crew, agent);
  return defineRunTool({
    name: "handoff",
    description: `Transfer control to another agent, who continues this conversation. Agents: ${initialDestinations.join(", ") || "none"}.`,
    input: z.object({
      destination_agent: z.string().describe(`One of: ${initialDestinations.join(", ")}`),
      reason: z.string().min(1).max(4000),
      context: z.record(z.string(), Json).optional().describe("What it should know besides the conversation"),
      context_mode: z
        .enum(["full", "summary", "last_n", "context_only"])
        .default("full")
        .describe("How much of this conversation to pass on"),
    }),
    *call({ destination_agent, reason, context, context_mode }, caller) {
      const to = crew.member(destination_agent);
      const destinations = destinationsOf(crew, agent);
      if (!to || !destinations.includes(to.agent_id)) {
        if (to?.agent_id === agent.agent_id) return rejected(400, "You cannot hand off to yourself.");
        return rejected(
          to ? 403 : 404,
          `You cannot hand off to "${destination_agent}". You can hand off to: ${destinations.join(", ")}.`,
        );
      }
      if (waitsFor(caller, to.agent_id))
        return rejected(409, `${to.agent_id} is waiting for this result. Answer it instead.`);
      if (crew.view.handoffs >= crew.config.max_handoffs)
        return rejected(409, `The crew reached its limit of ${crew.view.handoffs} handoffs. Answer now.`);
      const before = crew.steps.length;
      crew.steps.push(...caller.steps, { kind: "handoff", agent: agent.agent_id, to: to.agent_id });
      const stuck = findStuck(crew.steps);
      if (stuck?.pattern === "handoff_ping_pong") {
        crew.run.emit({
          type: "stuck_detected",
          ...caller.about,
          payload: {
            pattern: stuck.pattern,
            message: stuck.message,
            action: stuck.severity === "nudge" ? "nudge" : "stop",
          },
        });
        if (stuck.severity === "stop") throw new NodeFailure("STUCK", stuck.message);
        // The handoff is undone: after the nudge, another attempt would continue the same back-and-forth.
        if (isSince(crew.run.s.run, 2)) crew.steps.length = before;
        crew.steps.push({ kind: "nudge", pattern: stuck.pattern });
        return rejected(409, stuck.message);
      }
      return {
        ...done(`${to.agent_id} takes over.`),
        ends: {
          kind: "handoff",
          to: to.agent_id,
          reason,
          mode: context_mode,
          ...defined({ context }),
        },
      };
    },
  });
}

function parallelTool(crew: Crew): RunTool {
  return defineRunTool({
    name: "parallel_handoff",
    description: "Have several coworkers work in parallel, each on its task, and get their results.",
    input: z.object({
      agents: z.array(z.string()).min(1).max(8).describe("Coworkers; a team means all of its members"),
      tasks: z
        .array(z.string().min(1).max(8000))
        .min(1)
        .max(8)
        .describe("One for each agent, or one for all"),
      coordination_strategy: z
        .enum(["wait_all", "first_success", "majority"])
        .default("wait_all")
        .describe("How many results to wait for"),
    }),
    *call({ agents: named, tasks, coordination_strategy }, caller, key) {
      const agents = named.flatMap((name) => crew.team(name, caller.task.agent_id) ?? [name]);
      if (agents.length > 8) return rejected(400, "At most 8 coworkers work at the same time.");
      if (tasks.length !== agents.length && tasks.length !== 1)
        return rejected(400, "Give one task for each agent, or one for all of them.");
      const children = new Children<RunToolResult>();
      for (const [at, name] of agents.entries())
        children.add(
          String(at),
          delegate(crew, caller, `${key}/${at + 1}`, {
            coworker: name,
            task: tasks[at] ?? must(tasks, 0),
            kind: "parallel",
          }),
        );
      const needed =
        coordination_strategy === "wait_all"
          ? agents.length
          : coordination_strategy === "majority"
            ? Math.floor(agents.length / 2) + 1
            : 1;
      const results: ({ agent: string } & RunToolResult)[] = [];
      try {
        while (
          children.size > 0 &&
          results.filter(({ status_code }) => status_code === 200).length < needed
        ) {
          const next = yield* children.next();
          if (!next.ok) throw next.error;
          results.push({ agent: must(agents, Number(next.id)), ...next.value });
        }
      } finally {
        children.stop();
      }
      const tainted = results.some((result) => result.tainted);
      const seen = results.map(({ agent: name, output, error }) => ({
        agent: name,
        ...(error === undefined ? { output: output ?? null } : { error }),
      }));
      return { ...done(seen), ...defined({ tainted: tainted || undefined }) };
    },
  });
}
