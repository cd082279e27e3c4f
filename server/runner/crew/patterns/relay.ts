import type { AgentConfig } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import type { Flow } from "@/server/domain/base/durable";
import { present } from "@/server/domain/base/must";
import type { JsonObject } from "@/server/domain/base/values";
import { isSince } from "@/server/domain/run/edition";
import type { ChatMessage } from "@/server/domain/run/events";
import type { AgentResult, HandoffMode } from "@/server/runner/agent/task";
import { type Crew, HANDED_OVER, type Work } from "../crew";
import { textOf, valueOf } from "../values";

/** How many messages "last_n" means. */
const LAST_MESSAGES = 10;

/** Who answered in the end, as which task. */
interface Relayed {
  result: AgentResult;
  agent: AgentConfig;
  task_id: string;
}

/**
 * Lets a member work, and every agent it hands off to continue the same work, until one answers; returns that agent.
 * The tool checks who may hand off to whom, and how often. `idOf` numbers the work of each, from 1; `wish` is the task
 * of the next agent.
 */
export function* relay(
  crew: Crew,
  first: AgentConfig,
  work: Work,
  { idOf, wish }: { idOf: (hop: number) => string; wish: string },
): Flow<Relayed> {
  let agent = first;
  let given = { ...work, task_id: idOf(1) };
  for (let hop = 1; ; hop++) {
    const result: AgentResult = yield* crew.work(agent, given);
    const handoff = goesOn(crew, agent, result, work);
    if (!handoff) return { result, agent, task_id: given.task_id };
    const from = agent.agent_id;
    if (!crew.member(handoff.to)) {
      given = { ...given, ...alone(handoff.to, wish, result.transcript), task_id: idOf(hop + 1) };
      continue;
    }
    yield* note(crew, agent, given.task_id, handoff);
    const history = yield* goingAlong(crew, agent, given.task_id, {
      mode: handoff.mode,
      transcript: result.transcript,
    });
    agent = present(crew.member(handoff.to), "crew.member(handoff.to)");
    // With the whole conversation come goal, inputs and earlier results.
    const isBrief = handoff.mode !== "full";
    const context = handoff.context ? `\n${crew.fences.fence("context", handoff.context)}` : "";
    const { prompt: _own, continues: _hers, from: _asker, llm_config: _model, ...same } = work;
    given = {
      ...same,
      task_id: idOf(hop + 1),
      task: `You take over from ${from}. ${wish} What ${from} says:\n${crew.fences.fence("reason", handoff.reason)}${context}`,
      message: handoff.reason,
      history,
      gives_goal: isBrief && work.gives_goal !== false,
      ...(isBrief ? {} : { inputs: {}, earlier: {} }),
    };
  }
}

/** As `relay`, for work whose agents couldn't hand off before edition 5. */
export function* workOrHandOff(
  crew: Crew,
  agent: AgentConfig,
  work: Work & { task_id: string },
  wish: string,
): Flow<Relayed> {
  const { task_id } = work;
  if (!isSince(crew.run.s.run, 5)) return { result: yield* crew.work(agent, work), agent, task_id };
  return yield* relay(crew, agent, work, {
    idOf: (hop) => (hop === 1 ? task_id : crew.idBesideTasks(`${task_id}.h${hop}`)),
    wish,
  });
}

/** How an agent continues when a person removed the agent that it handed off to. */
const alone = (to: string, wish: string, history: readonly ChatMessage[]): Partial<Work> => ({
  task: `${to} is no longer in the crew, so continue yourself. ${wish}`,
  history,
  inputs: {},
  earlier: {},
});

/** The agent to hand off to, or the one that a person chose to continue; undefined if the answer is final. */
function goesOn(
  crew: Crew,
  agent: AgentConfig,
  { handoff }: AgentResult,
  { parent }: Work,
): AgentResult["handoff"] {
  // Who continues after a delegate is the delegator.
  const chosen = crew.config.process === "swarm" && !parent ? crew.takeNext() : undefined;
  if (!chosen || chosen.agent_id === agent.agent_id) return handoff;
  const reason = handoff?.reason ?? "A person asked you to continue.";
  return { kind: "handoff", mode: "full", ...handoff, reason, to: chosen.agent_id };
}

/** Tells everybody of a handoff: by an event, on the board, and in the run's memory. */
function* note(
  crew: Crew,
  agent: AgentConfig,
  id: string,
  { to, reason, context }: { to: string; reason: string; context?: JsonObject },
): Flow<void> {
  const from = agent.agent_id;
  const count = crew.view.handoffs + 1;
  crew.run.emit({
    type: "handed_off",
    agent_id: from,
    payload: { from, to, reason, count, ...defined({ context }) },
  });
  const noted = context ? `\nContext: ${JSON.stringify(context)}` : "";
  crew.writeBoard(from, `${HANDED_OVER}${to}: ${reason}${noted}`);
  yield* crew.remember(agent, id, `handoff_${count}`, { from, to, reason, ...defined({ context }) });
}

/** What of the conversation the next agent gets. */
function* goingAlong(
  crew: Crew,
  agent: AgentConfig,
  id: string,
  { mode, transcript }: { mode: HandoffMode; transcript: readonly ChatMessage[] },
): Flow<readonly ChatMessage[]> {
  switch (mode) {
    case "full":
      return transcript;
    case "context_only":
      return [];
    case "last_n": {
      // Not in the middle of a call and its results.
      const from = transcript.findIndex(
        ({ role }, at) => at >= transcript.length - LAST_MESSAGES && role !== "tool",
      );
      return from < 0 ? [] : transcript.slice(from);
    }
    case "summary": {
      const summed = yield* crew.work(agent, {
        task_id: crew.idBesideTasks(`${id}-summary`),
        purpose: "summary",
        may_use_tools: false,
        task: "Summarize the conversation so far for whoever continues it: what was asked, what is known, what was done, and what is still open.",
        output_keys: [],
        inputs: {},
        continues: true,
        history: transcript,
      });
      return [
        {
          role: "user",
          content: `Summary of the conversation so far:\n${crew.fences.fence("summary", textOf(valueOf(summed.output)))}`,
        },
      ];
    }
  }
}
