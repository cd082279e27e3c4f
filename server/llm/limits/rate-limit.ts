import { reasonOf } from "@/server/domain/base/guards";

/** Limits per minute; absent: none. */
export interface Rate {
  requests?: number | undefined;
  tokens?: number | undefined;
}

/** Admits a number of calls at once and per minute; the others wait in the order in which they were asked for. */
export interface RateLimiter {
  /**
   * Resolves with a function that frees the place; told the tokens that a call really used, it corrects what was
   * counted for it. `tokens`: an estimate of what the call will use. `begunAt`: when it was first asked for, in Unix
   * milliseconds, which may be long ago for one that was interrupted with its process; absent: now. Rejects with the
   * signal's reason.
   */
  enter(signal: AbortSignal, tokens?: number, begunAt?: number): Promise<(usedTokens?: number) => void>;
  /** Admits no calls until then; `untilMs` is Unix time. */
  coolDown(untilMs: number): void;
  /** `isFresh`: a minute's worth is available at once. Otherwise a rate that was raised fills up over time. */
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

/** Fills evenly, holds one minute's worth, and may be overdrawn by calls that used more than estimated. */
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
  /** Keeps its level, as far as it fits. */
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

export const newRateLimiter = (limit: number, now: () => number = Date.now): RateLimiter =>
  new QueuedLimiter(limit, now);

class QueuedLimiter implements RateLimiter {
  private active = 0;
  private admitted = 0;
  private closedUntil = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private requests: Bucket | undefined;
  private tokens: Bucket | undefined;
  private readonly queue: Waiter[] = [];

  constructor(
    private limit: number,
    private readonly now: () => number,
  ) {}

  get waiting(): number {
    return this.queue.length;
  }
  get inside(): number {
    return this.active;
  }
  get begun(): number {
    return this.admitted;
  }
  get closedForMs(): number {
    return Math.max(0, this.closedUntil - this.now());
  }

  enter(signal: AbortSignal, tokens = 0, begunAt = this.now()): Promise<(usedTokens?: number) => void> {
    const { queue } = this;
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(reasonOf(signal));
      const stop = () => {
        queue.splice(queue.indexOf(waiter), 1);
        reject(reasonOf(signal));
        // The next call may need fewer tokens.
        this.advance();
      };
      // A run's own time may be ahead of a clock that was set back.
      const askedAt = Math.min(begunAt, this.now());
      const waiter: Waiter = {
        askedAt,
        tokens,
        admit: () => {
          signal.removeEventListener("abort", stop);
          resolve(this.leaveOnce(tokens));
        },
      };
      signal.addEventListener("abort", stop, { once: true });
      const before = queue.findLastIndex((other) => other.askedAt <= askedAt);
      queue.splice(before + 1, 0, waiter);
      this.advance();
    });
  }

  coolDown(untilMs: number): void {
    this.closedUntil = Math.max(this.closedUntil, untilMs);
  }

  setLimit(limit: number, rate: Rate = {}, isFresh?: boolean): void {
    const { requests, tokens } = this;
    this.limit = limit;
    this.requests = this.bucketFor(rate.requests, requests, isFresh ?? rate.requests !== requests?.perMinute);
    this.tokens = this.bucketFor(rate.tokens, tokens, isFresh ?? rate.tokens !== tokens?.perMinute);
    this.advance();
  }

  private bucketFor(perMinute: number | undefined, known: Bucket | undefined, isFresh: boolean) {
    if (perMinute === known?.perMinute && !isFresh) return known;
    if (perMinute === undefined) return undefined;
    if (!known || isFresh) return new Bucket(perMinute, this.now(), isFresh);
    known.resize(perMinute, this.now());
    return known;
  }

  /** How long the next in the queue must wait whatever others do, in milliseconds. */
  private waitOf(next: Waiter): number {
    const now = this.now();
    return Math.max(
      this.closedUntil - now,
      this.requests?.waitFor(1, now) ?? 0,
      this.tokens?.waitFor(next.tokens, now) ?? 0,
    );
  }

  private advance(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (let next = this.queue[0]; next && this.active < this.limit; next = this.queue[0]) {
      const wait = this.waitOf(next);
      if (wait > 0) {
        this.timer = setTimeout(() => this.advance(), wait);
        return;
      }
      this.queue.shift();
      this.active++;
      this.admitted++;
      this.requests?.take(1, this.now());
      this.tokens?.take(next.tokens, this.now());
      next.admit();
    }
  }

  private leaveOnce(guessed: number) {
    let left = false;
    return (usedTokens?: number) => {
      if (left) return;
      left = true;
      this.active--;
      if (usedTokens !== undefined) this.tokens?.take(usedTokens - guessed, this.now());
      this.advance();
    };
  }
}
