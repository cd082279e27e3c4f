import { defined } from "@/server/domain/base/defined";
import { must } from "@/server/domain/base/must";
import type { ToolCallView } from "../crew-state";
import type { RunEventOf } from "../events";
import type { ToolEvents } from "../events/tool-events";
import { type Handlers, noChange } from "./handlers";
import { setTask, warn } from "./patch";

export const tools: Handlers<keyof ToolEvents> = {
  tool_call_started(s, event) {
    const { risk, protocol, repaired, on_crash } = event.payload;
    const call = callOf(event);
    s.calling.add(call.id);
    s.tool_calls[call.id] = {
      ...call,
      status: "running",
      risk,
      protocol,
      ...defined({ repaired: repaired ? true : undefined, on_crash }),
    };
  },
  tool_call_refused(s, event) {
    const call = callOf(event);
    s.calling.delete(call.id);
    s.tool_calls[call.id] = {
      ...call,
      status: "refused",
      status_code: event.payload.status_code,
      error: event.payload.reason,
      started_at: s.tool_calls[call.id]?.started_at ?? event.ts,
      finished_at: event.ts,
    };
  },
  tool_call_retried: noChange,
  tool_call_completed(s, event) {
    const call = s.tool_calls[must(event, "call_id")];
    s.calling.delete(must(event, "call_id"));
    const { tool_name: _name, latency_ms: _latency, ...result } = event.payload;
    if (call)
      s.tool_calls[call.id] = {
        ...call,
        ...result,
        status: result.status_code === 200 ? "completed" : "failed",
        finished_at: event.ts,
      };
  },
  tool_call_abandoned(s, event) {
    const id = must(event, "call_id");
    const call = s.tool_calls[id];
    s.calling.delete(id);
    const { message } = event.payload;
    if (call) s.tool_calls[id] = { ...call, status: "stopped", error: message, finished_at: event.ts };
    warn(s, message);
  },
  artifact_created(s, event) {
    const { path } = event.payload;
    s.files[path] = event.payload;
    setTask(s, event, ({ metadata }) => ({
      metadata: {
        ...metadata,
        artifacts_created: [...new Set([...(metadata.artifacts_created ?? []), path])],
      },
    }));
  },
};

/** What is known of a call however it comes out. */
function callOf(event: RunEventOf<"tool_call_started" | "tool_call_refused">): Omit<ToolCallView, "status"> {
  const { tool_name, args, by_call, tool_call_id } = event.payload;
  return {
    id: must(event, "call_id"),
    node_id: must(event, "node_id"),
    activation_id: event.activation_id ?? "",
    tool_name,
    args,
    started_at: event.ts,
    ...defined({
      agent_id: event.agent_id || undefined,
      task_id: event.task_id || undefined,
      by_call: by_call || undefined,
      tool_call_id: tool_call_id || undefined,
    }),
  };
}
