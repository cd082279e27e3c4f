import type { RunEvent } from "@/server/domain/run/events";

/** How long a caller waits for a run to apply its command, in milliseconds. */
const WITHIN_MS = 5_000;

/** What a run made of a command: the events of its turn; null: it has not come to it in time; or it ended without. */
export type Heard = RunEvent[] | "ended" | null;

/** Callers that wait for a run to apply their command. */
export class CommandWaiters {
  private readonly waiting = new Map<string, Set<{ name: string; hear(heard: Heard): void }>>();

  wait(runId: string, name: string): Promise<Heard> {
    return new Promise((resolve) => {
      const ofRun = this.waiting.get(runId) ?? new Set();
      this.waiting.set(runId, ofRun);
      const waiter = {
        name,
        hear: (heard: Heard) => {
          clearTimeout(timer);
          ofRun.delete(waiter);
          if (ofRun.size === 0 && this.waiting.get(runId) === ofRun) this.waiting.delete(runId);
          resolve(heard);
        },
      };
      const timer = setTimeout(() => waiter.hear(null), WITHIN_MS);
      ofRun.add(waiter);
    });
  }

  /** A turn is in the log. */
  settle(runId: string, name: string | null, events: RunEvent[]): void {
    for (const one of this.waiting.get(runId) ?? []) if (one.name === name) one.hear(events);
  }

  /** The run has left this process without applying the commands that are still awaited. */
  left(runId: string): void {
    for (const one of this.waiting.get(runId) ?? []) one.hear("ended");
  }
}
