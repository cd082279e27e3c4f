import { type ComponentType, createContext, useContext, useSyncExternalStore } from "react";
import type { Status } from "@/components/display/status-mark";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import type { ChildCounts, NodeStatus } from "@/server/domain/run";

export type { NodeStatus };

/** What a card shows of its node's part in a run. Replace the object when something in it changes. */
export interface NodeRunView {
  status: NodeStatus;
  /** How often it was activated in this run; shown as a badge from 2 on. */
  count: number;
  /** Which turn of its loop it is in. */
  iteration?: number;
  attempt?: number;
  /** While waiting: what for, and until when (ISO text or milliseconds since 1970). */
  waiting?: { for: string; until?: string | number };
  /** The run is quarantined: it does not resume automatically. */
  isHeld?: boolean;
  /** The run is paused, and here. */
  isPausedHere?: boolean;
  /** Of the latest activation. */
  durationMs?: number;
  error?: string;
  /** The output in one line. */
  summary?: string;
  /** How far it is with the runs and items that it started. */
  children?: ChildCounts;
  /** The cost as text; absent if it called no model. */
  cost?: string;
  /** When two runs are compared: the only one that reached this node. */
  only?: "a" | "b" | undefined;
}

/** The text being streamed for a node. */
export interface NodePeek {
  /** Who writes, where several may. */
  who?: string;
  /** The end of it, in one line. */
  text: string;
}

/** What a line shows of its edge's part in a run. */
export interface EdgeRunView {
  status: "idle" | "taken" | "skipped";
  count: number;
  /** When two runs are compared: the only one that took this edge. */
  only?: "a" | "b" | undefined;
}

/** What a run adds to each card; passed in, so that the editor doesn't load it. */
export interface RunParts {
  /** `isBrief`: only how far the node is, under a card that shows the rest inside. */
  Slip: ComponentType<{ node: WorkflowNode; run: NodeRunView; isBrief?: boolean }>;
  Status: ComponentType<{ status: Status }>;
  /** The content of a grown card, below its header. */
  Inside?: ComponentType<{ node: WorkflowNode }>;
}

/**
 * A run as the canvas sees it. The getters must answer the same object until it changes (cards compare by identity),
 * and `subscribe` calls its listener after any change. `peek` is apart, so that streaming text re-renders one line of one card.
 */
export interface CanvasRun {
  parts: RunParts;
  subscribe(listener: () => void): () => void;
  node(nodeId: string): NodeRunView | undefined;
  edge(edgeId: string): EdgeRunView | undefined;
  /** What a model is writing for this node, while it runs; the same object until it changes. */
  peek?(nodeId: string): NodePeek | undefined;
}

const NO_RUN: Omit<CanvasRun, "parts"> = {
  subscribe: () => () => undefined,
  node: () => undefined,
  edge: () => undefined,
};

/** The run that the canvas shows; by default none. */
export const CanvasRunContext = createContext<CanvasRun | null>(null);

/** What the run that the canvas shows says of a node; undefined without a run, and before the node was reached. */
export function useNodeRunView(nodeId: string): NodeRunView | undefined {
  const run = useContext(CanvasRunContext) ?? NO_RUN;
  return useSyncExternalStore(
    run.subscribe,
    () => run.node(nodeId),
    () => undefined,
  );
}

export function useEdgeRun(edgeId: string): EdgeRunView | undefined {
  const run = useContext(CanvasRunContext) ?? NO_RUN;
  return useSyncExternalStore(
    run.subscribe,
    () => run.edge(edgeId),
    () => undefined,
  );
}

export function useNodePeek(nodeId: string): NodePeek | undefined {
  const run: Omit<CanvasRun, "parts"> = useContext(CanvasRunContext) ?? NO_RUN;
  return useSyncExternalStore(
    run.subscribe,
    () => run.peek?.(nodeId),
    () => undefined,
  );
}

/** The parts of cards that tell of the run; null where the canvas shows none. */
export const useRunParts = (): RunParts | null => useContext(CanvasRunContext)?.parts ?? null;
