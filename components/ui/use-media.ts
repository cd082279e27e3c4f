import { useSyncExternalStore } from "react";

/** Whether a media query holds; `onServer` is the answer where there is no screen. */
export function useMedia(query: string, onServer = false): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = matchMedia(query);
      media.addEventListener("change", listener);
      return () => media.removeEventListener("change", listener);
    },
    () => matchMedia(query).matches,
    () => onServer,
  );
}

/** A phone: too narrow for a drawing that can be read. */
export const NARROW = "(max-width: 47.99rem)";
