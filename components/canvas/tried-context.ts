import { createContext, useContext, useSyncExternalStore } from "react";

/** What a card shows of its node having been tried out beside the drawing. */
export interface CardTry {
  isPinned: boolean;
  status: "running" | "waiting" | "completed" | "failed" | "pinned";
  /** What came of it, in one line. */
  said: string;
  /** Why that may not hold any more. */
  stale: string | null;
}

/** The getter answers the same object until it changes. */
export interface CanvasTries {
  subscribe(listener: () => void): () => void;
  node(nodeId: string): CardTry | undefined;
}

/** Absent where nothing is tried out. */
export const TriesContext = createContext<CanvasTries | null>(null);

const never = () => () => undefined;

export function useCardTry(nodeId: string): CardTry | undefined {
  const tries = useContext(TriesContext);
  return useSyncExternalStore(
    tries?.subscribe ?? never,
    () => tries?.node(nodeId),
    () => undefined,
  );
}
