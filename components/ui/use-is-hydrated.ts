import { useSyncExternalStore } from "react";

const never = () => () => {};

/**
 * Whether this part of the page may differ from what the server sent: false in the first render of hydration, true from
 * then on. Parts that are hydrated late find answers in the cache already that the server did not have.
 */
export const useIsHydrated = (): boolean =>
  useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
