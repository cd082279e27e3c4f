import { defined } from "@/server/domain/base/defined";
import type { RunState } from "@/server/domain/run";
import type { ChatMessage, NewEvent } from "@/server/domain/run/events";
import type { ForkOrigin, ForkPatches } from "@/server/domain/run/fork/lineage";
import type { Sender } from "@/server/domain/run/started-by";

/** The pending fork: its original's part of the log has ended. Undefined if there is none. */
export function dueFork({ seq, run: { forks, forked = 0 } }: RunState): ForkOrigin | undefined {
  const fork = forks?.[forked];
  return fork && seq >= fork.at_seq ? fork : undefined;
}

/** A message of an agent's transcript that says something else since a fork. */
export interface MessageEdit {
  agent: string;
  before: Pick<ChatMessage, "role" | "content">;
  content: string;
}

/** The messages that a fork changes, as they are before it. */
export const messageEdits = (s: RunState, { messages = [] }: ForkPatches): MessageEdit[] =>
  messages.flatMap(({ agent, at, content }) => {
    const message = s.agents[agent]?.messages[at];
    return message ? [{ agent, before: { role: message.role, content: message.content }, content }] : [];
  });

/** Puts what changed in place, wherever the agent's view of its transcript still has it. */
export function changeMessages(messages: ChatMessage[], edits: readonly MessageEdit[]): void {
  for (const { before, content } of edits) {
    const at = messages.findIndex(
      ({ role, content: text }) => role === before.role && text === before.content,
    );
    const message = messages[at];
    if (message) messages[at] = { ...message, content };
  }
}

/** Who made the fork and its changes. */
export const senderOf = ({ by, untrusted }: ForkOrigin): Sender => ({ by, ...defined({ untrusted }) });

/** What a run records where it goes its own way. */
export const forkedEvent = (fork: ForkOrigin, repeated?: number): NewEvent => ({
  type: "run_forked",
  payload: {
    from_run: fork.from_run,
    from_seq: fork.at_seq,
    patches: fork.patches,
    graph: fork.graph,
    ...senderOf(fork),
    ...defined({ repeated }),
  },
});

/** Open questions have as much time left in the fork as they had when it left its original's ways. */
export function* questionsMoved(s: RunState, ms: number): Generator<NewEvent> {
  for (const id of s.asking) {
    const asked = s.interactions[id];
    if (asked?.status !== "open") continue;
    yield {
      type: "interaction_extended",
      node_id: asked.node_id,
      activation_id: asked.activation_id,
      payload: { interaction_id: id, expires_at: asked.requested.expires_at + ms },
    };
  }
}
