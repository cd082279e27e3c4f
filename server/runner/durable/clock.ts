/** Where time comes from; a test brings its own. */
export interface Clock {
  /** The wall clock, Unix time in milliseconds. It may jump either way. */
  now(): number;
  /** Milliseconds since some moment; never goes back. On some systems it goes on while the machine sleeps. */
  monotonic(): number;
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** How often somebody has to look, so that a gap is one in which nothing was at work. */
export const CLOCK_CHECK_INTERVAL_MS = 2000;
const LONGEST_GAP_MS = 15_000;

/**
 * The time in which this process was at work, in milliseconds: it stands still while the machine sleeps and knows
 * nothing of a wall clock that is set. It must be read at least every LOOK_EVERY_MS while anything is measured by it.
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

/** A sleep of at most so long is measured in time at work alone: nobody waits for its instant. */
export const SHORT_MS = 60_000;
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** Waiting that can be given up. */
export interface Waiting {
  stop(): void;
}

/**
 * Waits `ms` milliseconds of work. With `dueAt`, an instant of the wall clock, a long wait is also over when that has
 * come: a machine that slept through it is not asked to wait again, and a clock that was set back holds nobody up.
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
