import { createContext, useContext, useSyncExternalStore } from "react";

/** The last result of a node, for its card in the editor. */
export interface CardTry {
  /** A pinned output, a run of the node alone, or a run of the workflow. */
  from: "pin" | "try" | "run";
  status: "running" | "waiting" | "completed" | "failed";
  /** The result in one line. */
  summary: string;
  /** Why it may be out of date. */
  stale: string | null;
}

/** The getter answers the same object until it changes. */
export interface CanvasTries {
  subscribe(listener: () => void): () => void;
  node(nodeId: string): CardTry | undefined;
  canTry(nodeId: string): boolean;
  /** Runs this node alone with its last inputs. */
  tryNode(nodeId: string): void;
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
