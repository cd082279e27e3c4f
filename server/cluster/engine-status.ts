import { errorMessage } from "@/server/domain/base/guards";
import {
  AWAY_ALERT_AFTER_MS,
  type EngineState,
  type RunPlace,
  type WorkerState,
} from "@/server/domain/run/engine-state";
import type { SegmentStore } from "@/server/store/runs/segments";
import type { Dispatcher, OutboxState } from "./dispatcher";
import type { Invocation } from "./engine-client";
import { workerNameOf } from "./worker/worker-id";

/** How often the engine is asked what it has, in milliseconds; sooner if it didn't answer. */
const CHECK_INTERVAL_MS = 15_000;
const CHECK_RETRY_MS = 2_000;

interface EngineStatusOptions {
  kind: EngineState["kind"];
  dispatcher: Pick<Dispatcher, "outbox" | "ping" | "reconcile" | "isConfigured" | "runs">;
  segments: Pick<SegmentStore, "place">;
  /** The workers that were heard from lately. */
  workers: () => WorkerState[];
  now?: () => number;
}

/** Who executes runs, and its state, as shown to people. */
export class EngineStatus {
  private known: Invocation[] = [];
  /** Since when it doesn't answer a check, and why; the outbox tracks its own messages. */
  private silence: OutboxError | null = null;
  /** Why it doesn't say what it has, although it accepts messages. */
  private unreported: string | null = null;
  private checkTimer: ReturnType<typeof setTimeout> | null = null;
  private isStopped = false;

  constructor(private readonly options: EngineStatusOptions) {}

  /** Checks the engine from time to time, and restarts what it lost. */
  start(): void {
    if (!this.options.dispatcher.isConfigured || this.checkTimer) return;
    this.scheduleCheck(CHECK_RETRY_MS);
  }

  stop(): void {
    if (this.checkTimer) clearTimeout(this.checkTimer);
    this.isStopped = true;
  }

  /** Asks the engine whether it runs, and what it has. Never throws. */
  async check(): Promise<void> {
    const { dispatcher } = this.options;
    // What it had is unknown until it answers again.
    this.known = [];
    this.unreported = null;
    try {
      await dispatcher.ping();
      this.silence = null;
    } catch (error) {
      this.silence = { since: this.silence?.since ?? this.now(), message: errorMessage(error) };
      return;
    }
    try {
      this.known = await dispatcher.reconcile();
    } catch (error) {
      this.unreported = errorMessage(error);
    }
  }

  state(): EngineState {
    const { kind, dispatcher } = this.options;
    const { waiting, oldest_at, error: outboxError } = dispatcher.outbox();
    const workers = this.options.workers();
    const running = dispatcher.runs().length;
    const error =
      this.silence && (!outboxError || this.silence.since < outboxError.since) ? this.silence : outboxError;
    const isConcerned = kind === "restate" || running > 0;
    const is_away = isConcerned && error !== null && this.now() - error.since > AWAY_ALERT_AFTER_MS;
    const message = is_away
      ? describeOutage(error, running)
      : isConcerned
        ? this.describeError(workers)
        : null;
    return {
      kind,
      ok: message === null,
      message,
      is_away,
      workers: workers.filter((one) => !isReplaced(one, workers)),
      at_work: running,
      outbox: { waiting, oldest_at, away_since: error?.since ?? null },
      troubled: this.known.flatMap((invocation) => stalledInvocation(invocation) ?? []),
    };
  }

  /** Where a run executes elsewhere; null if it doesn't. */
  place(runId: string): RunPlace | null {
    const { segments, dispatcher } = this.options;
    const place = segments.place(runId);
    if (!place) return null;
    const { worker, moved_from, moved_at } = place;
    const workers = this.options.workers();
    const nameOf = (id: string | null) =>
      id === null ? null : (workers.find((one) => one.id === id)?.name ?? workerNameOf(id));
    const isAway =
      !dispatcher.isConfigured ||
      this.silence !== null ||
      (!place.is_posted && dispatcher.outbox().error !== null);
    const isGone = worker === null || workers.find(({ id }) => id === worker)?.state === "gone";
    return {
      state: isAway ? "engine_away" : isGone ? "waits_for_worker" : "at_work",
      worker: nameOf(worker),
      moved_from: nameOf(moved_from),
      moved_at,
    };
  }

  /** The problem of an engine that answers, as text; null if there is none. */
  private describeError(workers: readonly WorkerState[]): string | null {
    if (!workers.some(({ state }) => state === "working"))
      return "No worker is available. Start one with npm run worker.";
    return this.unreported && `${this.unreported} Stalled runs can't be listed.`;
  }

  private scheduleCheck(ms: number): void {
    this.checkTimer = setTimeout(() => {
      void this.check().then(() => {
        if (!this.isStopped) this.scheduleCheck(this.silence ? CHECK_RETRY_MS : CHECK_INTERVAL_MS);
      });
    }, ms);
    this.checkTimer.unref();
  }

  private now(): number {
    return (this.options.now ?? Date.now)();
  }
}

/** Whether it was restarted: then the new process represents it. */
const isReplaced = (worker: WorkerState, all: readonly WorkerState[]): boolean =>
  worker.state === "gone" &&
  all.some(({ name, seen_at }) => name === worker.name && seen_at > worker.seen_at);

type OutboxError = NonNullable<OutboxState["error"]>;

const describeOutage = ({ message }: OutboxError, activeCount: number) =>
  activeCount === 0
    ? message
    : `${message} Runs keep their position and continue when the engine is available again.`;

/** The segments that the engine fails to start. */
function stalledInvocation({
  run_id,
  status,
  retries,
  failure,
}: Invocation): EngineState["troubled"][number] | null {
  if (status !== "paused" && status !== "backing-off") return null;
  return {
    run_id,
    state: status === "paused" ? "paused" : "tried_again",
    tries: retries,
    cause: describeCause(failure ?? ""),
  };
}

function describeCause(failure: string): string {
  if (/RT0016|journal mismatch/i.test(failure))
    return "It needs a worker with the Troupe version it started with.";
  if (/RT0010|RT0013|RT0014|connect|connection|unreachable|no endpoint/i.test(failure))
    return "No worker was reachable.";
  return failure.split("\n", 1)[0]?.slice(0, 300) || "The engine gave no reason.";
}
