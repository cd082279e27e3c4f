import { errorMessage } from "@/server/domain/base/guards";
import { DamagedLog, type HeldReason } from "@/server/domain/run/held";
import type { RunStore } from "@/server/store/runs";
import type { Seen } from "./clock-watch";
import type { Elsewhere, LiveRun } from "./elsewhere";
import type { LiveRuns } from "./live-runs";
import { Unwritable } from "./log-writer";
import type { SentTurn, TurnRecorder } from "./record-turns";
import type { RunEndings } from "./run-endings";

/** How a stretch came to its end. */
export type StretchEnd =
  /** The run rests or has ended; what it was sent up to `signals` (of all, from the run's first) was taken in. */
  | { kind: "rested"; signals: number }
  | { kind: "held"; code: HeldReason["code"]; message: string }
  /** The interpreter failed: the run ends with an internal error. */
  | { kind: "broke"; name: string; message: string; stack?: string; edit_graph?: boolean };

/** What a stretch tells the server: the turns since its last message, and perhaps its end. */
export interface StretchNews {
  run_id: string;
  stretch: number;
  worker: string;
  turns: SentTurn[];
  end?: StretchEnd;
}

interface Parts {
  elsewhere: Elsewhere;
  store: Pick<RunStore, "find" | "lastTurn">;
  turns: Pick<TurnRecorder, "recordElsewhere">;
  endings: Pick<RunEndings, "broke" | "hold">;
  live: LiveRuns;
  /** The times at this moment, for a run that comes to rest. */
  seenNow(): Seen;
  takeUp(runId: string, workflowId: string | null): void;
  /** A run is out of this process. */
  left(runId: string): void;
  /** A place for another run is free. */
  hasRoom(): void;
}

/** What workers tell of the runs that they carry out. */
export class StretchReceiver {
  constructor(private readonly parts: Parts) {}

  /** Resolves once it is in the log and was published. What came before, or is of a stretch that is over, changes nothing. */
  async receive(news: StretchNews): Promise<void> {
    const { elsewhere, store, turns: recorder, endings } = this.parts;
    const { run_id, stretch, turns, end } = news;
    if (elsewhere.stretchOf(run_id) !== stretch) return;
    elsewhere.heard(run_id, stretch, news.worker);
    try {
      const last = store.lastTurn(run_id).turn;
      await recorder.recordElsewhere(
        run_id,
        turns.filter(({ turn }) => turn > last),
      );
      if (end) await this.endStretch(news, end);
    } catch (error) {
      const isDamage = error instanceof DamagedLog;
      if (!isDamage && !(error instanceof Unwritable)) throw error;
      this.leave(run_id, stretch);
      this.parts.left(run_id);
      if (isDamage) endings.hold(run_id, "damaged_log", errorMessage(error));
      else await endings.broke(run_id, error);
    }
  }

  private async endStretch({ run_id, stretch }: StretchNews, end: StretchEnd): Promise<void> {
    const { elsewhere, store, endings, live, takeUp, left } = this.parts;
    const run = this.leave(run_id, stretch);
    if (end.kind !== "rested") {
      if (end.kind === "held") endings.hold(run_id, end.code, end.message);
      else await endings.broke(run_id, faultOf(end));
      return left(run_id);
    }
    const row = store.find(run_id);
    const workflowId = run?.workflowId ?? row?.workflow_id ?? null;
    // What it was sent while it came to rest is taken in by its next stretch.
    if (elsewhere.signalCount(run_id) > end.signals) takeUp(run_id, workflowId);
    else if (row && row.status !== "finished") {
      live.putToSleep(run_id, this.parts.seenNow());
      return this.parts.hasRoom();
    }
    if (run && !live.has(run_id)) left(run_id);
  }

  private leave(runId: string, stretch: number): LiveRun | undefined {
    this.parts.elsewhere.over(runId, stretch);
    return this.parts.live.remove(runId);
  }
}

/** What stopped an interpreter elsewhere, as it would have been here. */
function faultOf({ name, message, stack, edit_graph }: StretchEnd & { kind: "broke" }): Error {
  const fault = edit_graph ? new Unwritable(message) : new Error(message);
  if (!edit_graph) fault.name = name;
  if (stack) fault.stack = stack;
  return fault;
}
