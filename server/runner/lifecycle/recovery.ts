import type { QuarantineReason } from "@/server/domain/run/quarantine";
import type { RunStore, UnfinishedRun } from "@/server/store/runs/runs";
import { interpreters, unknownVersionText } from "../interpreter/interpreters";
import type { Stopped } from "./crash-suspects";

/** How often the server may end because of a run, without progress in between, until the run is quarantined. */
const STOPS_ALLOWED = 2;
/** Delays before such a run is retried, the first time and after each further stop; then a person decides. */
const RETRY_AFTER_MS = [60_000, 5 * 60_000, 30 * 60_000];

/** How long recovery keeps the thread at a time, in milliseconds. */
const SLICE_MS = 10;

interface RecoveryOptions {
  store: RunStore;
  /** Whether another process has it, and needs nothing of this one to go on. */
  isRemote: (runId: string) => boolean;
  startRun: (runId: string, workflowId: string | null) => void;
  enqueue: (runId: string, workflowId: string | null) => void;
  hold: (runId: string, code: QuarantineReason["code"], message: string, retryAfterMs?: number) => void;
}

/** After a start: takes up what had not ended, a few at a time, and quarantines the runs that end the server. */
export class Recovery {
  private readonly left = new Map<string, UnfinishedRun>();
  private isStopped = false;
  private finish = () => {};
  /** Resolves when every run was taken up. */
  readonly done = new Promise<void>((resolve) => {
    this.finish = resolve;
  });

  constructor(private readonly options: RecoveryOptions) {}

  /** What only waits, and for longer than that instant, is left where it is. */
  begin(wakeBefore: number, stopped: Stopped): void {
    const { store, hold, enqueue } = this.options;
    for (const run of store.unfinished(wakeBefore)) {
      if (this.options.isRemote(run.id)) continue;
      if (!interpreters[run.interpreter_version])
        hold(run.id, "unknown_version", unknownVersionText(run.interpreter_version));
      else if (run.stops >= STOPS_ALLOWED && stopped.run_ids.includes(run.id))
        hold(
          run.id,
          "stopped_server",
          `The server ${stopped.why}. It was quarantined so that the others continue.`,
          RETRY_AFTER_MS[run.stops - STOPS_ALLOWED],
        );
      else if (run.status === "queued") enqueue(run.id, run.workflow_id);
      else this.left.set(run.id, run);
    }
    this.goOn();
  }

  /** Whether a run has yet to be taken up. */
  isPending(runId: string): boolean {
    return this.left.has(runId);
  }

  /** Somebody else deals with this run. */
  forget(runId: string): void {
    this.left.delete(runId);
  }

  stop(): void {
    this.isStopped = true;
    this.left.clear();
    this.finish();
  }

  private goOn(): void {
    if (this.isStopped) return;
    const end = performance.now() + SLICE_MS;
    for (const [id, run] of this.left) {
      this.left.delete(id);
      this.options.startRun(id, run.workflow_id);
      if (performance.now() >= end) break;
    }
    if (this.left.size > 0) setTimeout(() => this.goOn(), 1);
    else this.finish();
  }
}
