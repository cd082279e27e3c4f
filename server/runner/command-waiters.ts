import type { RunEvent } from "@/server/domain/run/events";

/** How long somebody waits for a run to take up what they told it, in milliseconds. */
const WITHIN_MS = 5_000;

/** Who waits for a command of theirs to be taken up. */
export class CommandWaiters {
  private readonly waiting = new Map<string, (events: RunEvent[]) => void>();

  /** The events that followed from a command; null where the run has not come to it in time. */
  wait(runId: string, name: string): Promise<RunEvent[] | null> {
    const key = `${runId}/${name}`;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.waiting.delete(key);
        resolve(null);
      }, WITHIN_MS);
      this.waiting.set(key, (events) => {
        clearTimeout(timer);
        this.waiting.delete(key);
        resolve(events);
      });
    });
  }

  /** A turn is in the log. */
  settle(runId: string, name: string | null, events: RunEvent[]): void {
    this.waiting.get(`${runId}/${name ?? ""}`)?.(events);
  }
}
