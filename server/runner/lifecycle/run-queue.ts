import { present } from "@/server/domain/base/must";

/** Runs that wait to begin, by workflow, so that one workflow's hundred runs do not keep another's first one waiting. */
export class RunQueue {
  private readonly queues = new Map<string, string[]>();
  private isStarting = false;

  get size(): number {
    let count = 0;
    for (const queue of this.queues.values()) count += queue.length;
    return count;
  }

  add(runId: string, workflowId: string | null): void {
    const key = workflowId ?? "";
    const queue = this.queues.get(key);
    if (queue) queue.push(runId);
    else this.queues.set(key, [runId]);
  }

  remove(runId: string): void {
    for (const [key, queue] of this.queues) {
      const at = queue.indexOf(runId);
      if (at < 0) continue;
      queue.splice(at, 1);
      if (queue.length === 0) this.queues.delete(key);
      return;
    }
  }

  /** Begins runs while there is room, one workflow after another. `begin`: false where a run took no place after all. */
  begin(room: number, begin: (runId: string, workflowId: string | null) => boolean): void {
    // What begins may end at once, and ask for another.
    if (this.isStarting) return;
    this.isStarting = true;
    try {
      for (let left = room; left > 0; ) {
        const next = this.next();
        if (!next) break;
        if (begin(next.id, next.workflowId)) left--;
      }
    } finally {
      this.isStarting = false;
    }
  }

  /** The run whose turn it is, which leaves the queue; undefined where none waits. */
  next(): { id: string; workflowId: string | null } | undefined {
    const first = this.queues.entries().next().value;
    if (!first) return undefined;
    const [key, queue] = first;
    const id = present(queue.shift(), "a queue is never empty");
    // A workflow's turn comes again after every other's.
    this.queues.delete(key);
    if (queue.length > 0) this.queues.set(key, queue);
    return { id, workflowId: key === "" ? null : key };
  }
}
