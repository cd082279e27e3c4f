import { createContext } from "react";
import { createStore, type StoreApi } from "zustand";

interface Hover {
  edgeId: string | null;
  enter(edgeId: string): void;
  leave(edgeId: string): void;
}

/** Which edge is pointed at. Leaving is slow, so that the pointer can travel from the line to the buttons on it. */
export function newHover(): StoreApi<Hover> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return createStore<Hover>()((set, get) => ({
    edgeId: null,
    enter(edgeId) {
      clearTimeout(timer);
      set({ edgeId });
    },
    leave(edgeId) {
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (get().edgeId === edgeId) set({ edgeId: null });
      }, 220);
    },
  }));
}

export const HoverContext = createContext<StoreApi<Hover>>(newHover());
