import type { AgentConfig } from "@/server/domain/agent/role";
import type { Flow } from "@/server/domain/base/durable";
import { present } from "@/server/domain/base/must";
import type { JsonObject } from "@/server/domain/base/values";
import { NodeFailure } from "@/server/domain/nodes";
import type { ChatMessage } from "@/server/domain/run/events";
import type { AgentResult, HandoffMode } from "../agent/task";
import type { Crew } from "./crew";
import { textOf, valueOf } from "./values";

/** How many messages "last_n" means. */
const LAST_MESSAGES = 10;

/**
 * One agent works at a time and may hand over to another, who goes on with the same conversation; whoever answers
 * instead of handing over ends it. The tool checks who may hand over to whom, and how often.
 */
export function* swarm(crew: Crew): Flow<JsonObject> {
  const { run, config } = crew;
  let active = config.entry_agent ? crew.member(config.entry_agent) : config.agents[0];
  if (!active)
    throw new NodeFailure("CONFIG", `${crew.name} begins with "${config.entry_agent}", who is not in it.`);
  let history: readonly ChatMessage[] = [];
  let task = crew.goal;
  for (let hop = 1; ; hop++) {
    const result: AgentResult = yield* crew.work(active, {
      task_id: `hop-${hop}`,
      task,
      output_keys: crew.request.output_keys,
      inputs: hop === 1 ? run.input : {},
      history,
    });
    const { handoff } = result;
    if (!handoff) return crew.outputs(valueOf(result.output));
    const from = active.agent_id;
    run.emit({
      type: "handed_off",
      agent_id: from,
      payload: {
        from,
        to: handoff.to,
        reason: handoff.reason,
        count: crew.view.handoffs + 1,
        ...(handoff.context ? { context: handoff.context } : {}),
      },
    });
    const noted = handoff.context ? `\nContext: ${JSON.stringify(handoff.context)}` : "";
    crew.writeBoard(from, `Handed over to ${handoff.to}: ${handoff.reason}${noted}`);
    history = yield* goingAlong(crew, active, handoff.mode, result.transcript, hop);
    active = present(crew.member(handoff.to), "crew.member(handoff.to)");
    task = `You take over from ${from}. Reason: ${handoff.reason}${noted}\nThe goal is still: ${crew.goal}`;
  }
}

/** What of the conversation the next agent gets. */
function* goingAlong(
  crew: Crew,
  agent: AgentConfig,
  mode: HandoffMode,
  transcript: readonly ChatMessage[],
  hop: number,
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
        task_id: `summary-${hop}`,
        purpose: "summary",
        may_use_tools: false,
        task: "Sum up the conversation so far for whoever goes on with it: what was asked, what is known, what was done, what is open.",
        output_keys: [],
        inputs: {},
        history: transcript,
      });
      return [
        { role: "user", content: `The conversation so far, in short:\n${textOf(valueOf(summed.output))}` },
      ];
    }
  }
}
