import type { Disk } from "@/db/disk";
import { errorMessage } from "@/server/domain/base/guards";
import { isPassing } from "@/server/domain/base/transient-error";
import { dropped } from "@/server/domain/run/commands/command";
import type { RunEvent, RunEventOf } from "@/server/domain/run/events";
import { heldMessage, type QuarantineReason, SettingsDamaged } from "@/server/domain/run/quarantine";
import type { RunProgress, RunStore } from "@/server/store/runs/runs";
import type { Clock } from "../durable/clock";
import { ReplayMismatch } from "../durable/known-turns";
import type { Followers, Watchers } from "../log/followers";
import { type LogWriter, TRY_AGAIN_MS, Unwritable } from "../log/log-writer";
import { asError, internalError, isMarked } from "../node/internal-error";
import type { HostLog } from "./host-log";
import type { LiveRuns } from "./live-runs";

type Finished = RunEventOf<"run_finished">["payload"];

interface Parts {
  store: Pick<RunStore, "find" | "hold" | "lastTurn" | "setProgress" | "untaken">;
  writer: Pick<LogWriter, "append">;
  disk?: Disk | undefined;
  live: LiveRuns;
  followers: Followers;
  watchers: Watchers;
  clock: Clock;
  log?: HostLog | undefined;
  /** A run was ended without being computed any further. */
  ended(runId: string): void;
}

/** What becomes of runs that are not computed any further: held with a reason, or ended as they are. */
export class RunEndings {
  constructor(private readonly parts: Parts) {}

  /** The interpreter gave up: the run is closed with the reason, or held where another version may carry it on. */
  async broke(runId: string, cause: unknown): Promise<void> {
    if (cause instanceof ReplayMismatch) return this.hold(runId, "log_differs", errorMessage(cause));
    if (cause instanceof SettingsDamaged) return this.hold(runId, "settings_damaged", errorMessage(cause));
    const error = internalError(asError(cause), "This run could not continue");
    this.parts.log?.("error", "A run could not continue.", {
      run_id: runId,
      ...(isMarked(error.detail) ? error.detail : { error: errorMessage(cause) }),
    });
    await this.end(runId, {
      final_status: "ERROR",
      reason_code: "INTERNAL",
      output: {},
      warnings: [],
      error: cause instanceof Unwritable ? { ...error, user_action: "edit_graph" } : error,
    });
  }

  /** Quarantines a run, with the reason, until then or until a person tries it again or cancels it. Never throws. */
  hold(runId: string, code: QuarantineReason["code"], message: string, retryAfterMs?: number): void {
    const { store, log, clock, watchers } = this.parts;
    log?.("warn", "A run was quarantined.", { run_id: runId, reason: message });
    try {
      const at = clock.now();
      const retry = retryAfterMs === undefined ? {} : { retry_at: at + retryAfterMs };
      const reason = heldMessage(code, message, retryAfterMs !== undefined);
      if (!store.hold(runId, { code, message: reason, at, ...retry })) return;
    } catch (error) {
      if (isPassing(error)) setTimeout(() => this.hold(runId, code, message, retryAfterMs), TRY_AGAIN_MS);
      else log?.("error", "The quarantine of a run could not be recorded.", { error: errorMessage(error) });
      return;
    }
    const workflow_id = store.find(runId)?.workflow_id ?? null;
    watchers.notify({ run_id: runId, workflow_id, status: "held", final_status: null });
  }

  /** Ends a run without computing it any further: it keeps its log, with this as its last event. Never throws. */
  async end(runId: string, payload: Finished): Promise<void> {
    const { store, live, followers, watchers, log, clock } = this.parts;
    try {
      const row = store.find(runId);
      if (!row || row.status === "finished") return;
      const { held: _, ...rest } = row;
      const progress: RunProgress = {
        ...rest,
        status: "finished",
        final_status: payload.final_status,
        reason_code: payload.reason_code,
        finished_at: clock.now(),
        outcome_text: payload.error?.message ?? "",
        waits_for: null,
      };
      const events = await this.endLog(runId, payload, progress);
      if (events) followers.send(runId, { kind: "events", events });
      const { final_status } = payload;
      watchers.notify({ run_id: runId, workflow_id: row.workflow_id, status: "finished", final_status });
      if (!live.has(runId)) followers.send(runId, { kind: "end" });
      this.parts.ended(runId);
    } catch (error) {
      log?.("error", "A run could not be finished.", { run_id: runId, error: errorMessage(error) });
    }
  }

  /** Answers the events; null where the log is so damaged that only the row of the run can say it. */
  private async endLog(runId: string, payload: Finished, progress: RunProgress): Promise<RunEvent[] | null> {
    const { store, writer, disk, log } = this.parts;
    try {
      const last = store.lastTurn(runId);
      const at = Math.max(last.at, progress.finished_at ?? 0);
      const late = store.untaken(runId).map(dropped);
      const warnings = [...payload.warnings, ...late.map((warning) => warning.payload.message)];
      // Only a person cancels a run that is not computed.
      const id = payload.final_status === "CANCELLED" ? { command_id: "cancel" } : {};
      const finished = { type: "run_finished" as const, payload: { ...payload, warnings }, ...id };
      const events = [...late, finished].map(
        (event, k): RunEvent => ({ ...event, seq: last.lastSeq + 1 + k, ts: at }),
      );
      await writer.append({
        runId,
        turn: last.turn + 1,
        key: "$ended",
        result: { ok: true, value: null },
        at,
        lastSeq: last.lastSeq + events.length,
        inlined: 0,
        events,
        timers: [],
        progress,
      });
      await disk?.sync();
      return events;
    } catch (error) {
      log?.("warn", "The log of a run is damaged; only its row says how it finished.", {
        run_id: runId,
        error: errorMessage(error),
      });
      store.setProgress(runId, progress);
      return null;
    }
  }
}
