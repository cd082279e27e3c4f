import { shallow } from "zustand/shallow";
import type { CanvasTries, CardTry } from "@/components/canvas/cards/tried-context";
import { resultLine } from "@/components/run/node/route";
import { isSameJson } from "@/server/domain/base/json";
import type { JsonObject } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { makeOf, shownResult, type TryOutStore, type TryOuts } from "./try-out-store";

interface Known {
  at: number;
  input: JsonObject;
  made_of: string;
}

/** Why the output of a node may be out of date; null if it isn't. */
export function staleReason(
  nodeId: string,
  one: Known,
  graph: WorkflowGraph,
  { pins, tries, last }: Pick<TryOuts, "pins" | "tries"> & Partial<TryOuts>,
): string | null {
  const node = graph.nodes[nodeId];
  if (!node) return null;
  if (makeOf(node) !== one.made_of) return "The node has been edited since";
  const newer = nodesBefore(graph, nodeId).flatMap((id) => {
    const known = [pins[id], tries[id]].flatMap((found) =>
      found?.output && found.at > one.at ? [found] : [],
    );
    const latest = known.toSorted((x, y) => y.at - x.at)[0];
    const before = last?.[id];
    // The same output again makes nothing stale.
    if (!latest || (before && before.at <= one.at && isSameJson(latest.output, before.output))) return [];
    return [{ id, output: latest.output ?? {} }];
  });
  for (const { output } of newer)
    for (const [key, value] of Object.entries(output))
      if (Object.hasOwn(one.input, key) && !isSameJson(one.input[key] ?? null, value))
        return `Its input ${key} has changed since`;
  const [first] = newer;
  return first ? `${graph.nodes[first.id]?.name || first.id}, an upstream node, has run again since` : null;
}

const sourcesOf = new WeakMap<WorkflowGraph["edges"], Map<string, string[]>>();

/** Every node from which a path leads to this one, nearest first. */
function nodesBefore({ edges }: WorkflowGraph, nodeId: string): string[] {
  let sources = sourcesOf.get(edges);
  if (!sources) {
    sources = new Map();
    for (const { source_node_id, target_node_id } of edges)
      sources.set(target_node_id, [...(sources.get(target_node_id) ?? []), source_node_id]);
    sourcesOf.set(edges, sources);
  }
  const found = new Set([nodeId]);
  for (const id of found) for (const before of sources.get(id) ?? []) found.add(before);
  return [...found].slice(1);
}

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

/** The outputs of single nodes for the canvas; `drawing` reports edits, which make outputs out of date. */
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
