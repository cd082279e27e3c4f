// Kept in this browser: the run that a person watches at the demo's slow pace, and that they have watched one.
const KEY = "troupe.demo-watch";
const WATCHED = "watched";

const kept = (): string | null => {
  try {
    return localStorage.getItem(KEY);
  } catch {
    // Without storage there is no slow pace: a button that skips it would be lost with the page.
    return WATCHED;
  }
};
const keep = (value: string): void => {
  try {
    localStorage.setItem(KEY, value);
  } catch {
    // A full or forbidden storage only costs the slow pace.
  }
};

/** Whether runs of the demo are to play slowly: until one was watched to its end, or skipped. */
export const playsSlowly = (): boolean => kept() !== WATCHED;

/** This run plays slowly. */
export const watch = (runId: string): void => keep(runId);

export const isWatching = (runId: string): boolean => kept() === runId;

/** From here on, the demo answers at its usual speed. */
export const endWatch = (): void => keep(WATCHED);
