import type { LiveFrame } from "@/server/domain/base/durable";
import type { RunEvent } from "@/server/domain/run/events";
import type { RunStatus } from "@/server/store/runs/runs";

/** What a follower of a run receives. */
export type RunFrame =
  | { kind: "events"; events: RunEvent[] }
  | { kind: "live"; frames: LiveFrame[] }
  | { kind: "end" };

export interface StatusTick {
  run_id: string;
  workflow_id: string | null;
  status: RunStatus;
  final_status: string | null;
}

/** A follower that does not read is dropped at this many waiting frames; it may come back with its cursor. */
const FOLLOWER_BUFFER = 5000;

/** Who follows which run. */
export class Followers {
  private readonly byRun = new Map<string, Set<Follower>>();

  /** A follower from now on, and how it leaves. */
  join(runId: string): { follower: Follower; leave: () => void } {
    const follower = new Follower();
    let set = this.byRun.get(runId);
    if (!set) this.byRun.set(runId, (set = new Set()));
    set.add(follower);
    const leave = () => {
      set.delete(follower);
      if (set.size === 0 && this.byRun.get(runId) === set) this.byRun.delete(runId);
      follower.close();
    };
    return { follower, leave };
  }

  send(runId: string, frame: RunFrame): void {
    const set = this.byRun.get(runId);
    if (set) for (const follower of set) follower.push(frame);
  }

  close(): void {
    for (const set of this.byRun.values()) for (const follower of set) follower.close();
  }
}

/** One reader's queue of frames. */
class Follower {
  private queue: RunFrame[] = [];
  private wake: (() => void) | null = null;
  private closed = false;

  push(frame: RunFrame): void {
    if (this.closed) return;
    if (this.queue.length >= FOLLOWER_BUFFER) return this.close();
    this.queue.push(frame);
    this.wake?.();
  }

  close(): void {
    this.closed = true;
    this.wake?.();
  }

  async *frames(): AsyncGenerator<RunFrame> {
    for (;;) {
      const frame = this.queue.shift();
      if (frame) {
        yield frame;
        if (frame.kind === "end") return;
        continue;
      }
      if (this.closed) return;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
      this.wake = null;
    }
  }
}

export type { Follower };

/** Who watches all runs change their status. */
export class Watchers {
  private readonly all = new Set<(tick: StatusTick) => void>();
  private readonly closing = new AbortController();

  /** Answers how to stop. */
  watch(onTick: (tick: StatusTick) => void): () => void {
    this.all.add(onTick);
    return () => this.all.delete(onTick);
  }

  notify(tick: StatusTick): void {
    for (const watcher of this.all) watcher(tick);
  }

  /** Ends every stream of ticks. */
  close(): void {
    this.closing.abort();
  }

  /** The same as a stream, until the signal or the end of the server. */
  async *ticks(until?: AbortSignal): AsyncGenerator<StatusTick> {
    const signal = AbortSignal.any([this.closing.signal, ...(until ? [until] : [])]);
    const queue: StatusTick[] = [];
    let wake: (() => void) | null = null;
    const rouse = () => wake?.();
    const stop = this.watch((tick) => {
      queue.push(tick);
      rouse();
    });
    signal.addEventListener("abort", rouse, { once: true });
    try {
      while (!signal.aborted) {
        const tick = queue.shift();
        if (tick) yield tick;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    } finally {
      stop();
      signal.removeEventListener("abort", rouse);
    }
  }
}
