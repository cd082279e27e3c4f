import {
  RestatePromise,
  RetryableError,
  TerminalError,
  type WorkflowContext,
  type WorkflowSharedContext,
  workflow,
} from "@restatedev/restate-sdk";
import { SERVICE, segmentKey } from "@/server/cluster/engine-client";
import type { SegmentSignal, SegmentStart, SentSignal } from "@/server/cluster/protocol";
import { defined } from "@/server/domain/base/defined";
import type { SegmentProgress } from "@/server/runner/lifecycle/segment-progress";
import { type Entry, NoEntry, Session } from "./session";
import type { Sessions } from "./sessions";

/** Short enough not to be noticed, long enough for another worker to be asked. */
const REASSIGN_MS = 100;
const HOUR = 3_600_000;

export interface ServiceNeeds {
  sessions: Sessions;
  /** No new segments are accepted while this many run. */
  maxRuns: number;
  /**
   * Opens a segment with the entries and signals that the engine has kept. Returns an entry if the segment has ended,
   * null if it is not to be continued.
   */
  open(
    start: SegmentStart,
    entries: readonly Entry[],
    signals: readonly SentSignal[],
    abort: AbortSignal,
  ): Promise<Session | Entry | null>;
}

type Came = { entry: Entry | null } | { signal: SentSignal };

/** The handlers that a worker offers to the engine: run a segment, and deliver a signal to it. */
export function newService(needs: ServiceNeeds) {
  return workflow({
    name: SERVICE,
    handlers: {
      run: async (ctx: WorkflowContext, start: SegmentStart): Promise<void> => {
        checkKey(ctx.key, start);
        if (needs.sessions.isDraining) throw leaveToOthers("This worker is stopping.");
        await new Attempt(needs, ctx, start).execute();
      },
      deliver: async (ctx: WorkflowSharedContext, signal: SegmentSignal): Promise<void> => {
        checkKey(ctx.key, signal);
        const { index, name, value } = signal;
        const promise = ctx.promise<SentSignal>(`signal#${index}`);
        if ((await promise.peek()) === undefined) await promise.resolve({ name, value });
      },
    },
    options: {
      // A running segment must not count as inactive; long waits are not in the engine.
      inactivityTimeout: 24 * HOUR,
      abortTimeout: 24 * HOUR,
      journalRetention: 0,
      workflowRetention: 10 * 60_000,
      onJournalMismatchErrors: "pause",
    },
  });
}

/** One attempt at a segment: its session produces entries, which the engine keeps and the server is told of. */
class Attempt {
  private readonly entries: Entry[] = [];
  private readonly signals: SentSignal[] = [];
  private readonly abort: AbortSignal;
  private readonly reporter: ReturnType<Sessions["reporter"]>;
  private session: Session | null = null;

  constructor(
    private readonly needs: ServiceNeeds,
    private readonly ctx: WorkflowContext,
    private readonly start: SegmentStart,
  ) {
    this.abort = ctx.request().attemptCompletedSignal;
    this.reporter = needs.sessions.reporter(ctx.key, this.abort);
  }

  async execute(): Promise<void> {
    const { ctx, start, needs, entries, signals, reporter } = this;
    let nextSignal = this.awaitSignal();
    for (;;) {
      const nextKept = ctx
        .run("turns", () => orOtherWorker(this.nextEntry()))
        .map((entry, failure): Came => {
          if (failure) throw failure;
          return { entry: entry ?? null };
        });
      let kept: Entry | null | undefined;
      while (kept === undefined) {
        const came = await RestatePromise.race([nextKept, nextSignal]);
        if ("signal" in came) {
          signals.push(came.signal);
          this.session?.deliver(signals.length, came.signal);
          nextSignal = this.awaitSignal();
        } else kept = came.entry;
      }
      if (kept === null) return;
      entries.push(kept);
      this.session?.keep(entries.length, kept);
      reporter.add(entries.length, newsOf(start, kept), kept.chars);
      if (!kept.end) continue;
      // The engine keeps the entries until the server has them.
      await ctx.run("told", () => orOtherWorker(reporter.done()));
      return needs.sessions.drop(ctx.key);
    }
  }

  private awaitSignal(): RestatePromise<Came> {
    return this.ctx
      .promise<SentSignal>(`signal#${this.signals.length + 1}`)
      .get()
      .map((signal, failure): Came => {
        if (!signal) throw failure ?? new Error("A signal without a name arrived.");
        return { signal };
      });
  }

  private async nextEntry(): Promise<Entry | null> {
    await this.reporter.room();
    const opened = this.session ?? (await this.open());
    return isSession(opened) ? await opened.next() : opened;
  }

  private async open(): Promise<Session | Entry | null> {
    const { needs, ctx, start, entries, signals, abort } = this;
    if (!needs.sessions.admits(ctx.key, entries, needs.maxRuns))
      throw new NoEntry("This worker is at its limit of runs.");
    const attempt = { key: ctx.key, entries, signal: abort };
    const opened = await needs.sessions.open(attempt, () => needs.open(start, entries, signals, abort));
    if (!isSession(opened)) return opened;
    for (const [at, signal] of signals.entries()) opened.deliver(at + 1, signal);
    for (const [at, entry] of entries.entries()) opened.keep(at + 1, entry);
    this.session = opened;
    return opened;
  }
}

/** Rejects a message that was sealed for another segment: the ingress has no login, and the journal can be read. */
function checkKey(key: string, { run_id, stretch }: Pick<SegmentStart, "run_id" | "stretch">): void {
  if (key !== segmentKey(run_id, stretch))
    throw new TerminalError("This message belongs to another segment.");
}

const newsOf = ({ run_id, stretch }: SegmentStart, { worker, turns, end }: Entry): SegmentProgress => ({
  run_id,
  stretch,
  worker,
  turns,
  ...defined({ end: end || undefined }),
});

const isSession = (found: Session | Entry | null): found is Session => found instanceof Session;

/** Work that this worker no longer accepts goes to the one that the engine asks next. */
const orOtherWorker = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw error instanceof NoEntry ? leaveToOthers(error.message) : error;
  });

const leaveToOthers = (why: string) => new RetryableError(why, { retryAfter: REASSIGN_MS });
