import type { UnfinishedRun } from "@/server/store/runs/runs";
import type { Seen } from "../durable/clock-watch";
import type { LiveRun } from "./remote-engine";

/** Which runs are in this process: those in its memory, and those that left the memory because they only wait. */
export class LiveRuns {
  private readonly live = new Map<string, LiveRun>();
  /** Those that left, with the times that they had seen. */
  private readonly asleep = new Map<string, Seen>();
  /** Those of an earlier process that are still to be taken up. */
  private readonly unrecovered = new Map<string, UnfinishedRun>();
  /** Who waits for a run to leave this process. */
  private readonly leaving = new Map<string, { gone: Promise<void>; leave: () => void }>();

  get(runId: string): LiveRun | undefined {
    return this.live.get(runId);
  }
  has(runId: string): boolean {
    return this.live.has(runId);
  }
  /** Also one that only waits. */
  isHere(runId: string): boolean {
    return this.live.has(runId) || this.asleep.has(runId);
  }
  isAsleep(runId: string): boolean {
    return this.asleep.has(runId);
  }
  /** How many are in memory. */
  get size(): number {
    return this.live.size;
  }
  /** Those in memory. */
  all(): IterableIterator<LiveRun> {
    return this.live.values();
  }
  get hasSleepers(): boolean {
    return this.asleep.size > 0;
  }

  add(runId: string, run: LiveRun): void {
    this.live.set(runId, run);
  }
  remove(runId: string): LiveRun | undefined {
    const run = this.live.get(runId);
    this.live.delete(runId);
    return run;
  }

  /** A run leaves the memory, to be taken up again by what it waits for. */
  putToSleep(runId: string, seen: Seen): void {
    this.live.delete(runId);
    this.asleep.set(runId, seen);
  }
  /** The times that a run had seen when it left the memory; undefined where it did not. */
  seenBy(runId: string): Seen | undefined {
    return this.asleep.get(runId);
  }
  wakeUp(runId: string): void {
    this.asleep.delete(runId);
  }

  /** Has a run of an earlier process wait until it is taken up. */
  addUnrecovered(run: UnfinishedRun): void {
    this.unrecovered.set(run.id, run);
  }
  isUnrecovered(runId: string): boolean {
    return this.unrecovered.has(runId);
  }
  /** The next run to take up; undefined once none is left. */
  get nextUnrecovered(): UnfinishedRun | undefined {
    return this.unrecovered.values().next().value;
  }
  recovered(runId: string): void {
    this.unrecovered.delete(runId);
  }
  forgetUnrecovered(): void {
    this.unrecovered.clear();
  }

  /** How many take a place: those that wait for a person or a time take none. */
  busyCount(): number {
    let count = 0;
    for (const { status } of this.live.values()) if (status === null || status === "running") count++;
    return count;
  }

  /** Notifies waiting callers that a run has left this process. */
  left(runId: string): void {
    this.leaving.get(runId)?.leave();
    this.leaving.delete(runId);
  }

  /** Resolves when the run is out of this process. */
  async gone(runId: string): Promise<void> {
    if (!this.isHere(runId)) return;
    let waiting = this.leaving.get(runId);
    if (!waiting) {
      let leave = () => {};
      const gone = new Promise<void>((resolve) => {
        leave = resolve;
      });
      this.leaving.set(runId, (waiting = { gone, leave }));
    }
    await waiting.gone;
  }
}
