import type { ChildRun, RunState } from "@/server/domain/run";
import type { RunEvent } from "@/server/domain/run/events";
import { childKey } from "@/server/domain/run/state";

type Runs = Pick<RunState, "nodes" | "children">;

/** The run that the latest activation of a node started, for an item of a map. */
export function childOf({ nodes, children }: Runs, nodeId: string, item?: number): ChildRun | undefined {
  const activation = nodes[nodeId]?.activation;
  return activation === undefined ? undefined : children.get(childKey(activation, item));
}

/** The runs that an activation started, in order of items. */
export function childrenOf(
  { children }: Pick<RunState, "children">,
  activationId: string | undefined,
): ChildRun[] {
  return [...children.values()]
    .filter(({ activation_id }) => activation_id === activationId)
    .sort((a, b) => (a.item ?? 0) - (b.item ?? 0));
}

/** The run that a person most likely wants to see: one that is running, else one that failed, else the first. */
export function likelyChild(s: Runs, nodeId: string): ChildRun | undefined {
  const all = childrenOf(s, s.nodes[nodeId]?.activation);
  const first = (status: ChildRun["status"]) => all.find((child) => child.status === status);
  return first("running") ?? first("failed") ?? all[0];
}

/** The cursor that shows a run at a time (Unix milliseconds): the number of events by then, at least one. */
export function cursorAt(events: readonly Pick<RunEvent, "ts">[], time: number): number {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((events[middle]?.ts ?? 0) <= time) low = middle + 1;
    else high = middle;
  }
  return Math.max(1, low);
}

/** The page of a run whose workflow need not be known. */
export const runHref = (runId: string): string => `/runs/${runId}`;
