import type { Flow } from "@/server/domain/durable";
import type { ChatMessage } from "@/server/domain/events";
import { NodeFailure } from "@/server/domain/nodes";
import type { JsonObject } from "@/server/domain/values";
import type { AgentResult } from "../agent/agent";
import { type Crew, valueOf } from "./crew";

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
    crew.writeBoard(from, `Handed over to ${handoff.to}: ${handoff.reason}`);
    active = crew.member(handoff.to)!;
    history = handoff.mode === "full" ? result.transcript : [];
    const context = handoff.context ? `\nContext: ${JSON.stringify(handoff.context)}` : "";
    task = `You take over from ${from}. Reason: ${handoff.reason}${context}\nThe goal is still: ${crew.goal}`;
  }
}
