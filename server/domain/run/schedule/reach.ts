import type { Analysis } from "@/server/domain/graph/analysis";
import type { RunState } from "..";
import type { NewEvent } from "../events";

/**
 * Nodes that no active node can reach anymore, starting at edges that weren't taken. For display only: the scheduler
 * doesn't need it.
 */
export function unreachable(a: Analysis, s: RunState, candidates: readonly string[]): NewEvent[] {
  const events: NewEvent[] = [];
  const seen = new Set<string>();
  const open = [...candidates];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (seen.has(id)) continue;
    seen.add(id);
    if ((s.nodes[id]?.status ?? "idle") !== "idle" || s.parked.has(id)) continue;
    if (canReach(a, s, id)) continue;
    events.push({ type: "node_skipped", node_id: id, payload: { reason: "unreachable" } });
    for (const edge of a.outgoing.get(id) ?? []) open.push(edge.target_node_id);
  }
  return events;
}

/** Whether a node is active or can still be reached. */
export const isAhead = (a: Analysis, s: RunState, id: string): boolean =>
  s.work.has(id) || s.parked.has(id) || canReach(a, s, id);

function canReach(a: Analysis, s: RunState, target: string): boolean {
  for (const id of s.work.keys()) if (a.downstream(id).has(target)) return true;
  for (const id of s.parked) if (a.downstream(id).has(target)) return true;
  return false;
}
