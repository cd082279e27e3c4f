import type { ChatMessage } from "@/server/domain/events";
import type { AgentView, ModelCall } from "@/server/domain/run";

/** A step of an agent's conversation: what was said to the model, or a call with what it answered. */
export type Turn =
  | { kind: "message"; key: string; message: ChatMessage }
  | { kind: "call"; key: string; call: ModelCall };

/** An agent's conversation in order: each answer stands as the call that gave it. */
export function transcript(agent: AgentView, calls: readonly ModelCall[]): Turn[] {
  const waiting = [...calls];
  const turns: Turn[] = [];
  agent.messages.forEach((message, at) => {
    if (message.role !== "assistant") {
      turns.push({ kind: "message", key: `m${at}`, message });
      return;
    }
    // Failed attempts come before the answer that the next attempt gave.
    while (waiting.length > 0) {
      const call = waiting.shift()!;
      turns.push({ kind: "call", key: call.id, call });
      if (call.status === "completed") return;
    }
    turns.push({ kind: "message", key: `m${at}`, message });
  });
  for (const call of waiting) turns.push({ kind: "call", key: call.id, call });
  return turns;
}
