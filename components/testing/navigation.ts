import { useSyncExternalStore } from "react";

/** A stand-in for next/navigation without Next: the URL is that of the document, and nothing is fetched for it. */

const heard = new Set<() => void>();

/** Goes somewhere within the document, as a link or the router does. */
export function goTo(href: string): void {
  window.history.pushState(null, "", new URL(href, window.location.href));
  for (const listener of heard) listener();
}

const subscribe = (listener: () => void) => {
  heard.add(listener);
  return () => void heard.delete(listener);
};
const address = () => window.location.href;
const useAddress = () => new URL(useSyncExternalStore(subscribe, address, address));

const router = {
  push: goTo,
  replace: goTo,
  prefetch: () => {},
  refresh: () => {},
  back: () => window.history.back(),
  forward: () => window.history.forward(),
};
export const useRouter = () => router;
export const usePathname = () => useAddress().pathname;
export const useSearchParams = () => useAddress().searchParams;
