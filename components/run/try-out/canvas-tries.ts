import type { CanvasTries, CardTry } from "@/components/canvas/tried-context";
import { resultLine } from "@/components/run/node/route";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { staleReason } from "./stale";
import type { TryOutStore } from "./try-out-store";

/** How much of an output a card shows. */
const SAID = 200;

/** What was tried out as the canvas wants it; `drawing` tells of changes of the drawing, which make outputs stale. */
export function newCanvasTries(
  store: TryOutStore,
  drawing: { graph: () => WorkflowGraph; subscribe: (listener: () => void) => () => void },
): CanvasTries {
  const known = new Map<string, CardTry>();
  const find = (id: string): CardTry | undefined => {
    const all = store.getState();
    const pin = all.pins[id];
    const tried = all.tries[id];
    const shown = pin ?? tried;
    if (!shown || !drawing.graph().nodes[id]) return undefined;
    return {
      isPinned: !!pin,
      status: pin ? "pinned" : (tried?.status ?? "completed"),
      said: (!pin && tried?.error) || resultLine(drawing.graph(), id, shown, SAID),
      stale: tried?.status === "running" && !pin ? null : staleReason(id, shown, drawing.graph(), all),
    };
  };
  return {
    subscribe(listener) {
      const stop = [store.subscribe(listener), drawing.subscribe(listener)];
      return () => {
        for (const end of stop) end();
      };
    },
    node(id) {
      const next = find(id);
      const before = known.get(id);
      if (!next) return void known.delete(id);
      if (
        before &&
        before.isPinned === next.isPinned &&
        before.status === next.status &&
        before.said === next.said &&
        before.stale === next.stale
      )
        return before;
      known.set(id, next);
      return next;
    },
  };
}
