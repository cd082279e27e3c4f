import { setImmediate } from "node:timers/promises";

/** How long a run in a time of its own keeps the thread from everybody else, in milliseconds. */
const AT_A_TIME_MS = 15;

/**
 * Lets others have the thread now and then while a run goes on that never waits for anything outside. When that is
 * changes nothing of what the run does.
 */
export class CooperativeYield {
  private since = performance.now();

  /** Whether others have waited long enough. */
  get isDue(): boolean {
    return performance.now() - this.since > AT_A_TIME_MS;
  }

  /** Lets them, and goes on with what is to be done then. */
  async before<T>(next: () => T | Promise<T>): Promise<T> {
    await setImmediate();
    this.since = performance.now();
    return next();
  }
}
