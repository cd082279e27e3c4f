import { addUsage, type Usage } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import { must } from "@/server/domain/base/must";
import type { ModelCallEvents } from "../events/agent-events";
import { inherit } from "../fork/forked";
import type { RunState } from "../state";
import type { Handlers } from "./handlers";
import { addMessage, agentOf, setActivation } from "./patch";

export const modelCalls: Handlers<keyof ModelCallEvents> = {
  llm_call_started(s, event) {
    const id = must(event, "call_id");
    const agent = agentOf(s, event);
    s.calls[id] = {
      id,
      node_id: must(event, "node_id"),
      activation_id: must(event, "activation_id"),
      agent_id: must(event, "agent_id"),
      purpose: event.payload.purpose,
      status: "running",
      attempt: event.payload.attempt,
      content: "",
      started_at: event.ts,
      ...defined({ task_id: event.task_id || undefined, role_name: agent ? agent.role_name : undefined }),
    };
    const activation = s.activations[must(event, "activation_id")];
    if (activation) setActivation(s, activation.id, { calls: [...activation.calls, id] });
  },
  llm_call_completed(s, event) {
    const { payload } = event;
    const call = s.calls[must(event, "call_id")];
    if (call) {
      const { finish_reason: _f, cost_source: _c, response_format: _r, refusal: _x, ...seen } = payload;
      s.calls[call.id] = { ...call, ...seen, status: "completed", finished_at: event.ts };
    }
    addMessage(s, event, {
      role: "assistant",
      content: payload.content,
      ...defined({
        tool_calls: payload.tool_calls && payload.tool_calls.length > 0 ? payload.tool_calls : undefined,
      }),
    });
    spend(s, must(event, "activation_id"), payload.usage, payload.cost_usd);
    if (payload.reused) inherit(s, payload.reused);
    if (payload.simulated) markSimulated(s);
  },
  llm_call_failed(s, event) {
    const { error, usage, cost_usd = null, provider, model, simulated } = event.payload;
    const call = s.calls[must(event, "call_id")];
    if (call)
      s.calls[call.id] = {
        ...call,
        status: "failed",
        error,
        finished_at: event.ts,
        ...(usage ? { usage, cost_usd } : {}),
        ...defined({ provider, model, simulated }),
      };
    if (usage) spend(s, must(event, "activation_id"), usage, cost_usd);
    if (simulated) markSimulated(s);
  },
};

function markSimulated(s: RunState): void {
  if (!s.run.simulated) s.run = { ...s.run, simulated: true };
}

/** Adds a call's cost in US dollars; unknown prices (null) are counted, never taken for zero. */
function spend(s: RunState, activationId: string, usage: Usage, cost: number | null): void {
  const unknown = cost === null ? 1 : 0;
  s.totals = {
    ...s.totals,
    usage: addUsage(s.totals.usage, usage),
    cost_usd: s.totals.cost_usd + (cost ?? 0),
    unknown_cost_calls: s.totals.unknown_cost_calls + unknown,
  };
  const activation = s.activations[activationId];
  if (activation)
    setActivation(s, activationId, {
      usage: addUsage(activation.usage, usage),
      cost_usd: activation.cost_usd + (cost ?? 0),
      unknown_cost_calls: activation.unknown_cost_calls + unknown,
    });
}
