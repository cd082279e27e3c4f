import { errorMessage } from "@/server/domain/base/guards";
import {
  AWAY_TOLD_AFTER_MS,
  type EngineState,
  type RunPlace,
  type WorkerState,
} from "@/server/domain/run/engine-state";
import type { StretchStore } from "@/server/store/stretches";
import type { Dispatcher, OutboxState } from "./dispatcher";
import type { Invocation } from "./engine-client";
import { workerNameOf } from "./worker-id";

/** How often the engine is asked what it has, in milliseconds; sooner where it did not answer. */
const LOOK_EVERY_MS = 15_000;
const LOOK_AGAIN_MS = 2_000;

interface EngineStatusOptions {
  kind: EngineState["kind"];
  dispatcher: Pick<Dispatcher, "outbox" | "ping" | "reconcile" | "isConfigured" | "runs">;
  stretches: Pick<StretchStore, "place">;
  /** The workers of which something was heard lately. */
  workers: () => WorkerState[];
  now?: () => number;
}

/** Who carries out runs and how that stands, put together for people. */
export class EngineStatus {
  private known: Invocation[] = [];
  /** Since when it does not answer a look, and why; the outbox knows of what it was told itself. */
  private silence: Fault | null = null;
  /** Why it does not say what it has, though it takes in what it is told. */
  private untold: string | null = null;
  private looking: ReturnType<typeof setTimeout> | null = null;
  private isStopped = false;

  constructor(private readonly options: EngineStatusOptions) {}

  /** Looks at the engine from time to time, and begins anew what it lost. */
  start(): void {
    if (!this.options.dispatcher.isConfigured || this.looking) return;
    this.lookIn(LOOK_AGAIN_MS);
  }

  stop(): void {
    if (this.looking) clearTimeout(this.looking);
    this.isStopped = true;
  }

  /** Asks the engine whether it is there, and what it has. Never throws. */
  async look(): Promise<void> {
    const { dispatcher } = this.options;
    // Of what it was known to have, nothing is said until it answers again.
    this.known = [];
    this.untold = null;
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
      this.untold = errorMessage(error);
    }
  }

  state(): EngineState {
    const { kind, dispatcher } = this.options;
    const { waiting, oldest_at, fault: told } = dispatcher.outbox();
    const workers = this.options.workers();
    const at_work = dispatcher.runs().length;
    const fault = this.silence && (!told || this.silence.since < told.since) ? this.silence : told;
    const isConcerned = kind === "restate" || at_work > 0;
    const is_away = isConcerned && fault !== null && this.now() - fault.since > AWAY_TOLD_AFTER_MS;
    const message = is_away ? awayWords(fault, at_work) : isConcerned ? this.amiss(workers) : null;
    return {
      kind,
      ok: message === null,
      message,
      is_away,
      workers: workers.filter((one) => !isReplaced(one, workers)),
      at_work,
      outbox: { waiting, oldest_at, away_since: fault?.since ?? null },
      troubled: this.known.flatMap((invocation) => troubleOf(invocation) ?? []),
    };
  }

  /** Where a run is at work elsewhere; null where it is not. */
  place(runId: string): RunPlace | null {
    const { stretches, dispatcher } = this.options;
    const place = stretches.place(runId);
    if (!place) return null;
    const { worker, moved_from, moved_at } = place;
    const workers = this.options.workers();
    const nameOf = (id: string | null) =>
      id === null ? null : (workers.find((one) => one.id === id)?.name ?? workerNameOf(id));
    const isAway =
      !dispatcher.isConfigured ||
      this.silence !== null ||
      (!place.is_posted && dispatcher.outbox().fault !== null);
    const isGone = worker === null || workers.find(({ id }) => id === worker)?.state === "gone";
    return {
      state: isAway ? "engine_away" : isGone ? "waits_for_worker" : "at_work",
      worker: nameOf(worker),
      moved_from: nameOf(moved_from),
      moved_at,
    };
  }

  /** What is amiss of an engine that answers, in words; null where nothing is. */
  private amiss(workers: readonly WorkerState[]): string | null {
    if (!workers.some(({ state }) => state === "working"))
      return "No worker is there to carry out runs: start one with npm run worker.";
    return this.untold && `${this.untold} So it is not known which runs the engine cannot get on with.`;
  }

  private lookIn(ms: number): void {
    this.looking = setTimeout(() => {
      void this.look().then(() => {
        if (!this.isStopped) this.lookIn(this.silence ? LOOK_AGAIN_MS : LOOK_EVERY_MS);
      });
    }, ms);
    this.looking.unref();
  }

  private now(): number {
    return (this.options.now ?? Date.now)();
  }
}

/** Whether it was started again: that one stands for it. */
const isReplaced = (worker: WorkerState, all: readonly WorkerState[]): boolean =>
  worker.state === "gone" &&
  all.some(({ name, seen_at }) => name === worker.name && seen_at > worker.seen_at);

type Fault = NonNullable<OutboxState["fault"]>;

const awayWords = ({ message }: Fault, atWork: number) =>
  atWork === 0 ? message : `${message} Runs keep their place and go on once it does.`;

/** Of what the engine tries in vain. */
function troubleOf({ run_id, status, retries, failure }: Invocation): EngineState["troubled"][number] | null {
  if (status !== "paused" && status !== "backing-off") return null;
  return {
    run_id,
    state: status === "paused" ? "paused" : "tried_again",
    tries: retries,
    cause: causeInWords(failure ?? ""),
  };
}

function causeInWords(failure: string): string {
  if (/RT0016|journal mismatch/i.test(failure)) return "It needs the version of Troupe that it began with.";
  if (/RT0010|RT0013|RT0014|connect|connection|unreachable|no endpoint/i.test(failure))
    return "No worker could be reached.";
  return failure.split("\n", 1)[0]?.slice(0, 300) || "The engine does not say why.";
}
