import { errorMessage, listOf, recordOf } from "@/server/domain/base/guards";
import { isPassing } from "@/server/domain/base/transient-error";
import type { JsonObject } from "@/server/domain/base/values";
import { Rejection } from "@/server/domain/errors/rejection";
import type { RunTrigger } from "@/server/domain/run/events";
import type { StartedBy } from "@/server/domain/run/started-by";
import { isOpenToOthers, MAX_FAILURES, type TriggerKind } from "@/server/domain/trigger/trigger";
import { LIMITS } from "@/server/limits";
import type { HostLog } from "@/server/runner/lifecycle/host-log";
import type { Launch } from "@/server/runner/lifecycle/launch";
import type { Watchers } from "@/server/runner/log/followers";
import type { RunStore, RunSummary } from "@/server/store/runs/runs";
import type { NewFire, WholeFire } from "@/server/store/triggers/fires";
import type { StoredTrigger, TriggerStore } from "@/server/store/triggers/triggers";

/** The result of a fire. `pending`: it is recorded, and its run starts when the server has room for it. */
export type FireOutcome =
  | { status: "started"; run_id: string; created: boolean }
  | { status: "pending" }
  | { status: "failed"; error: Rejection };

interface Parts {
  store: TriggerStore;
  runs: Pick<RunStore, "find">;
  watchers: Pick<Watchers, "watch">;
  startRun(launch: Launch): { run_id: string; created: boolean } | undefined;
  /** Redacts secrets, as in the input of any run. */
  redact?: <T>(value: T) => T;
  log?: HostLog;
}

/** Delay before pending fires are retried. */
const RETRY_MS = 1_000;
/** Maximum number of runs started at a time, so that a long backlog blocks nothing else. */
const BATCH = 20;

const RUN_TRIGGERS: Readonly<Record<TriggerKind, RunTrigger & StartedBy["kind"]>> = {
  webhook: "webhook",
  schedule: "schedule",
  form: "form",
  workflow: "event",
};

/**
 * Starts the runs of triggers, each exactly once. A fire is recorded before its run starts under a unique key, so that after a
 * crash, the next process finds either the run or the fire without one.
 */
export class TriggerHost {
  private readonly onEnd = new Set<(run: RunSummary) => void>();
  private readonly waiting = new Set<{ runId: string; wake: () => void }>();
  private stopWatching: (() => void) | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor(private readonly parts: Parts) {
    this.whenEnded(({ trigger_id }) => {
      if (trigger_id !== null) this.countFailures(trigger_id);
    });
  }

  /** Calls back for every run that ends from now on, once its end is stored. */
  whenEnded(callback: (run: RunSummary) => void): void {
    this.onEnd.add(callback);
  }

  /** Starts watching runs. */
  start(): void {
    this.stopWatching ??= this.parts.watchers.watch(({ run_id, status }) => {
      // After the turn that ends the run.
      if (status === "finished") setImmediate(() => this.ended(run_id));
    });
  }

  stop(): void {
    this.stopWatching?.();
    this.stopWatching = null;
    if (this.timer) clearTimeout(this.timer);
    for (const { wake } of this.waiting) wake();
  }

  /** After a start: starts the runs of pending fires, and counts failures of runs that ended while the server was down. */
  recover(): void {
    this.startPending();
    for (const { id } of this.parts.store.enabled()) this.countFailures(id);
  }

  /** Records a fire and starts its run. If the fire is already recorded, starts its run unless it has one. */
  fire(trigger: StoredTrigger, fire: NewFire): FireOutcome {
    const { store, redact } = this.parts;
    store.addFire(trigger.id, redact ? { ...fire, input: redact(fire.input) } : fire);
    return this.startFire(trigger, fire.key);
  }

  /** Starts the run of a recorded fire, unless it has one. */
  startFire(trigger: StoredTrigger, key: string): FireOutcome {
    const fire = this.parts.store.fire(trigger.id, key);
    if (!fire) throw new Rejection("not_found", "This fire doesn't exist.");
    return fire.run_id === null
      ? this.launch(trigger, fire)
      : { status: "started", run_id: fire.run_id, created: false };
  }

  /** Starts the run of a failed or missed fire. Throws Rejection. */
  retry(trigger: StoredTrigger, key: string): FireOutcome {
    const fire = this.parts.store.fire(trigger.id, key);
    if (fire && fire.status !== "failed" && fire.status !== "missed")
      throw new Rejection("not_now", "Only a failed or missed fire can be started again.", {
        status: fire.status,
      });
    return this.startFire(trigger, key);
  }

  /** Waits for a run to end, up to `ms` milliseconds; false if it hasn't, or if too many requests wait already. */
  async untilEnd(runId: string, ms: number, signal?: AbortSignal): Promise<boolean> {
    const isOver = () => this.parts.runs.find(runId)?.status === "finished";
    if (isOver() || signal?.aborted || this.waiting.size >= LIMITS.hooks.waiting) return isOver();
    const { promise, resolve: wake } = Promise.withResolvers<void>();
    const waiter = { runId, wake };
    this.waiting.add(waiter);
    const timer = setTimeout(wake, ms);
    signal?.addEventListener("abort", () => wake(), { once: true });
    await promise;
    clearTimeout(timer);
    this.waiting.delete(waiter);
    return isOver();
  }

  /** Counts failed fires in a row, which disable a trigger or are reported. */
  countFailures(id: string): void {
    const reason = `${MAX_FAILURES} fires in a row failed.`;
    this.parts.store.countFailures(id, MAX_FAILURES, reason);
  }

  private ended(runId: string): void {
    for (const waiter of this.waiting) if (waiter.runId === runId) waiter.wake();
    const run = this.parts.runs.find(runId);
    if (run)
      for (const callback of this.onEnd) {
        try {
          callback(run);
        } catch (error) {
          const about = { run_id: runId, error: errorMessage(error) };
          this.parts.log?.("error", "Triggers could not process the end of a run.", about);
        }
      }
  }

  private launch(trigger: StoredTrigger, fire: WholeFire): FireOutcome {
    const { store, startRun, log } = this.parts;
    const { key, is_test } = fire;
    // The current one, since the trust is also that of the current settings.
    const input = trigger.kind === "schedule" && !is_test ? trigger.config.input : fire.input;
    try {
      const started = startRun({
        workflow_id: trigger.workflow_id,
        input,
        version: "published",
        trigger: is_test ? "test" : RUN_TRIGGERS[trigger.kind],
        origin: startedBy(trigger, fire),
        idempotency_key: `trigger:${trigger.id}:${key}`,
      });
      if (!started) throw new Rejection("not_found", "Its workflow was deleted.");
      store.setFire(trigger.id, key, { status: "started", run_id: started.run_id });
      return { status: "started", ...started };
    } catch (error) {
      if (isForNow(error)) {
        store.setFire(trigger.id, key, { status: "pending", reason: errorMessage(error) });
        this.startPendingIn(RETRY_MS);
        return { status: "pending" };
      }
      if (!(error instanceof Rejection)) {
        const about = { trigger: trigger.id, error: errorMessage(error) };
        log?.("error", "A trigger could not start a run.", about);
      }
      const rejection = error instanceof Rejection ? error : NOT_STARTED;
      const status = isFailure(trigger, fire, rejection) ? "failed" : "skipped";
      store.setFire(trigger.id, key, { status, reason: rejection.message });
      this.countFailures(trigger.id);
      return { status: "failed", error: rejection };
    }
  }

  private startPendingIn(ms: number): void {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      this.startPending();
    }, ms);
    this.timer.unref();
  }

  private startPending(): void {
    const { store, log } = this.parts;
    try {
      const fires = store.openFires("pending", undefined, BATCH);
      for (const { trigger_id, key } of fires) {
        const trigger = store.find(trigger_id);
        if (trigger && this.startFire(trigger, key).status === "pending") return;
        if (!trigger)
          store.setFire(trigger_id, key, { status: "skipped", reason: "Its trigger was deleted." });
      }
      if (fires.length === BATCH) this.startPendingIn(0);
    } catch (error) {
      log?.("warn", "Pending fires could not be started; retrying.", { error: errorMessage(error) });
      this.startPendingIn(RETRY_MS);
    }
  }
}

/** Whether the reason is temporary. */
const isForNow = (error: unknown): boolean =>
  isPassing(error) ||
  (error instanceof Rejection && ["queue_full", "busy", "storage_full"].includes(error.code));

const NOT_STARTED = new Rejection("internal", "The run couldn't start because of an internal error.");

/**
 * Whether an error counts as a failure of the trigger. Others can send what the workflow refuses, and a workflow in the trash
 * may be restored.
 */
const isFailure = ({ kind }: StoredTrigger, { input }: WholeFire, error: Rejection): boolean =>
  error.code !== "not_found" && !(isOpenToOthers(kind) && isAbout(input, error));

/** Whether an error is about a given input. */
const isAbout = (input: JsonObject, { code, details }: Rejection): boolean =>
  code === "invalid_input" &&
  listOf(details?.errors).some((error) => Object.hasOwn(input, String(recordOf(error).key)));

/** The origin of a trigger's runs, which says which input is trusted. `fire`: absent for a new one. */
export function startedBy(
  trigger: StoredTrigger,
  {
    at = trigger.updated_at,
    depth = 0,
    is_test = false,
  }: Partial<Pick<WholeFire, "at" | "depth" | "is_test">> = {},
): StartedBy {
  const { config } = trigger;
  // A person who trusts an input means what comes from then on.
  const isLater = at >= trigger.updated_at;
  const keys = "trusted_keys" in config && isLater ? config.trusted_keys : undefined;
  // Whoever saved a schedule wrote its input; a test can have another one.
  const isOwn = trigger.kind === "schedule" && trigger.by.startsWith("session:") && (isLater || !is_test);
  return {
    kind: RUN_TRIGGERS[trigger.kind],
    id: trigger.id,
    ...(isOwn ? { trusted: true as const } : keys && keys.length > 0 ? { trusted: keys } : {}),
    ...(depth > 0 && { depth }),
  };
}
