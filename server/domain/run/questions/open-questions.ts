import type { Urgency } from "@/server/domain/tool/person-question";
import type { RunState } from "..";
import type { Interaction } from "../crew-state";
import { agentKey } from "../state";

/** How pressing a question is, the most pressing first. */
export const URGENCIES = ["critical", "high", "normal", "low"] as const satisfies readonly Urgency[];

/** Who asks, as a list shows them. */
export interface Asker {
  node_name: string;
  agent_id?: string;
  role?: { name: string; icon?: string; color?: string };
  /** The workflow whose node started its run. */
  part_of?: string;
}

/** A question that a run waits with, together with who asks. Times in Unix milliseconds. */
export interface OpenQuestion {
  ask: Interaction;
  asker: Asker;
  urgency: Urgency;
  /** Who is to answer it; null where it is anybody's. */
  assigned_to: string | null;
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
    const { urgency = "normal", assigned_to = null } = ask.requested;
    return {
      ask,
      asker: askerOf(s, ask),
      urgency,
      assigned_to,
    };
  });

function askerOf(s: RunState, { node_id, agent_id, activation_id, task_id }: Interaction): Asker {
  const part_of = s.run.parent?.workflow_name;
  const place = { node_name: s.graph.nodes[node_id]?.name || node_id, ...(part_of && { part_of }) };
  if (agent_id === undefined) return place;
  const agent =
    s.agents[agentKey(activation_id, agent_id, task_id)] ?? s.agents[agentKey(activation_id, agent_id)];
  if (!agent) return { ...place, agent_id };
  const { icon, color } = s.roles.find(({ name }) => name === agent.role_name) ?? {};
  const role = { name: agent.role_name, ...(icon && { icon }), ...(color && { color }) };
  return { ...place, agent_id, role };
}
