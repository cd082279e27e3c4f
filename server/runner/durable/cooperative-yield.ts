import { setImmediate } from "node:timers/promises";

/** Max time that a run in simulated time may block the thread, in milliseconds. */
const AT_A_TIME_MS = 15;

/**
 * Yields the thread now and then during a run that never waits for external results. The timing has no effect on the
 * run.
 */
export class CooperativeYield {
  private since = performance.now();

  /** Whether others have waited long enough. */
  get isDue(): boolean {
    return performance.now() - this.since > AT_A_TIME_MS;
  }

  /** Yields, then continues with `next`. */
  async before<T>(next: () => T | Promise<T>): Promise<T> {
    await setImmediate();
    this.since = performance.now();
    return next();
  }
}
