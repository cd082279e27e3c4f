import type { Disk } from "@/db/disk";
import type { RunEvent } from "@/server/domain/run/events";
import type { RunProgress, TurnWrite } from "@/server/store/runs/runs";
import type { TurnRecord } from "../durable/embedded-contract";
import type { HostLog } from "../lifecycle/host-log";
import type { LiveRuns } from "../lifecycle/live-runs";
import type { LiveRun } from "../lifecycle/remote-engine";
import { isMarked } from "../node/internal-error";
import type { CommandWaiters } from "../people/command-waiters";
import type { Followers, Watchers } from "./followers";
import type { Frames } from "./frames";
import type { LogWriter } from "./log-writer";
import type { WrittenTurn } from "./turn-write";

/** A turn as it is written, without the texts that the store makes itself. */
export type SentTurn = Omit<TurnWrite, "texts" | "resultText" | "runId">;

interface Parts {
  writer: Pick<LogWriter, "append">;
  disk?: Disk | undefined;
  live: LiveRuns;
  frames: Frames;
  followers: Followers;
  watchers: Watchers;
  waiters: CommandWaiters;
  log?: HostLog | undefined;
}

/** A turn's way: into the log first, onto the disk where it touched the world, then to whoever follows. */
export class TurnRecorder {
  constructor(private readonly parts: Parts) {}

  /** Puts a turn on its way into the log; resolves once it is there and was published. */
  async record(turn: TurnRecord): Promise<void> {
    const { live, writer, disk, waiters } = this.parts;
    const run = live.get(turn.runId);
    const { write, asksAnew }: WrittenTurn = run?.turns?.write(turn) ?? { write: turn, asksAnew: false };
    const { progress } = write;
    await writer.append(write);
    // Nothing follows from what touched the world, and nobody is told, before it survives a power cut.
    if (turn.touchesWorld || progress?.status === "finished") await disk?.sync();
    if (turn.events.length > 0) this.publish(turn.runId, turn.events);
    waiters.settle(turn.runId, turn.key, turn.events);
    if (run) this.noteProgress(turn.runId, run, progress ?? null, asksAnew);
  }

  /** The same for turns that another process worked out. */
  async recordRemote(runId: string, turns: readonly SentTurn[]): Promise<void> {
    if (turns.length === 0) return;
    const { live, writer, disk, waiters } = this.parts;
    await Promise.all(turns.map((turn) => writer.append({ ...turn, runId })));
    await disk?.sync();
    for (const { key, events, progress, questions } of turns) {
      if (events.length > 0) this.publish(runId, events);
      waiters.settle(runId, key, events);
      const run = live.get(runId);
      if (run) this.noteProgress(runId, run, progress ?? null, questions !== undefined);
    }
  }

  /** Tells how a run stands after a turn. */
  private noteProgress(run_id: string, run: LiveRun, progress: RunProgress | null, asksAnew: boolean): void {
    const before = run.status;
    if (progress) {
      run.status = progress.status;
      run.finalStatus = progress.final_status;
    }
    const { status, finalStatus: final_status, workflowId: workflow_id } = run;
    if (status !== null && (before !== status || asksAnew))
      this.parts.watchers.notify({ run_id, workflow_id, status, final_status });
  }

  private publish(runId: string, events: RunEvent[]): void {
    const { frames, followers } = this.parts;
    for (const event of events) this.logError(runId, event);
    if (frames.has(runId))
      for (const event of events)
        if (event.call_id && (event.type === "llm_call_completed" || event.type === "llm_call_failed"))
          frames.end(runId, event.call_id);
    followers.send(runId, { kind: "events", events });
  }

  /** The words of an error that nobody foresaw, under the mark that people were told. */
  private logError(run_id: string, event: RunEvent): void {
    if (event.type !== "node_failed" && event.type !== "agent_finished") return;
    const { error } = event.payload;
    if (error?.code === "INTERNAL" && isMarked(error.detail))
      this.parts.log?.("error", "Internal error.", { run_id, ...error.detail });
  }
}
