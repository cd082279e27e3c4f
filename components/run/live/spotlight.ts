import type { RunView } from "./run-view-store";

/** The node to show: the newest running one, else the last one with an event. */
export function spotlightNode({ state, events }: RunView): string | null {
  let newest: { order: number; node: string } | null = null;
  for (const id of state.running) {
    const activation = state.activations[id];
    if (activation && (newest === null || activation.order > newest.order))
      newest = { order: activation.order, node: activation.node_id };
  }
  if (newest) return newest.node;
  for (let at = state.seq - 1; at >= 0 && at > state.seq - 40; at--) {
    const event = events[at];
    if (event?.type === "node_completed" || event?.type === "node_failed" || event?.type === "node_started")
      return event.node_id ?? null;
  }
  return null;
}
