import type { RunEvent } from "../events";
import { writtenKeys } from "./key-history";

/** By what one goes through a run: every event, every turn of an agent, or every start of a node. */
export type StepUnit = "event" | "turn" | "node";

/** What one looks for in a run: a key of the state, a node, or an agent. */
export type Sought = { kind: "key" | "node" | "agent"; name: string };

const BEGINS: Readonly<Record<Exclude<StepUnit, "event">, readonly RunEvent["type"][]>> = {
  turn: ["iteration_started"],
  node: ["node_started", "node_skipped"],
};
/** Where every way of stepping stops, too. */
const ALWAYS: readonly RunEvent["type"][] = ["run_finished"];

/** Whether a step of this size ends at an event. */
export const isStop = (event: RunEvent, unit: StepUnit): boolean =>
  unit === "event" || BEGINS[unit].includes(event.type) || ALWAYS.includes(event.type);

/** The next stop after or before an event; null if there is none. The first and the last event are stops. */
export function nextStop(
  events: readonly RunEvent[],
  from: number,
  unit: StepUnit,
  direction: 1 | -1,
): number | null {
  const found = search(events, from, direction, (event) => isStop(event, unit));
  if (found !== null) return found;
  const end = direction === 1 ? events.length : 1;
  return events.length === 0 || end === from ? null : end;
}

/** The next event behind another or before it that writes the key, or is about the node or the agent. */
export const nextOccurrence = (
  events: readonly RunEvent[],
  from: number,
  sought: Sought,
  direction: 1 | -1,
): number | null => search(events, from, direction, (event) => isOccurrence(event, sought));

/** Whether an event writes the key, begins or ends a node's part, or is a word of the agent. */
export function isOccurrence(event: RunEvent, { kind, name }: Sought): boolean {
  if (kind === "key") return writtenKeys(event).includes(name);
  if (kind === "node") return event.node_id === name && NODE_MOMENTS.has(event.type);
  return event.agent_id === name && AGENT_MOMENTS.has(event.type);
}

const NODE_MOMENTS: ReadonlySet<RunEvent["type"]> = new Set([
  "node_started",
  "node_completed",
  "node_failed",
  "node_skipped",
  "node_cancelled",
  "node_waiting",
]);
const AGENT_MOMENTS: ReadonlySet<RunEvent["type"]> = new Set([
  "agent_started",
  "llm_call_completed",
  "llm_call_failed",
  "tool_call_started",
  "agent_finished",
]);

/** Events are numbered from 1 without gaps, so their places are known. */
function search(
  events: readonly RunEvent[],
  from: number,
  direction: 1 | -1,
  fits: (event: RunEvent) => boolean,
): number | null {
  for (let at = from - 1 + direction; at >= 0 && at < events.length; at += direction) {
    const event = events[at];
    if (event && fits(event)) return event.seq;
  }
  return null;
}
