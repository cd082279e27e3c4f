import { errorMessage } from "@/server/domain/base/guards";
import { DamagedLog, type QuarantineReason } from "@/server/domain/run/quarantine";
import type { RunStore } from "@/server/store/runs/runs";
import type { WorkTime } from "../durable/clock";
import { Unwritable } from "../log/log-writer";
import type { SentTurn, TurnRecorder } from "../log/record-turns";
import type { LiveRuns } from "./live-runs";
import type { LiveRun, RemoteEngine } from "./remote-engine";
import type { RunEndings } from "./run-endings";
import type { RunExecutor } from "./run-executor";

/** How a stretch came to its end. */
export type SegmentEnd =
  /** The run rests or has ended; what it was sent up to `signals` (of all, from the run's first) was taken in. */
  | { kind: "rested"; signals: number }
  | { kind: "held"; code: QuarantineReason["code"]; message: string }
  /** The interpreter failed: the run ends with an internal error. */
  | { kind: "broke"; name: string; message: string; stack?: string; edit_graph?: boolean };

/** What a stretch tells the server: the turns since its last message, and perhaps its end. */
export interface SegmentProgress {
  run_id: string;
  stretch: number;
  worker: string;
  turns: SentTurn[];
  end?: SegmentEnd;
}

interface Parts {
  remoteEngine: RemoteEngine;
  store: Pick<RunStore, "find" | "lastTurn">;
  turns: Pick<TurnRecorder, "recordRemote">;
  endings: Pick<RunEndings, "broke" | "hold">;
  live: LiveRuns;
  runs: Pick<RunExecutor, "start" | "left" | "release" | "startQueued">;
  time: WorkTime;
}

/** What workers tell of the runs that they carry out. */
export class SegmentReceiver {
  constructor(private readonly parts: Parts) {}

  /** Resolves once it is in the log and was published. What came before, or is of a stretch that is over, changes nothing. */
  async receive(news: SegmentProgress): Promise<void> {
    const { remoteEngine, store, turns: recorder, endings, runs } = this.parts;
    const { run_id, stretch, turns, end } = news;
    if (remoteEngine.activeSegment(run_id) !== stretch) return;
    remoteEngine.heard(run_id, stretch, news.worker);
    try {
      const last = store.lastTurn(run_id).turn;
      await recorder.recordRemote(
        run_id,
        turns.filter(({ turn }) => turn > last),
      );
      runs.release(run_id);
      if (end) await this.endSegment(news, end);
    } catch (error) {
      const isDamage = error instanceof DamagedLog;
      if (!isDamage && !(error instanceof Unwritable)) throw error;
      this.leave(run_id, stretch);
      runs.left(run_id);
      if (isDamage) endings.hold(run_id, "damaged_log", errorMessage(error));
      else await endings.broke(run_id, error);
    }
  }

  private async endSegment({ run_id, stretch }: SegmentProgress, end: SegmentEnd): Promise<void> {
    const { remoteEngine, store, endings, live, runs, time } = this.parts;
    const run = this.leave(run_id, stretch);
    if (end.kind !== "rested") {
      if (end.kind === "held") endings.hold(run_id, end.code, end.message);
      else await endings.broke(run_id, errorOf(end));
      return runs.left(run_id);
    }
    const row = store.find(run_id);
    const workflowId = run?.workflowId ?? row?.workflow_id ?? null;
    // What it was sent while it came to rest is taken in by its next stretch.
    if (remoteEngine.signalCount(run_id) > end.signals) runs.start(run_id, workflowId);
    else if (row && row.status !== "finished") {
      live.putToSleep(run_id, { at: time.clock.now(), worked: time.read() });
      return runs.startQueued();
    }
    if (run && !live.has(run_id)) runs.left(run_id);
  }

  private leave(runId: string, segment: number): LiveRun | undefined {
    this.parts.remoteEngine.over(runId, segment);
    return this.parts.live.remove(runId);
  }
}

/** What stopped an interpreter elsewhere, as it would have been here. */
function errorOf({ name, message, stack, edit_graph }: SegmentEnd & { kind: "broke" }): Error {
  const error = edit_graph ? new Unwritable(message) : new Error(message);
  if (!edit_graph) error.name = name;
  if (stack) error.stack = stack;
  return error;
}
