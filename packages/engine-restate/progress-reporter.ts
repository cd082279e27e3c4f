import type { SegmentProgress } from "@/server/runner/lifecycle/segment-progress";
import { NoEntry } from "./session";

/** The most characters in one message to the server, unless a single entry is larger. */
const FULL_MESSAGE = 4 * 1024 * 1024;
/** How many characters may wait for a server that doesn't answer before the run waits, too. */
const MOST_UNTOLD = 64 * 1024 * 1024;
/** Delay before a message is sent again, in milliseconds: doubled each time, up to the second. */
const RETRY_MS = [50, 2_000] as const;

interface Untold {
  news: SegmentProgress;
  chars: number;
}

export interface ProgressReporterOptions {
  /** Resolves when the server has it; rejects if it has to be sent again. */
  post(news: SegmentProgress, abort: AbortSignal): Promise<void>;
  failed(error: unknown): void;
}

/**
 * Reports a segment's entries to the server, in order and for as long as it takes. Entries that come meanwhile go into the
 * next message. They are lost with the process, but the segment ends only when all are reported.
 */
export class ProgressReporter {
  private readonly untold: Untold[] = [];
  private chars = 0;
  private heard = 0;
  private isSending = false;
  private waiting: (() => void)[] = [];
  private readonly stopped = new AbortController();

  constructor(private readonly options: ProgressReporterOptions) {}

  /** Adds the `count`th entry of the segment; a repeated one is reported once. */
  add(count: number, news: SegmentProgress, chars: number): void {
    if (count <= this.heard) return;
    this.heard = count;
    this.untold.push({ news, chars });
    this.chars += chars;
    if (!this.isSending) void this.send();
  }

  /** Resolves once everything is reported. */
  done(): Promise<void> {
    return this.until(() => this.untold.length === 0);
  }

  /** Resolves once there is room for more. */
  room(): Promise<void> {
    return this.until(() => this.chars <= MOST_UNTOLD);
  }

  stop(): void {
    this.stopped.abort();
    this.rouse();
  }

  private async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      if (this.stopped.signal.aborted) throw new NoEntry("Another worker reports this segment.");
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
  }

  private rouse(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  private async send(): Promise<void> {
    this.isSending = true;
    let retryIn: number = RETRY_MS[0];
    // Entries of the same moment share a message.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.untold.length > 0 && !this.stopped.signal.aborted) {
      const { news, count } = this.message();
      try {
        await this.options.post(news, this.stopped.signal);
        for (const { chars } of this.untold.splice(0, count)) this.chars -= chars;
        retryIn = RETRY_MS[0];
        this.rouse();
      } catch (error) {
        if (this.stopped.signal.aborted) return;
        this.options.failed(error);
        await new Promise((resolve) => setTimeout(resolve, retryIn));
        retryIn = Math.min(retryIn * 2, RETRY_MS[1]);
      }
    }
    this.isSending = false;
  }

  /** The next message, and how many entries it contains. */
  private message(): { news: SegmentProgress; count: number } {
    let chars = 0;
    let count = 0;
    for (const one of this.untold) {
      if (count > 0 && chars + one.chars > FULL_MESSAGE) break;
      chars += one.chars;
      count++;
    }
    const all = this.untold.slice(0, count).map(({ news }) => news);
    const last = all.at(-1);
    if (!last) throw new Error("Nothing to report.");
    return { news: { ...last, turns: all.flatMap(({ turns }) => turns) }, count };
  }
}
