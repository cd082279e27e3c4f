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
import type { SegmentProgress } from "@/server/runner/lifecycle/segment-progress";
import { type Entry, NoEntry, Session } from "./session";
import type { Sessions } from "./sessions";

/** Soon enough that nobody notices, late enough that another worker is asked. */
const REASSIGN_MS = 100;
const HOUR = 3_600_000;

export interface ServiceNeeds {
  sessions: Sessions;
  /** New stretches are left to others while so many are at work. */
  maxRuns: number;
  /**
   * Takes up a stretch of which the engine keeps these entries and signals. An entry in its place is its end; null: it is not to
   * be carried on.
   */
  open(
    start: SegmentStart,
    entries: readonly Entry[],
    signals: readonly SentSignal[],
    abort: AbortSignal,
  ): Promise<Session | Entry | null>;
}

type Came = { entry: Entry | null } | { signal: SentSignal };

/** What a worker offers to the engine: to carry out a stretch, and to take a signal for it. */
export function newService(needs: ServiceNeeds) {
  const { sessions } = needs;
  return workflow({
    name: SERVICE,
    handlers: {
      run: async (ctx: WorkflowContext, start: SegmentStart): Promise<void> => {
        checkKey(ctx.key, start);
        const { attemptCompletedSignal: abort } = ctx.request();
        if (sessions.isDraining) throw leaveToOthers("This worker is stopping.");
        const entries: Entry[] = [];
        const signals: SentSignal[] = [];
        const taken: { session: Session | null } = { session: null };
        const reporter = sessions.reporter(ctx.key, abort);

        const open = async () => {
          if (!sessions.admits(ctx.key, entries, needs.maxRuns))
            throw new NoEntry("This worker has as many runs as it may.");
          const attempt = { key: ctx.key, entries, signal: abort };
          const opened = await sessions.open(attempt, () => needs.open(start, entries, signals, abort));
          if (!isSession(opened)) return opened;
          for (const [at, signal] of signals.entries()) opened.deliver(at + 1, signal);
          for (const [at, entry] of entries.entries()) opened.keep(at + 1, entry);
          return (taken.session = opened);
        };
        const nextEntry = async (): Promise<Entry | null> => {
          await reporter.room();
          const opened = taken.session ?? (await open());
          return isSession(opened) ? await opened.next() : opened;
        };
        const awaitSignal = (): RestatePromise<Came> =>
          ctx
            .promise<SentSignal>(`signal#${signals.length + 1}`)
            .get()
            .map((signal, failure): Came => {
              if (!signal) throw failure ?? new Error("A signal without a name came.");
              return { signal };
            });

        let nextSignal = awaitSignal();
        for (;;) {
          const nextKept = ctx
            .run("turns", () => orOtherWorker(nextEntry()))
            .map((entry, failure): Came => {
              if (failure) throw failure;
              return { entry: entry ?? null };
            });
          let kept: Entry | null | undefined;
          while (kept === undefined) {
            const came = await RestatePromise.race([nextKept, nextSignal]);
            if ("signal" in came) {
              signals.push(came.signal);
              taken.session?.deliver(signals.length, came.signal);
              nextSignal = awaitSignal();
            } else kept = came.entry;
          }
          if (kept === null) return;
          entries.push(kept);
          taken.session?.keep(entries.length, kept);
          reporter.add(entries.length, newsOf(start, kept), kept.chars);
          if (!kept.end) continue;
          // The engine has it until the server has.
          await ctx.run("told", () => orOtherWorker(reporter.done()));
          return sessions.drop(ctx.key);
        }
      },
      deliver: async (ctx: WorkflowSharedContext, signal: SegmentSignal): Promise<void> => {
        checkKey(ctx.key, signal);
        const { index, name, value } = signal;
        const promise = ctx.promise<SentSignal>(`signal#${index}`);
        if ((await promise.peek()) === undefined) await promise.resolve({ name, value });
      },
    },
    options: {
      // A stretch is at work as long as it lasts, so nobody is to think it idle; what waits for long is not in the engine.
      inactivityTimeout: 24 * HOUR,
      abortTimeout: 24 * HOUR,
      journalRetention: 0,
      workflowRetention: 10 * 60_000,
      onJournalMismatchErrors: "pause",
    },
  });
}

/** What was sealed for one stretch is not taken for another: the ingress has no login, and the journal can be read. */
function checkKey(key: string, { run_id, stretch }: Pick<SegmentStart, "run_id" | "stretch">): void {
  if (key !== segmentKey(run_id, stretch)) throw new TerminalError("This is the message of another stretch.");
}

const newsOf = ({ run_id, stretch }: SegmentStart, { worker, turns, end }: Entry): SegmentProgress => ({
  run_id,
  stretch,
  worker,
  turns,
  ...(end ? { end } : {}),
});

const isSession = (found: Session | Entry | null): found is Session => found instanceof Session;

/** What this worker is not to do any more is left to whichever the engine asks next. */
const orOtherWorker = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw error instanceof NoEntry ? leaveToOthers(error.message) : error;
  });

const leaveToOthers = (why: string) => new RetryableError(why, { retryAfter: REASSIGN_MS });
