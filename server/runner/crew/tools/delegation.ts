import { z } from "zod";
import type { AgentConfig } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import type { Flow } from "@/server/domain/base/durable";
import { lostTools } from "@/server/domain/crew/crew-tools";
import { agentKey } from "@/server/domain/run";
import { isSince } from "@/server/domain/run/edition";
import type { Payloads } from "@/server/domain/run/events";
import { concernsRun, errorOf } from "../../agent/call-model";
import type { Caller, RunTool, RunToolResult } from "../../agent/task";
import { defineRunTool, done, rejected } from "../../agent/tools/run-tool";
import type { Crew } from "../crew";
import { workOrHandOff } from "../patterns/relay";
import { textOf, valueOf } from "../values";

/** Tools for asking coworkers; each works with its own transcript. */
export function delegationTools(crew: Crew, agent: AgentConfig): RunTool[] {
  const others = crew.config.agents.filter((other) => other !== agent);
  const tools = crew.keepsTools
    ? "It uses the tools of its role"
    : `It has no tools that you lack${withoutTools(crew, agent, others)}`;
  const who = `One of: ${others.map((other) => `${other.agent_id} (${other.role_name})`).join(", ")}`;
  const input = { coworker: z.string().describe(who), context: z.string().max(16_000).default("") };
  return [
    defineRunTool({
      name: "delegate_task",
      description: `Delegate a task to a coworker. It knows only what you tell it; you get its result. ${tools}.`,
      input: z.object({
        coworker: input.coworker,
        task: z.string().min(1).max(8000),
        context: input.context,
      }),
      call: (request, caller, key) => delegate(crew, caller, key, { ...request, kind: "delegate" }),
    }),
    defineRunTool({
      name: "ask_coworker",
      description: `Ask a coworker a question. It knows only what you tell it; you get its answer. ${tools}.`,
      input: z.object({
        coworker: input.coworker,
        question: z.string().min(1).max(8000),
        context: input.context,
      }),
      call: ({ question, ...request }, caller, key) =>
        delegate(crew, caller, key, {
          ...request,
          task: `Answer this question: ${question}`,
          message: question,
          kind: "ask",
        }),
    }),
  ];
}

/** Who works without what of its role, where delegates have only what both may use. */
function withoutTools(crew: Crew, agent: AgentConfig, others: readonly AgentConfig[]): string {
  const own = crew.run.findRole(agent.role_name)?.tools ?? [];
  const lost = others.flatMap((other) => {
    const tools = lostTools(own, crew.run.findRole(other.role_name)?.tools ?? []);
    return tools.length > 0 ? [`${other.agent_id} works without ${tools.join(", ")}`] : [];
  });
  return lost.length > 0 ? `: ${lost.join("; ")}` : "";
}

/** Whether that agent waits for what this one does, or for what comes of it. */
export function waitsFor(caller: Caller, agent_id: string): boolean {
  for (let above = caller.task.parent; above; above = above.task.parent)
    if (above.task.agent_id === agent_id) return true;
  return false;
}

interface Delegation {
  coworker: string;
  task: string;
  message?: string;
  context?: string;
  kind: Payloads["delegation_started"]["kind"];
}

/** Lets another agent work on a task for the caller, which has it in hand meanwhile. */
export function* delegate(
  crew: Crew,
  caller: Caller,
  key: string,
  { coworker, task, message = task, context, kind }: Delegation,
): Flow<RunToolResult> {
  const { run } = crew;
  const agent = crew.member(coworker);
  const from = caller.task.agent_id;
  if (!agent) {
    const known = crew.config.agents.filter(({ agent_id }) => agent_id !== from);
    return rejected(
      404,
      `There is no coworker "${coworker}". You can ask: ${known.map(({ agent_id }) => agent_id).join(", ")}.`,
    );
  }
  if (agent.agent_id === from) return rejected(400, "You cannot delegate a task to yourself.");
  if (waitsFor(caller, agent.agent_id))
    return rejected(
      409,
      `${agent.agent_id} is waiting for this result. Do it yourself, or ask someone else.`,
    );

  const task_id = key.replaceAll("/", ".");
  const child = agentKey(run.activationId, agent.agent_id, task_id);
  run.emit({
    type: "delegation_started",
    ...caller.about,
    payload: { from, to: agent.agent_id, task, kind, level: caller.level + 1, child },
  });
  let hasEnded = false;
  const over = (status: Payloads["delegation_finished"]["status"]) => {
    hasEnded = true;
    run.emit({
      type: "delegation_finished",
      ...caller.about,
      payload: { from, to: agent.agent_id, child, status },
    });
  };
  try {
    const worked = yield* workOrHandOff(
      crew,
      agent,
      {
        task_id,
        task,
        message,
        prompt: crew.fences.harmless(task),
        from,
        gives_goal: false,
        output_keys: [],
        inputs: context ? { context } : {},
        parent: caller,
      },
      `Do the task that ${from} delegated to it: ${crew.fences.harmless(task)}`,
    );
    over("completed");
    // If a delegate read untrusted content, its result is untrusted too.
    const by = agentKey(run.activationId, worked.agent.agent_id, worked.task_id);
    const tainted = run.s.agents[by]?.tainted;
    const text = textOf(valueOf(worked.result.output));
    return {
      ...done(caller.fitted(`the result of ${worked.agent.agent_id}`, text)),
      ...defined({ tainted: tainted || undefined }),
    };
  } catch (error) {
    over("failed");
    const cause = errorOf(error);
    if (concernsRun(cause)) throw error;
    // So are its reasons.
    const tainted = isSince(run.s.run, 5) && run.s.agents[child]?.tainted;
    return {
      ...rejected(500, `${agent.agent_id} could not do it: ${cause.message}`),
      ...defined({ tainted: tainted || undefined }),
    };
  } finally {
    // Enough others were done.
    if (!hasEnded) over("stopped");
  }
}
