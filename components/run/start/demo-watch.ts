// Kept in this browser: the run that plays at the demo's slow pace, until a person skips one.
const KEY = "troupe.demo-watch";
const SKIPPED = "skipped";

const kept = (): string | null => {
  try {
    return localStorage.getItem(KEY);
  } catch {
    // Without storage there is no slow pace: a button that skips it would be lost with the page.
    return SKIPPED;
  }
};
const keep = (value: string): void => {
  try {
    localStorage.setItem(KEY, value);
  } catch {
    // A full or forbidden storage only costs the slow pace.
  }
};

/** Whether runs of the demo are to play slowly. */
export const playsSlowly = (): boolean => kept() !== SKIPPED;

/** This run plays slowly. */
export const watch = (runId: string): void => keep(runId);

export const isWatching = (runId: string): boolean => kept() === runId;

/** From here on, the demo answers at its usual speed. */
export const playFast = (): void => keep(SKIPPED);
