import { onceReachable } from "@/components/trpc";

/**
 * Parts of a page that load when they are first used wait for the server if it is away: their loader hears of the error only
 * when the server is reachable, and then tries once more. Otherwise, the error page would replace the page, and unsaved
 * changes would be lost. Returns a function that stops this.
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
