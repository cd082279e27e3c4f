import { addUsage, type Usage } from "@/server/domain/agent/outcome";
import { present } from "@/server/domain/base/must";
import type { ModelCallEvents } from "../events/agent-events";
import { inherit } from "../forked";
import type { RunState } from "../state";
import type { Handlers } from "./handlers";
import { addMessage, agentOf, setActivation } from "./patch";

export const modelCalls: Handlers<keyof ModelCallEvents> = {
  llm_call_started(s, event) {
    const id = present(event.call_id, "event.call_id");
    const agent = agentOf(s, event);
    s.calls[id] = {
      id,
      node_id: present(event.node_id, "event.node_id"),
      activation_id: present(event.activation_id, "event.activation_id"),
      agent_id: present(event.agent_id, "event.agent_id"),
      purpose: event.payload.purpose,
      status: "running",
      attempt: event.payload.attempt,
      content: "",
      started_at: event.ts,
      ...(event.task_id ? { task_id: event.task_id } : {}),
      ...(agent ? { role_name: agent.role_name } : {}),
    };
    const activation = s.activations[present(event.activation_id, "event.activation_id")];
    if (activation) setActivation(s, activation.id, { calls: [...activation.calls, id] });
  },
  llm_call_completed(s, event) {
    const { payload } = event;
    const call = s.calls[present(event.call_id, "event.call_id")];
    if (call) {
      const { finish_reason: _f, cost_source: _c, response_format: _r, refusal: _x, ...seen } = payload;
      s.calls[call.id] = { ...call, ...seen, status: "completed", finished_at: event.ts };
    }
    addMessage(s, event, {
      role: "assistant",
      content: payload.content,
      ...(payload.tool_calls && payload.tool_calls.length > 0 ? { tool_calls: payload.tool_calls } : {}),
    });
    spend(s, present(event.activation_id, "event.activation_id"), payload.usage, payload.cost_usd);
    if (payload.reused) inherit(s, payload.reused);
    if (payload.simulated) markSimulated(s);
  },
  llm_call_failed(s, event) {
    const { error, usage, cost_usd = null, provider, model, simulated } = event.payload;
    const call = s.calls[present(event.call_id, "event.call_id")];
    if (call)
      s.calls[call.id] = {
        ...call,
        status: "failed",
        error,
        finished_at: event.ts,
        ...(usage ? { usage, cost_usd } : {}),
        ...(provider === undefined ? {} : { provider }),
        ...(model === undefined ? {} : { model }),
        ...(simulated === undefined ? {} : { simulated }),
      };
    if (usage) spend(s, present(event.activation_id, "event.activation_id"), usage, cost_usd);
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
