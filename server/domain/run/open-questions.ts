import type { RunState } from ".";
import type { Interaction } from "./crew-state";
import { agentKey } from "./state";

/** How pressing a question is, the most pressing first. */
export const URGENCIES = ["critical", "high", "normal", "low"] as const;
export type Urgency = (typeof URGENCIES)[number];

/** Who asks, as a list shows them. */
export interface Asker {
  node_name: string;
  agent_id?: string;
  role?: { name: string; icon?: string; color?: string };
}

/** A question that a run waits with, together with who asks. Times in Unix milliseconds. */
export interface OpenQuestion {
  ask: Interaction;
  asker: Asker;
  urgency: Urgency;
  /** Who is to answer it; null where it is anybody's. */
  assigned_to: string | null;
}

/** What runs of now know of a question that older ones did not. */
interface Terms {
  urgency?: string;
  assigned_to?: string;
}

/** The questions that are open, in the order in which they were asked: none once the run has ended, or rests at a limit. */
export function openInteractions(s: RunState): Interaction[] {
  if (s.run.status === "finished") return [];
  const open: Interaction[] = [];
  for (const id of s.asking) {
    const ask = s.interactions[id];
    if (ask?.status === "open") open.push(ask);
  }
  return open;
}

/** The same with who asks. */
export const openQuestions = (s: RunState): OpenQuestion[] =>
  openInteractions(s).map((ask) => {
    const { urgency, assigned_to }: Interaction["requested"] & Terms = ask.requested;
    return {
      ask,
      asker: askerOf(s, ask),
      urgency: URGENCIES.find((word) => word === urgency) ?? "normal",
      assigned_to: assigned_to ?? null,
    };
  });

function askerOf(s: RunState, { node_id, agent_id, activation_id, task_id }: Interaction): Asker {
  const node_name = s.graph.nodes[node_id]?.name ?? node_id;
  if (agent_id === undefined) return { node_name };
  const agent =
    s.agents[agentKey(activation_id, agent_id, task_id)] ?? s.agents[agentKey(activation_id, agent_id)];
  if (!agent) return { node_name, agent_id };
  const { icon, color } = s.roles.find(({ name }) => name === agent.role_name) ?? {};
  const role = { name: agent.role_name, ...(icon && { icon }), ...(color && { color }) };
  return { node_name, agent_id, role };
}
