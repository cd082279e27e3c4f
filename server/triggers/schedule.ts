import { errorMessage } from "@/server/domain/base/guards";
import { decide, type FireDecision } from "@/server/domain/trigger/overlap";
import { CLOCK_CHECK_INTERVAL_MS } from "@/server/runner/durable/clock";
import type { HostLog } from "@/server/runner/lifecycle/host-log";
import type { StoredTriggerOf, TriggerStore } from "@/server/store/triggers/triggers";
import type { TriggerHost } from "./trigger-host";

type Schedule = StoredTriggerOf<"schedule">;

interface Parts {
  host: Pick<TriggerHost, "startFire" | "whenEnded">;
  store: Pick<
    TriggerStore,
    "find" | "ofKind" | "fire" | "openFires" | "openRuns" | "countFires" | "addFires"
  >;
  /** Cancels a run. Has no effect if it is already being cancelled. */
  cancel(runId: string, about: { by: string; reason: string }): void;
  /** The wall clock, Unix time in milliseconds. It may jump either way. */
  now?: () => number;
  log?: HostLog;
}

/** Maximum time that due schedules block the thread, in milliseconds. */
const SLICE_MS = 10;
const RETRY_MS = 1_000;

/**
 * Fires schedules at their planned times. Each decision depends only on stored state, and is recorded in one transaction with the
 * next planned time, so that the next process can continue whenever this one is killed.
 */
export class Schedules {
  /** When to decide each schedule, by trigger ID. */
  private readonly wakeAt = new Map<string, number>();
  private readonly now: () => number;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private isStarted = false;

  constructor(private readonly parts: Parts) {
    this.now = parts.now ?? Date.now;
    parts.host.whenEnded(({ trigger_id }) => {
      if (trigger_id !== null && this.wakeAt.has(trigger_id)) this.wake(trigger_id, 0);
    });
  }

  start(): void {
    this.isStarted = true;
    this.changed();
  }

  stop(): void {
    this.isStarted = false;
    if (this.timer) clearTimeout(this.timer);
  }

  /** Call after schedules were created, saved or deleted: decides all of them again. */
  changed(): void {
    if (!this.isStarted) return;
    this.wakeAt.clear();
    for (const { id } of this.parts.store.ofKind("schedule")) this.wakeAt.set(id, 0);
    this.arm();
  }

  /** Decides what is due. */
  check(): void {
    const end = performance.now() + SLICE_MS;
    for (const [id, at] of [...this.wakeAt]) {
      if (at > this.now()) continue;
      // Moves it to the end of the queue, so that one long backlog doesn't delay the others.
      this.wakeAt.delete(id);
      const wakeAt = this.attempt(id);
      if (wakeAt !== null) this.wakeAt.set(id, wakeAt);
      if (performance.now() > end) break;
    }
    this.arm();
  }

  private wake(id: string, at: number): void {
    this.wakeAt.set(id, at);
    this.arm();
  }

  private arm(): void {
    if (this.timer) clearTimeout(this.timer);
    if (!this.isStarted || this.wakeAt.size === 0) return;
    const wait = Math.min(...this.wakeAt.values()) - this.now();
    // Kept short, since the clock may change and the machine may sleep.
    this.timer = setTimeout(() => this.check(), Math.min(Math.max(wait, 0), CLOCK_CHECK_INTERVAL_MS));
    this.timer.unref();
  }

  private attempt(id: string): number | null {
    try {
      const trigger = this.parts.store.find(id);
      return trigger?.kind === "schedule" ? this.decide(trigger) : null;
    } catch (error) {
      const about = { trigger: id, error: errorMessage(error) };
      this.parts.log?.("error", "A schedule could not be continued; retrying.", about);
      return this.now() + RETRY_MS;
    }
  }

  /** Returns when to decide again. */
  private decide(trigger: Schedule): number {
    const { host, store, cancel } = this.parts;
    const { id, config, next_at } = trigger;
    const buffered = store.openFires("buffered", id);
    if (!trigger.enabled) {
      this.record(
        trigger,
        buffered.map(({ key, planned_at }) => ({
          ...{ key, planned_at, status: "skipped" },
          reason: "The schedule was disabled.",
        })),
        next_at,
      );
      return buffered.length > 0 ? this.now() : Number.POSITIVE_INFINITY;
    }
    const decision = decide(
      config,
      {
        ...{ id, next_at, buffered },
        open: store.openRuns(id),
        isStarting: store.countFires(id, "pending") > 0,
        has: (key) => store.fire(id, key) !== undefined,
      },
      this.now(),
    );
    for (const run of decision.cancel)
      cancel(run, { by: "schedule", reason: "The next planned time of its schedule arrived." });
    this.record(trigger, decision.fires, decision.next_at);
    const outcomes = decision.fires
      .filter(({ status }) => status === "pending")
      .map(({ key }) => host.startFire(trigger, key));
    // A run that failed to start won't end, so nothing would wake the waiting fires.
    if (outcomes.some(({ status }) => status === "failed") && buffered.length + decision.fires.length > 1)
      return this.now();
    return decision.wake_at ?? Number.POSITIVE_INFINITY;
  }

  private record({ id, next_at }: Schedule, fires: FireDecision[], nextAt: number | null): void {
    if (fires.length > 0 || nextAt !== next_at) this.parts.store.addFires(id, fires, nextAt);
  }
}
