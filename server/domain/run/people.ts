import { present } from "@/server/domain/base/must";
import { goOnUnlessAsked } from "./endings";
import type { PersonEvents } from "./events";
import type { Handlers } from "./handlers";
import { setActivation } from "./patch";

export const people: Handlers<keyof PersonEvents> = {
  interaction_requested(s, event) {
    const id = event.payload.interaction_id;
    s.asking.add(id);
    s.interactions[id] = {
      id,
      node_id: present(event.node_id, "event.node_id"),
      activation_id: event.activation_id ?? "",
      status: "open",
      requested: event.payload,
      requested_at: event.ts,
      ...(event.agent_id ? { agent_id: event.agent_id } : {}),
      ...(event.task_id ? { task_id: event.task_id } : {}),
    };
    setActivation(s, present(event.activation_id, "event.activation_id"), {
      status: "waiting",
      waiting: { for: "human", until: event.payload.expires_at },
    });
  },
  interaction_extended(s, event) {
    const { interaction_id, expires_at } = event.payload;
    const open = s.interactions[interaction_id];
    if (open) s.interactions[interaction_id] = { ...open, requested: { ...open.requested, expires_at } };
    if (s.activations[present(event.activation_id, "event.activation_id")]?.waiting?.for === "human")
      setActivation(s, present(event.activation_id, "event.activation_id"), {
        waiting: { for: "human", until: expires_at },
      });
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
    goOnUnlessAsked(s, present(event.activation_id, "event.activation_id"));
  },
};
