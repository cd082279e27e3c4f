// Stored in this browser: the run that plays at the demo's slow pace, until a person skips one.
const KEY = "troupe.demo-watch";
const SKIPPED = "skipped";

const kept = (): string | null => {
  try {
    return localStorage.getItem(KEY);
  } catch {
    // No slow pace without storage: the Skip button would not survive a reload.
    return SKIPPED;
  }
};
const keep = (value: string): void => {
  try {
    localStorage.setItem(KEY, value);
  } catch {
    // If storage is full or blocked, the run only loses its slow pace.
  }
};

/** Whether new demo runs should play slowly. */
export const playsSlowly = (): boolean => kept() !== SKIPPED;

/** Records that this run plays slowly. */
export const watch = (runId: string): void => keep(runId);

export const isWatching = (runId: string): boolean => kept() === runId;

/** From now on, the demo answers at its usual speed. */
export const playFast = (): void => keep(SKIPPED);
