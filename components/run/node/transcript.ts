import { must, present } from "@/server/domain/base/must";
import type { AgentView, ModelCall, ToolCallView } from "@/server/domain/run";
import type { ChatMessage } from "@/server/domain/run/events";

/** A step of an agent's conversation: a message to the model, a model call, or a tool call. */
export type TranscriptStep =
  | { kind: "message"; key: string; message: ChatMessage; title: string }
  | { kind: "call"; key: string; call: ModelCall }
  | { kind: "tool"; key: string; tool: ToolCallView };

/** An agent's conversation in order: each answer appears as its model call, followed by its tool calls. */
export function transcript(
  agent: AgentView,
  calls: readonly ModelCall[],
  tools: readonly ToolCallView[] = [],
): TranscriptStep[] {
  const waiting = [...calls];
  const turns: TranscriptStep[] = [];
  const shown = new Set<string>();
  const show = (call: ModelCall) => {
    turns.push({ kind: "call", key: call.id, call });
    for (const tool of tools)
      if (isFrom(tool, call) && !shown.has(tool.id)) {
        shown.add(tool.id);
        turns.push({ kind: "tool", key: `t${tool.id}`, tool });
      }
  };
  agent.messages.forEach((message, at) => {
    // A tool's result is already part of its call.
    if (message.tool_call_id && shown.has(message.tool_call_id)) return;
    if (message.role !== "assistant") {
      turns.push({ kind: "message", key: `m${at}`, message, title: titleOf(agent.messages, at) });
      return;
    }
    // Failed attempts come before the answer that the next attempt gave.
    while (waiting.length > 0) {
      const call = present(waiting.shift(), "waiting.shift()");
      show(call);
      if (call.status === "completed") return;
    }
    turns.push({ kind: "message", key: `m${at}`, message, title: "Answer" });
  });
  for (const call of waiting) show(call);
  for (const tool of tools) if (!shown.has(tool.id)) turns.push({ kind: "tool", key: `t${tool.id}`, tool });
  return turns;
}

/** The title of a message: only the user's first message is the task. */
function titleOf(messages: readonly ChatMessage[], at: number): string {
  const { role } = must(messages, at);
  if (role === "system") return "System prompt";
  if (role === "tool") return "Tool result";
  const before = messages.slice(0, at);
  if (role === "assistant") return "Answer";
  if (!before.some((one) => one.role === "user")) return "Task";
  const last = before.findLast((one) => one.role !== "user");
  // After an answer the model is asked to improve it; between tool calls it gets a note.
  return last?.role === "assistant" && !last.tool_calls?.length
    ? "Correction request"
    : "Message during the run";
}

const isFrom = (tool: ToolCallView, call: ModelCall) =>
  tool.by_call === undefined
    ? (call.tool_calls ?? []).some(({ id }) => id === tool.id)
    : tool.by_call === call.id;
