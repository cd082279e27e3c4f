import { useSyncExternalStore } from "react";

/** Whether a media query matches; `onServer` is the result on the server. */
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

/** A phone, too narrow for a readable canvas. */
export const NARROW = "(max-width: 47.99rem)";
