import { createContext } from "react";
import { createStore, type StoreApi } from "zustand";

interface Hover {
  edgeId: string | null;
  enter(edgeId: string): void;
  leave(edgeId: string): void;
}

/** Longer than passing over it takes. */
const STAY_MS = 300;
/** Time for the pointer to travel from the line to the buttons beside it. */
const TRAVEL_MS = 400;

/** Which edge is pointed at, and not only passed over. */
export function newHover(): StoreApi<Hover> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return createStore<Hover>()((set, get) => ({
    edgeId: null,
    enter(edgeId) {
      clearTimeout(timer);
      if (get().edgeId !== edgeId) timer = setTimeout(() => set({ edgeId }), STAY_MS);
    },
    leave(edgeId) {
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (get().edgeId === edgeId) set({ edgeId: null });
      }, TRAVEL_MS);
    },
  }));
}

export const HoverContext = createContext<StoreApi<Hover>>(newHover());
