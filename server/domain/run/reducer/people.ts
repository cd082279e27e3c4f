import { defined } from "@/server/domain/base/defined";
import { must } from "@/server/domain/base/must";
import { goOnUnlessAsked } from "../endings";
import type { PersonEvents } from "../events/people-events";
import type { RunState } from "../state";
import type { Handlers } from "./handlers";
import { setActivation } from "./patch";

function waitUntil(s: RunState, activation: string, until: number): void {
  if (s.activations[activation]?.waiting?.for === "human")
    setActivation(s, activation, { waiting: { for: "human", until } });
}

export const people: Handlers<keyof PersonEvents> = {
  interaction_requested(s, event) {
    const id = event.payload.interaction_id;
    s.asking.add(id);
    s.interactions[id] = {
      id,
      node_id: must(event, "node_id"),
      activation_id: event.activation_id ?? "",
      status: "open",
      requested: event.payload,
      requested_at: event.ts,
      ...defined({ agent_id: event.agent_id || undefined, task_id: event.task_id || undefined }),
    };
    if (event.payload.mode === "advisory") return;
    setActivation(s, event.activation_id ?? "", {
      status: "waiting",
      waiting: { for: "human", until: event.payload.expires_at },
    });
  },
  interaction_reminded(s, event) {
    const open = s.interactions[event.payload.interaction_id];
    if (open) s.interactions[open.id] = { ...open, reminded_at: event.ts };
  },
  interaction_escalated(s, event) {
    const { interaction_id, level, to, expires_at } = event.payload;
    const open = s.interactions[interaction_id];
    if (!open) return;
    s.interactions[interaction_id] = {
      ...open,
      requested: {
        ...open.requested,
        assigned_to: to,
        ...defined({ expires_at }),
      },
      escalated: [...(open.escalated ?? []), { level, to, at: event.ts }],
    };
    if (expires_at !== undefined) waitUntil(s, event.activation_id ?? "", expires_at);
  },
  interaction_extended(s, event) {
    const { interaction_id, expires_at } = event.payload;
    const open = s.interactions[interaction_id];
    if (open) s.interactions[interaction_id] = { ...open, requested: { ...open.requested, expires_at } };
    waitUntil(s, event.activation_id ?? "", expires_at);
  },
  interaction_answered(s, event) {
    const open = s.interactions[event.payload.interaction_id];
    s.asking.delete(event.payload.interaction_id);
    if (open)
      s.interactions[open.id] = {
        ...open,
        status: "answered",
        answered: event.payload,
        answered_at: event.ts,
      };
    // A question of the run holds every activation that comes to a call.
    for (const id of event.activation_id ? [event.activation_id] : s.running) goOnUnlessAsked(s, id);
  },
};
