import { CLOCK_CHECK_INTERVAL_MS } from "@/server/runner/durable/clock";
import { ProgressReporter, type ProgressReporterOptions } from "./progress-reporter";
import { type Entry, NoEntry, Session } from "./session";

/** One of the engine's attempts at a segment. */
export interface Attempt {
  key: string;
  /** The segment's entries that the engine keeps. */
  entries: readonly Entry[];
  /** Aborted when the attempt is over, or its connection lost. */
  signal: AbortSignal;
}

/** How a segment continues whose attempt was lost. */
export interface Lingering {
  /** For how long, in milliseconds. */
  forMs: number;
  /** Whether no other worker has started it. Rejects if that is unknown. */
  isHeld(place: Session["place"]): Promise<boolean>;
}

/** How often to check that, in milliseconds. */
const ASK_EVERY_MS = 250;

interface Held {
  session: Session;
  attempt: AbortSignal;
  /** Expires if no attempt comes back. */
  dropping: ReturnType<typeof setTimeout> | undefined;
}

/**
 * The segments that run in this process. One whose attempt was lost stays for a while: if the engine was restarted or the
 * connection broke, the next attempt may come to the same worker.
 */
export class Sessions {
  private readonly held = new Map<string, Held>();
  private readonly looking: ReturnType<typeof setInterval>;
  private readonly reporters = new Map<string, ProgressReporter>();
  private draining = false;

  constructor(
    private readonly lingering: Lingering,
    private readonly reporterOptions: ProgressReporterOptions,
  ) {
    this.looking = setInterval(() => {
      for (const { session } of this.held.values()) session.checkClock();
    }, CLOCK_CHECK_INTERVAL_MS);
    this.looking.unref();
  }

  /** Segments that run here; one whose attempt was lost may run elsewhere by now. */
  get size(): number {
    let count = 0;
    for (const { dropping } of this.held.values()) if (dropping === undefined) count++;
    return count;
  }

  get steps(): number {
    let count = 0;
    for (const { session } of this.held.values()) count += session.steps;
    return count;
  }

  get isQuiet(): boolean {
    return this.held.size > 0 && [...this.held.values()].every(({ session }) => session.isQuiet);
  }

  get isDraining(): boolean {
    return this.draining;
  }

  has(key: string): boolean {
    return this.held.has(key);
  }

  /** The reporter of a segment, as long as it or an attempt at it is here. */
  reporter(key: string, attempt: AbortSignal): ProgressReporter {
    const reporter = this.reporters.get(key) ?? new ProgressReporter(this.reporterOptions);
    this.reporters.set(key, reporter);
    const leave = () => {
      if (!this.held.has(key) && this.reporters.get(key) === reporter) this.drop(key);
    };
    attempt.addEventListener("abort", leave, { once: true });
    if (attempt.aborted) leave();
    return reporter;
  }

  /**
   * Whether a segment may start here besides those that run. One that another worker had begun is always accepted: there
   * may be no other worker.
   */
  admits(key: string, entries: readonly Entry[], most: number): boolean {
    return entries.length > 0 || this.has(key) || this.size < most;
  }

  /** The session that continues the segment: the one here, if the engine keeps its entries, else what `begin` returns. */
  async open<Other>(
    { key, entries, signal }: Attempt,
    begin: () => Promise<Session | Other>,
  ): Promise<Session | Other> {
    const before = this.held.get(key);
    if (before?.session.made(entries)) {
      this.attach(key, before.session, signal);
      return before.session;
    }
    this.end(key);
    const session = await begin();
    if (!(session instanceof Session)) return session;
    // Another attempt may have started meanwhile, or this one may be over.
    if (signal.aborted || this.held.has(key) || this.draining) {
      session.drop();
      throw new NoEntry("This attempt at the segment has ended.");
    }
    this.attach(key, session, signal);
    session.begin();
    return session;
  }

  private attach(key: string, session: Session, attempt: AbortSignal): void {
    clearTimeout(this.held.get(key)?.dropping);
    const held: Held = { session, attempt, dropping: undefined };
    this.held.set(key, held);
    attempt.addEventListener("abort", () => this.detach(key, held), { once: true });
    if (attempt.aborted) this.detach(key, held);
  }

  private detach(key: string, held: Held): void {
    if (this.held.get(key) !== held) return;
    held.session.refuse(new NoEntry("The connection to the engine was lost."));
    if (this.draining) return this.drop(key);
    held.dropping = setTimeout(() => this.drop(key), this.lingering.forMs);
    held.dropping.unref();
    void this.watch(key, held);
  }

  /** Ends a segment whose attempt was lost as soon as another worker has it. */
  private async watch(key: string, held: Held): Promise<void> {
    const isLost = () => this.held.get(key) === held && held.dropping !== undefined;
    while (isLost()) {
      const isHeld = await this.lingering.isHeld(held.session.place).catch(() => true);
      if (!isHeld && isLost()) return this.drop(key);
      await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS).unref());
    }
  }

  /** Ends a segment here: its end is kept, or another worker has it. */
  drop(key: string): void {
    this.reporters.get(key)?.stop();
    this.reporters.delete(key);
    this.end(key);
  }

  /** Ends only the session: its kept entries are still reported. */
  private end(key: string): void {
    const held = this.held.get(key);
    if (!held) return;
    this.held.delete(key);
    clearTimeout(held.dropping);
    held.session.drop();
  }

  /**
   * Accepts no more work, lets running steps finish, for at most `ms`, and returns each segment once nothing runs: the
   * engine continues it elsewhere.
   */
  async drain(ms: number): Promise<void> {
    this.draining = true;
    const end = Date.now() + ms;
    for (const { session } of this.held.values()) session.freeze();
    while (this.held.size > 0 && Date.now() < end) {
      for (const [key, { session }] of this.held) if (session.isAtRest) this.giveBack(key);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    for (const key of [...this.held.keys()]) this.giveBack(key);
  }

  private giveBack(key: string): void {
    this.held.get(key)?.session.refuse(new NoEntry("This worker is stopping; another one continues."));
    this.drop(key);
  }

  close(): void {
    clearInterval(this.looking);
    for (const key of [...this.held.keys(), ...this.reporters.keys()]) this.drop(key);
  }
}
