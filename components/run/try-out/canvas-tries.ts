import { shallow } from "zustand/shallow";
import type { CanvasTries, CardTry } from "@/components/canvas/cards/tried-context";
import { resultLine } from "@/components/run/node/route";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { staleReason } from "./stale";
import { shownResult, type TryOutStore, type TryOuts } from "./try-out-store";

/** How much of an output a card shows. */
const MAX_SUMMARY_LENGTH = 200;

/** What a node's card shows of its last result; undefined if there is none. */
export function cardResult(all: TryOuts, graph: WorkflowGraph, id: string): CardTry | undefined {
  const shown = shownResult(all, id);
  if (!shown || !graph.nodes[id]) return undefined;
  const { from, result } = shown;
  const status = from === "pin" ? "completed" : result.status;
  return {
    from,
    status,
    summary: (from !== "pin" && result.error) || resultLine(graph, id, result, MAX_SUMMARY_LENGTH),
    stale:
      status === "running"
        ? null
        : ((from === "run" ? result.stale : null) ?? staleReason(id, result, graph, all)),
  };
}

/** What was tried out as the canvas wants it; `drawing` tells of changes of the drawing, which make outputs stale. */
export function newCanvasTries(
  store: TryOutStore,
  drawing: { graph: () => WorkflowGraph; subscribe: (listener: () => void) => () => void },
  { canTry, tryNode }: Pick<CanvasTries, "canTry" | "tryNode">,
): CanvasTries {
  const known = new Map<string, CardTry>();
  const madeOf = new Map<string, readonly unknown[]>();
  return {
    canTry,
    tryNode,
    subscribe(listener) {
      const stop = [store.subscribe(listener), drawing.subscribe(listener)];
      return () => {
        for (const end of stop) end();
      };
    },
    node(id) {
      const [all, graph] = [store.getState(), drawing.graph()];
      // Every card asks after each edit, most of which concern other nodes.
      const from = [all, graph.nodes[id], graph.edges];
      if (madeOf.get(id)?.every((part, at) => part === from[at])) return known.get(id);
      madeOf.set(id, from);
      const next = cardResult(all, graph, id);
      const before = known.get(id);
      if (!next) return void known.delete(id);
      if (before && shallow(before, next)) return before;
      known.set(id, next);
      return next;
    },
  };
}
