/** Where time comes from; a test brings its own. */
export interface Clock {
  /** The wall clock, Unix time in milliseconds. It may jump either way. */
  now(): number;
  /** Milliseconds since a fixed moment; never decreases. On some systems it includes sleep of the machine. */
  monotonic(): number;
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** Max interval between readings, so that a larger gap means that nothing ran. */
export const CLOCK_CHECK_INTERVAL_MS = 2000;
const LONGEST_GAP_MS = 15_000;

/**
 * The time during which this process ran, in milliseconds: it excludes sleep of the machine and ignores changes of the
 * wall clock. While it measures anything, read it at least every CLOCK_CHECK_INTERVAL_MS.
 */
export class WorkTime {
  private last: number;
  private total = 0;

  constructor(readonly clock: Clock = systemClock) {
    this.last = clock.monotonic();
  }

  read(): number {
    const now = this.clock.monotonic();
    const gap = now - this.last;
    this.last = now;
    if (gap > 0 && gap < LONGEST_GAP_MS) this.total += gap;
    return this.total;
  }
}

/** Sleeps up to this length are measured in work time alone: nobody waits for their due instant. */
export const SHORT_MS = 60_000;
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** Waiting that can be given up. */
export interface Waiting {
  stop(): void;
}

/**
 * Waits `ms` milliseconds of work time. With `dueAt`, a wall clock instant, a long wait also ends at that instant: a
 * machine that slept doesn't wait again, and a clock that was set back delays nothing.
 */
export function waitOut(time: WorkTime, ms: number, done: () => void, dueAt?: number): Waiting {
  const begun = time.read();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const check = () => {
    const left = ms - (time.read() - begun);
    const untilDue = dueAt === undefined || ms <= SHORT_MS ? left : Math.min(left, dueAt - time.clock.now());
    if (untilDue <= 0) return done();
    // Timers may count the time of a machine that sleeps or not, so a long one looks at the clock now and then.
    timer = setTimeout(
      check,
      Math.min(Math.ceil(untilDue), untilDue > SHORT_MS ? SHORT_MS : LONGEST_TIMEOUT_MS),
    );
  };
  check();
  return { stop: () => clearTimeout(timer) };
}
