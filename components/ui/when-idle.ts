/**
 * Runs work once the page is loaded and idle: for what is not needed yet, but should be ready when it is.
 * Returns a function that cancels it.
 */
export function whenIdle(work: () => void): () => void {
  let isOff = false;
  const start = () => {
    if (isOff) return;
    // Safari has no requestIdleCallback.
    if (typeof requestIdleCallback === "function")
      requestIdleCallback(() => isOff || work(), { timeout: 3_000 });
    else setTimeout(() => isOff || work(), 300);
  };
  if (document.readyState === "complete") start();
  else window.addEventListener("load", start, { once: true });
  return () => {
    isOff = true;
    window.removeEventListener("load", start);
  };
}

/** Like whenIdle, but after `ms` milliseconds, so that the page's main content comes first. */
export function whenSettled(work: () => void, ms: number): () => void {
  let callOff = () => {};
  const timer = setTimeout(() => {
    callOff = whenIdle(work);
  }, ms);
  return () => {
    clearTimeout(timer);
    callOff();
  };
}
