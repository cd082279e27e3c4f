import { createContext, useContext, useSyncExternalStore } from "react";

/** How the breakpoint of a card or a line looks, and what it says. */
export interface BreakpointMark {
  /** `conditional`: it holds only sometimes; `disabled`: it holds nothing. */
  variant: "plain" | "conditional" | "disabled";
  /** In words, such as "Before Review, if state.n == 2". */
  text: string;
}

/**
 * The breakpoints of a drawing. The getters answer the same object until it changes; `subscribe` calls its listener after
 * any change.
 */
export interface CanvasBreakpoints {
  subscribe(listener: () => void): () => void;
  node(nodeId: string): BreakpointMark | undefined;
  edge(edgeId: string): BreakpointMark | undefined;
  /** Whether a card stands for a node that a run can hold at. */
  canHold(nodeId: string): boolean;
  toggle(place: { kind: "node" | "edge"; id: string }): void;
}

/** Absent where a drawing is only looked at. */
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
