import type { PausedPlace } from "../events/control-events";
import type { InstructionTarget } from "./instructions";

/** Where a run was paused, as the end of a sentence that begins with "paused"; `nodeName` gives a node's name. */
export function describePausedPlace(place: PausedPlace, nodeName: (id: string) => string): string {
  const { point, node_id, agent_id, tool, key, iteration } = place;
  const node = node_id === undefined ? "a node" : nodeName(node_id);
  const who = agent_id ?? node;
  switch (point) {
    case "anywhere":
      return "where it was";
    case "node_start":
      return `before ${node}`;
    case "node_end":
      return `after ${node}`;
    case "llm_call":
      return `before a model call of ${who}`;
    case "tool_call":
      return `before ${who} uses ${tool ?? "a tool"}`;
    case "handoff":
      return `where the work is handed to ${who}`;
    case "error":
      return `where ${who} failed`;
    case "state_write":
      return `where ${key === undefined ? "the state" : `"${key}"`} was written`;
    case "loop_iteration":
      return `at round ${iteration ?? 1} of ${node}`;
    case "edge":
      return `on the way to ${node}`;
    default:
      return point satisfies never;
  }
}

/** Whom an instruction is for, as a part of a sentence. */
export function describeTarget(target: InstructionTarget, nodeName: (id: string) => string): string {
  if ("node_id" in target) return nodeName(target.node_id);
  return "agent_id" in target ? target.agent_id : "everybody in the run";
}
