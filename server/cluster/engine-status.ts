import {
  AWAY_TOLD_AFTER_MS,
  type EngineState,
  type RunPlace,
  type WorkerState,
} from "@/server/domain/run/engine-state";
import type { StretchStore } from "@/server/store/stretches";
import type { Dispatcher } from "./dispatcher";
import type { Invocation } from "./engine-client";

/** How often the engine is asked what it has, in milliseconds. */
const LOOK_EVERY_MS = 15_000;

interface EngineStatusOptions {
  kind: EngineState["kind"];
  dispatcher: Pick<Dispatcher, "outbox" | "reconcile" | "isConfigured">;
  stretches: Pick<StretchStore, "all" | "place">;
  /** The workers of which something was heard lately. */
  workers: () => WorkerState[];
  now?: () => number;
}

/** Who carries out runs and how that stands, put together for people. */
export class EngineStatus {
  private known: Invocation[] = [];
  private looking: ReturnType<typeof setInterval> | null = null;

  constructor(private readonly options: EngineStatusOptions) {}

  /** Looks at the engine from time to time, and begins anew what it lost. */
  start(): void {
    if (!this.options.dispatcher.isConfigured || this.looking) return;
    this.looking = setInterval(() => void this.look(), LOOK_EVERY_MS);
    this.looking.unref();
  }

  stop(): void {
    if (this.looking) clearInterval(this.looking);
  }

  async look(): Promise<void> {
    try {
      this.known = await this.options.dispatcher.reconcile();
    } catch {
      // The outbox says since when it does not answer; what was known is older than that.
      this.known = [];
    }
  }

  state(): EngineState {
    const { kind, stretches, dispatcher } = this.options;
    const { waiting, oldest_at, fault } = dispatcher.outbox();
    const workers = this.options.workers();
    const at_work = stretches.all().length;
    const message = kind === "embedded" && at_work === 0 ? null : this.amiss(workers, waiting);
    return {
      kind,
      ok: message === null,
      message,
      workers,
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
    const nameOf = (id: string | null) =>
      id === null ? null : (this.options.workers().find((one) => one.id === id)?.name ?? id);
    const isAway = !dispatcher.isConfigured || (!place.is_posted && dispatcher.outbox().fault !== null);
    return {
      state: isAway ? "engine_away" : worker === null ? "waits_for_worker" : "at_work",
      worker: nameOf(worker),
      moved_from: nameOf(moved_from),
      moved_at,
    };
  }

  /** What is amiss, in words; null where nothing is, or not for long. */
  private amiss(workers: readonly WorkerState[], waiting: number): string | null {
    const now = (this.options.now ?? Date.now)();
    const { fault } = this.options.dispatcher.outbox();
    if (fault && now - fault.since > AWAY_TOLD_AFTER_MS)
      return `${fault.message} ${waiting === 0 ? "" : "Runs keep their place and go on once it does."}`.trim();
    if (workers.some(({ state }) => state === "working")) return null;
    return "No worker is there to carry out runs: start one with npm run worker.";
  }
}

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
