import type { LiveFrame } from "@/server/domain/base/durable";
import { Frames, type StreamRedactor } from "@/server/runner/log/frames";
import type { ControlClient } from "./control-client";

/**
 * What is being written in the runs of a worker, on its way to the server: in order for each run, one message at a time.
 * It is not kept; where a message is lost, the next one says all again from the beginning of what is still being written.
 */
export class LiveSender {
  private readonly frames: Frames;
  private readonly waiting = new Map<string, LiveFrame[]>();
  private readonly busy = new Set<string>();

  constructor(
    private readonly control: Pick<ControlClient, "live">,
    redactor: StreamRedactor,
  ) {
    this.frames = new Frames((runId, frames) => this.send(runId, frames), redactor);
  }

  add(runId: string, frame: LiveFrame): void {
    this.frames.add(runId, frame);
  }

  /** The call is over; its text comes with the run's log. */
  end(runId: string, callId: string): void {
    this.frames.end(runId, callId);
    const left = this.waiting.get(runId)?.filter(({ call_id }) => call_id !== callId);
    if (left) this.waiting.set(runId, left);
  }

  stop(): void {
    this.frames.stop();
    this.waiting.clear();
  }

  private send(runId: string, frames: readonly LiveFrame[]): void {
    this.waiting.set(runId, [...(this.waiting.get(runId) ?? []), ...frames]);
    if (!this.busy.has(runId)) void this.empty(runId);
  }

  private async empty(runId: string): Promise<void> {
    this.busy.add(runId);
    for (;;) {
      const frames = this.waiting.get(runId) ?? [];
      this.waiting.delete(runId);
      if (frames.length === 0) break;
      try {
        await this.control.live({ run_id: runId, frames });
      } catch {
        // Sent with what is written next: while the server is away nothing is heaped up.
        this.waiting.delete(runId);
        const all = this.frames.snapshot(runId);
        this.busy.delete(runId);
        if (all.length > 0) this.waiting.set(runId, all);
        return;
      }
    }
    this.busy.delete(runId);
  }
}
