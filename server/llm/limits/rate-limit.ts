import { reasonOf } from "@/server/domain/base/guards";

/** How much may go out in a minute; absent: any number. */
export interface Rate {
  requests?: number | undefined;
  tokens?: number | undefined;
}

/** Lets a number of calls through at once and in a minute; the others wait in the order in which they were asked for. */
export interface RateLimiter {
  /**
   * Resolves with a function that frees the place; told the tokens that a call really used, it corrects what was
   * counted for it. `tokens`: how many the call will use at a guess. `begunAt`: when it was asked for the first time, in Unix
   * milliseconds, which may be long ago for one that was cut with its process; absent: now. Rejects with the signal's reason.
   */
  enter(signal: AbortSignal, tokens?: number, begunAt?: number): Promise<(usedTokens?: number) => void>;
  /** Admits no calls until then; `untilMs` is Unix time. */
  coolDown(untilMs: number): void;
  /** `isFresh`: a minute's worth may go out at once. Otherwise a rate that was raised fills up over time. */
  setLimit(limit: number, rate?: Rate, isFresh?: boolean): void;
  readonly waiting: number;
  /** Calls in progress, and calls admitted so far. */
  readonly inside: number;
  readonly begun: number;
  /** How long it stays closed, in milliseconds. */
  readonly closedForMs: number;
}

interface Waiter {
  askedAt: number;
  tokens: number;
  admit(): void;
}

const MINUTE_MS = 60_000;

/** Fills evenly, holds one minute's worth, and may be overdrawn by what a call used more than it was thought to. */
class Bucket {
  private level: number;
  private filledAt: number;
  constructor(
    public perMinute: number,
    now: number,
    isFull: boolean,
  ) {
    this.level = isFull ? perMinute : 0;
    this.filledAt = now;
  }
  /** What was there stays, as far as it fits. */
  resize(perMinute: number, now: number) {
    this.fill(now);
    this.perMinute = perMinute;
    this.level = Math.min(this.level, perMinute);
  }
  private fill(now: number) {
    // A clock that was set back must not empty the bucket.
    const gained = (Math.max(0, now - this.filledAt) * this.perMinute) / MINUTE_MS;
    this.level = Math.min(this.perMinute, this.level + gained);
    this.filledAt = now;
  }
  /** Milliseconds until this amount is available; a request for more than a minute's worth waits for a full bucket. */
  waitFor(amount: number, now: number): number {
    this.fill(now);
    const missing = Math.min(amount, this.perMinute) - this.level;
    return missing <= 0 ? 0 : Math.ceil((missing * MINUTE_MS) / this.perMinute);
  }
  /** A negative amount gives back. */
  take(amount: number, now: number) {
    this.fill(now);
    this.level = Math.min(this.perMinute, this.level - amount);
  }
}

export function newRateLimiter(limit: number, now: () => number = Date.now): RateLimiter {
  let most = limit;
  let inside = 0;
  let begun = 0;
  let closedUntil = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let requests: Bucket | undefined;
  let tokens: Bucket | undefined;
  const queue: Waiter[] = [];

  const bucketFor = (perMinute: number | undefined, known: Bucket | undefined, isFresh: boolean) => {
    if (perMinute === known?.perMinute && !isFresh) return known;
    if (perMinute === undefined) return undefined;
    if (!known || isFresh) return new Bucket(perMinute, now(), isFresh);
    known.resize(perMinute, now());
    return known;
  };

  /** How long the next in the queue must wait whatever others do, in milliseconds. */
  const waitOf = (next: Waiter): number =>
    Math.max(closedUntil - now(), requests?.waitFor(1, now()) ?? 0, tokens?.waitFor(next.tokens, now()) ?? 0);

  const advance = () => {
    clearTimeout(timer);
    timer = undefined;
    for (let next = queue[0]; next && inside < most; next = queue[0]) {
      const wait = waitOf(next);
      if (wait > 0) {
        timer = setTimeout(advance, wait);
        return;
      }
      queue.shift();
      inside++;
      begun++;
      requests?.take(1, now());
      tokens?.take(next.tokens, now());
      next.admit();
    }
  };
  const leaveOnce = (guessed: number) => {
    let left = false;
    return (usedTokens?: number) => {
      if (left) return;
      left = true;
      inside--;
      if (usedTokens !== undefined) tokens?.take(usedTokens - guessed, now());
      advance();
    };
  };

  return {
    enter(signal, guessed = 0, begunAt = now()) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(reasonOf(signal));
        const stop = () => {
          queue.splice(queue.indexOf(waiter), 1);
          reject(reasonOf(signal));
          // Whoever is next may want less.
          advance();
        };
        // A run's own time may be ahead of a clock that was set back.
        const askedAt = Math.min(begunAt, now());
        const waiter: Waiter = {
          askedAt,
          tokens: guessed,
          admit() {
            signal.removeEventListener("abort", stop);
            resolve(leaveOnce(guessed));
          },
        };
        signal.addEventListener("abort", stop, { once: true });
        const before = queue.findLastIndex((other) => other.askedAt <= askedAt);
        queue.splice(before + 1, 0, waiter);
        advance();
      });
    },
    coolDown(untilMs) {
      closedUntil = Math.max(closedUntil, untilMs);
    },
    setLimit(next, rate = {}, isFresh) {
      most = next;
      requests = bucketFor(rate.requests, requests, isFresh ?? rate.requests !== requests?.perMinute);
      tokens = bucketFor(rate.tokens, tokens, isFresh ?? rate.tokens !== tokens?.perMinute);
      advance();
    },
    get waiting() {
      return queue.length;
    },
    get inside() {
      return inside;
    },
    get begun() {
      return begun;
    },
    get closedForMs() {
      return Math.max(0, closedUntil - now());
    },
  };
}
