import type { HeldReason } from "@/server/domain/run/held";
import type { RunStore, UnfinishedRun } from "@/server/store/runs";
import { interpreters, unknownVersionText } from "./interpreters";

/** How often the server may end while it computes a run, without progress in between, until the run is held. */
const STOPS_ALLOWED = 2;

/** How often the next suspect waits for the one before it to get on; a model may take long. */
const MOST_WAITS = 12;

/** How long recovery keeps the thread at a time, in milliseconds. */
const SLICE_MS = 10;

interface RecoveryOptions {
  store: RunStore;
  /** Whether another process has it, and needs nothing of this one to go on. */
  isElsewhere: (runId: string) => boolean;
  takeUp: (runId: string, workflowId: string | null) => void;
  enqueue: (runId: string, workflowId: string | null) => void;
  hold: (runId: string, code: HeldReason["code"], message: string) => void;
  /**
   * How long a run is left alone that the last process computed when it ended, in milliseconds; those runs come one by one,
   * each after so long and once the one before it got on, so that a person can cancel it, and so that the next time it is
   * known which of them it was.
   */
  suspectDelayMs: number;
}

/**
 * After a start: takes up what had not ended, a few at a time. A run that was being computed when the server ended comes
 * last; one with which that happened twice in a row is held instead.
 *
 * What counts is that the thread computed that very run, not that the run was at work: in a long model call nothing is
 * computed, so that a server which is killed during such calls, however often, holds nothing. Where the thread stood still
 * in code that nobody had announced, every run with a step under way is under suspicion.
 */
export class Recovery {
  private readonly left = new Map<string, UnfinishedRun>();
  private suspects: UnfinishedRun[] = [];
  private isStopped = false;
  private finish = () => {};
  /** Resolves when every run was taken up that is not under suspicion. */
  readonly done = new Promise<void>((resolve) => {
    this.finish = resolve;
  });

  constructor(private readonly options: RecoveryOptions) {}

  /** What only waits, and for longer than that instant, is left where it is. `guessed`: may have been stopped by another run. */
  begin(wakeBefore: number, guessed: ReadonlySet<string>): void {
    const { store, hold, enqueue } = this.options;
    for (const run of store.unfinished(wakeBefore)) {
      if (this.options.isElsewhere(run.id)) continue;
      if (!interpreters[run.interpreter_version])
        hold(run.id, "unknown_version", unknownVersionText(run.interpreter_version));
      else if (run.stops >= STOPS_ALLOWED)
        hold(
          run.id,
          "stopped_server",
          `${stopsText(run.stops, guessed.has(run.id))} It was left alone so that the others can go on.`,
        );
      else if (run.stops > 0) this.suspects.push(run);
      else if (run.status === "queued") enqueue(run.id, run.workflow_id);
      else this.left.set(run.id, run);
    }
    this.goOn();
    this.waitForSuspect();
  }

  /** Whether a run has yet to be taken up. */
  isPending(runId: string): boolean {
    return this.left.has(runId);
  }

  /** Whether a run is left alone for a while because the server ended while computing it. */
  isSuspect(runId: string): boolean {
    return this.suspects.some(({ id }) => id === runId);
  }

  /** Somebody else deals with this run. */
  forget(runId: string): void {
    this.left.delete(runId);
    this.suspects = this.suspects.filter(({ id }) => id !== runId);
  }

  stop(): void {
    this.isStopped = true;
    this.left.clear();
    this.suspects = [];
    this.finish();
  }

  private goOn(): void {
    if (this.isStopped) return;
    const end = performance.now() + SLICE_MS;
    for (const [id, run] of this.left) {
      this.left.delete(id);
      this.options.takeUp(id, run.workflow_id);
      if (performance.now() >= end) break;
    }
    if (this.left.size > 0) setTimeout(() => this.goOn(), 1);
    else this.finish();
  }

  private waitForSuspect(before: UnfinishedRun | null = null, waits = 1): void {
    if (this.suspects.length === 0) return;
    setTimeout(() => {
      if (before && waits < MOST_WAITS && !this.options.store.hasGotOn(before.id))
        return this.waitForSuspect(before, waits + 1);
      const run = this.suspects.shift();
      if (!run || this.isStopped) return;
      this.options.takeUp(run.id, run.workflow_id);
      this.waitForSuspect(run);
    }, this.options.suspectDelayMs).unref();
  }
}

const stopsText = (stops: number, isGuessed: boolean): string =>
  isGuessed
    ? `The server stood still and ended ${stops} times while a step of this run was under way, without progress in between. It may have been another run's step.`
    : `The server ended ${stops} times while it computed this run, without progress in between.`;
