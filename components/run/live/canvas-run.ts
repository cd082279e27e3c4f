import type {
  CanvasRun,
  EdgeRunView,
  NodePeek,
  NodeRunView,
  RunParts,
} from "@/components/canvas/canvas-run-context";
import { runParts } from "@/components/canvas/run-parts";
import { endOfText } from "@/components/display/one-line";
import { defined } from "@/server/domain/base/defined";
import { must } from "@/server/domain/base/must";
import { isCrewNode } from "@/server/domain/nodes";
import type { RunState } from "@/server/domain/run";
import { resultLine } from "../node/route";
import { describeCost } from "./paid";
import type { RunView, RunViewStore } from "./run-view-store";

/** Characters of streamed text on a card: about two lines. */
const PEEK = 48;
/** How much of an output a card keeps, in characters; more than it shows, for its tooltip. */
const MAX_SUMMARY_LENGTH = 280;

/**
 * A run for the canvas: returns the same object until something changes for that node or edge. `isHeld`: the run is
 * quarantined, which no event reports. `Inside`: the content of open cards; without it none opens.
 */
export function newCanvasRun(store: RunViewStore, isHeld = false, Inside?: RunParts["Inside"]): CanvasRun {
  const nodes = new Map<string, { from: readonly unknown[]; view: NodeRunView }>();
  const edges = new Map<string, { from: unknown; view: EdgeRunView }>();
  const peeks = new Map<string, NodePeek>();

  return {
    parts: { ...runParts, ...defined({ Inside }) },
    subscribe: (listener) => store.view.subscribe(listener),

    node(id) {
      const { state } = store.view.getState();
      const node = state.nodes[id];
      if (!node) return undefined;
      const activation = node.activation === undefined ? undefined : state.activations[node.activation];
      const isPaused = state.run.paused_at?.node_id === id;
      const known = nodes.get(id);
      if (known && known.from[0] === node && known.from[1] === activation && known.from[2] === isPaused)
        return known.view;
      const view = nodeView(state, node, activation, isHeld);
      if (isPaused) view.isPausedHere = true;
      nodes.set(id, { from: [node, activation, isPaused], view });
      return view;
    },

    edge(id) {
      const edge = store.view.getState().state.edges[id];
      if (!edge) return undefined;
      const known = edges.get(id);
      if (known?.from === edge) return known.view;
      const view = { status: edge.status, count: edge.count };
      edges.set(id, { from: edge, view });
      return view;
    },

    peek(id) {
      const peek = peekOf(store.view.getState(), id);
      const known = peeks.get(id);
      if (!peek || (known?.text === peek.text && known.who === peek.who)) return peek && known;
      peeks.set(id, peek);
      return peek;
    },
  };
}

function nodeView(
  { graph, run, calls }: RunState,
  node: RunState["nodes"][string],
  activation: RunState["activations"][string] | undefined,
  isHeld: boolean,
): NodeRunView {
  return {
    status: node.status,
    count: node.count,
    ...defined({ iteration: node.iteration, attempt: node.attempt }),
    ...(activation?.waiting
      ? { waiting: waitingFor(activation.waiting), ...defined({ isHeld: isHeld || undefined }) }
      : {}),
    ...defined({
      durationMs:
        activation?.started_at !== undefined && activation.finished_at !== undefined
          ? activation.finished_at - activation.started_at
          : undefined,
      error: activation?.error ? activation.error.message : undefined,
      summary: activation ? resultLine(graph, activation.node_id, activation, MAX_SUMMARY_LENGTH) : undefined,
      children: activation?.children,
      cost:
        activation && (activation.calls.length > 0 || activation.children)
          ? describeCost({ run, calls }, activation)
          : undefined,
    }),
  };
}

/** The deadline of a question isn't a time at which the node resumes. */
function waitingFor(waiting: { for: string; until?: number }): { for: string; until?: number } {
  return waiting.for === "human" ? { for: "your answer" } : waiting;
}

/** The end of what a model is writing for a node right now, and who writes it, where several may. */
function peekOf({ state, live, cursor }: RunView, nodeId: string): NodePeek | undefined {
  const node = state.nodes[nodeId];
  if (cursor !== null || node?.status !== "running" || node.activation === undefined) return undefined;
  const calls = state.activations[node.activation]?.calls ?? [];
  for (let at = calls.length - 1; at >= 0; at--) {
    const id = must(calls, at);
    const written = live[id]?.content || live[id]?.reasoning;
    const call = state.calls[id];
    if (!written && call?.status !== "running") continue;
    const who = isCrewNode(state.graph.nodes[nodeId]) ? call?.role_name : undefined;
    const text = endOfText(written ?? "", PEEK);
    if (who || text) return { ...defined({ who: who || undefined }), text };
  }
  return undefined;
}
