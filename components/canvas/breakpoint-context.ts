import { createContext, useContext, useSyncExternalStore } from "react";

/** The variant and text of a breakpoint on a card or an edge. */
export interface BreakpointMark {
  /** `conditional`: pauses only sometimes; `disabled`: never. */
  variant: "plain" | "conditional" | "disabled";
  /** As text: "Before Review, if state.n == 2". */
  text: string;
}

/**
 * The breakpoints on a canvas. The getters return the same object until it changes; `subscribe` calls its listener after
 * any change.
 */
export interface CanvasBreakpoints {
  subscribe(listener: () => void): () => void;
  node(nodeId: string): BreakpointMark | undefined;
  edge(edgeId: string): BreakpointMark | undefined;
  /** Whether a run can pause at the node of a card. */
  canHold(nodeId: string): boolean;
  toggle(place: { kind: "node" | "edge"; id: string }): void;
}

/** Absent on read-only canvases. */
export const BreakpointsContext = createContext<CanvasBreakpoints | null>(null);

export const useBreakpoints = (): CanvasBreakpoints | null => useContext(BreakpointsContext);

const never = () => () => undefined;

export function useBreakpointMark(kind: "node" | "edge", id: string): BreakpointMark | undefined {
  const breakpoints = useContext(BreakpointsContext);
  return useSyncExternalStore(
    breakpoints?.subscribe ?? never,
    () => breakpoints?.[kind](id),
    () => undefined,
  );
}
