"use client";

import { useRun, useRunList } from "@/components/run/run-context";
import type { ExecutionPlan } from "@/server/domain/crew/plan";
import type { AgentView, CrewRun, Interaction, ModelCall, RunState, ToolCallView } from "@/server/domain/run";
import type { CrewScene } from "./members";

/** A crew as of the cursor; undefined before it began. */
export function useCrew(activationId: string | undefined): CrewScene | undefined {
  const id = activationId ?? "";
  const crew = useRun<CrewRun | undefined>(({ state }) => state.crews[id], undefined);
  const agents = useRunList<AgentView>(({ state }) => of(id, state.agents));
  const tools = useRunList<ToolCallView>(({ state }) => of(id, state.tool_calls));
  const asks = useRunList<Interaction>(({ state }) => of(id, state.interactions));
  const calls = useRunList<ModelCall>(({ state }) => callsOf(state, id));
  const plan = useRun<ExecutionPlan | undefined>(({ state }) => state.plans[id], undefined);
  return crew ? { crew, agents, tools, calls, asks, plan } : undefined;
}

/**
 * A node's crew and plan as they are now, wherever the cursor is: the layout follows from them, so that no one moves when
 * the cursor does.
 */
export function useHeadCrew(nodeId: string): { crew: CrewRun | undefined; plan: ExecutionPlan | undefined } {
  const crew = useRun<CrewRun | undefined>(({ head }) => headCrew(head, nodeId), undefined);
  const plan = useRun<ExecutionPlan | undefined>(
    ({ head }) => head.plans[headCrew(head, nodeId)?.activation_id ?? ""],
    undefined,
  );
  return { crew, plan };
}

/** The newest crew that worked in a node. */
export function headCrew({ nodes, crews }: RunState, nodeId: string): CrewRun | undefined {
  for (let turn = nodes[nodeId]?.count ?? 0; turn > 0; turn--) {
    const crew = crews[`${nodeId}#${turn}`];
    if (crew) return crew;
  }
  return undefined;
}

/** The model calls of an activation, in order. */
export function callsOf(state: RunState, activationId: string): ModelCall[] {
  return (state.activations[activationId]?.calls ?? []).flatMap((id) => state.calls[id] ?? []);
}

const of = <T extends { activation_id: string }>(id: string, all: Record<string, T>): T[] =>
  Object.values(all).filter((one) => one.activation_id === id);
