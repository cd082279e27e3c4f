import { onceReachable } from "@/components/trpc";

/**
 * Delays errors of scripts until the server is reachable, so that the loader's one retry succeeds and a lazily loaded dialog opens
 * late. Otherwise, the error page would replace the page, and unsaved changes would be lost. Returns a function that stops this.
 */
export function keepLoadingScripts(): () => void {
  const onError = (event: Event) => {
    const script = event.target;
    if (!event.isTrusted || !(script instanceof HTMLScriptElement)) return;
    event.stopImmediatePropagation();
    onceReachable(() => script.dispatchEvent(new Event("error")));
  };
  window.addEventListener("error", onError, { capture: true });
  return () => window.removeEventListener("error", onError, { capture: true });
}
