import type { RunStore } from "@/server/store/runs/runs";
import { interpreters, unknownVersionText } from "../interpreter/interpreters";
import type { Stopped } from "./crash-suspects";
import type { LiveRuns } from "./live-runs";
import type { RemoteEngine } from "./remote-engine";
import type { RunEndings } from "./run-endings";
import type { RunExecutor } from "./run-executor";

/** How often the server may end because of a run, without progress in between, until the run is quarantined. */
const STOPS_ALLOWED = 2;
/** Delays before such a run is retried, the first time and after each further stop; then a person decides. */
const RETRY_AFTER_MS = [60_000, 5 * 60_000, 30 * 60_000];

/** How long recovery keeps the thread at a time, in milliseconds. */
const SLICE_MS = 10;

interface Parts {
  store: Pick<RunStore, "unfinished">;
  live: LiveRuns;
  runs: Pick<RunExecutor, "start" | "queue">;
  endings: Pick<RunEndings, "hold">;
  remoteEngine?: RemoteEngine | undefined;
}

/** After a start: takes up what had not ended, a few at a time, and quarantines the runs that end the server. */
export class Recovery {
  private isStopped = false;
  private finish = () => {};
  /** Resolves when every run was taken up. */
  readonly done = new Promise<void>((resolve) => {
    this.finish = resolve;
  });

  constructor(private readonly parts: Parts) {}

  /** What only waits, and for longer than that instant, is left where it is. */
  begin(wakeBefore: number, stopped: Stopped): void {
    const { store, live, runs, endings, remoteEngine } = this.parts;
    for (const run of store.unfinished(wakeBefore)) {
      // Another process has it and needs nothing from this one.
      if (remoteEngine?.activeSegment(run.id) != null) continue;
      if (!interpreters[run.interpreter_version])
        endings.hold(run.id, "unknown_version", unknownVersionText(run.interpreter_version));
      else if (run.stops >= STOPS_ALLOWED && stopped.run_ids.includes(run.id))
        endings.hold(
          run.id,
          "stopped_server",
          `The server ${stopped.why}. The run was quarantined so that other runs can continue.`,
          RETRY_AFTER_MS[run.stops - STOPS_ALLOWED],
        );
      else if (run.status === "queued") runs.queue.add(run.id, run.workflow_id);
      else live.addUnrecovered(run);
    }
    this.goOn();
  }

  stop(): void {
    this.isStopped = true;
    this.parts.live.forgetUnrecovered();
    this.finish();
  }

  private goOn(): void {
    if (this.isStopped) return;
    const { live, runs } = this.parts;
    const end = performance.now() + SLICE_MS;
    for (let run = live.nextUnrecovered; run; run = live.nextUnrecovered) {
      runs.start(run.id, run.workflow_id);
      if (performance.now() >= end) break;
    }
    if (live.nextUnrecovered) setTimeout(() => this.goOn(), 1);
    else this.finish();
  }
}
