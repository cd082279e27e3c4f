import type { PausedPlace } from "../events/control-events";
import type { InstructionTarget } from "./instructions";

/** Where a run was paused, as the end of a sentence that begins with "paused"; `nodeName` gives a node's name. */
export function describePausedPlace(place: PausedPlace, nodeName: (id: string) => string): string {
  const { point, node_id, agent_id, tool, key, iteration } = place;
  const node = node_id === undefined ? "a node" : nodeName(node_id);
  const who = agent_id ?? node;
  const places: Readonly<Record<PausedPlace["point"], string>> = {
    anywhere: "where it was",
    node_start: `before ${node}`,
    node_end: `after ${node}`,
    llm_call: `before a model call of ${who}`,
    tool_call: `before ${who} calls ${tool ?? "a tool"}`,
    handoff: `at a handoff to ${who}`,
    error: `where ${who} failed`,
    state_write: `when ${key === undefined ? "the state" : `"${key}"`} was written`,
    loop_iteration: `at iteration ${iteration ?? 1} of ${node}`,
    edge: `on the connection to ${node}`,
  };
  return places[point];
}

/** Whom an instruction is for, as a part of a sentence. */
export function describeTarget(target: InstructionTarget, nodeName: (id: string) => string): string {
  if ("node_id" in target) return nodeName(target.node_id);
  return "agent_id" in target ? target.agent_id : "all agents of the run";
}
