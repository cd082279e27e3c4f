import type { SegmentProgress } from "@/server/runner/lifecycle/segment-progress";
import { NoEntry } from "./session";

/** What one message to the server holds at most, in characters, unless a single entry is larger. */
const FULL_MESSAGE = 4 * 1024 * 1024;
/** So many characters may wait for a server that does not answer; then the run waits, too. */
const MOST_UNTOLD = 64 * 1024 * 1024;
/** How long until the server is told again that did not answer: doubled each time, up to the second. */
const RETRY_MS = [50, 2_000] as const;

interface Untold {
  news: SegmentProgress;
  chars: number;
}

export interface ProgressReporterOptions {
  /** Resolves when the server has it; rejects where it has to be told again. */
  post(news: SegmentProgress, abort: AbortSignal): Promise<void>;
  failed(error: unknown): void;
}

/**
 * Tells the server what the engine keeps of a stretch, in order and for as long as it takes. What comes while it is being
 * told goes along with the next message. It forgets with its process; the stretch, which ends only when all is told, does not.
 */
export class ProgressReporter {
  private readonly untold: Untold[] = [];
  private chars = 0;
  private heard = 0;
  private isSending = false;
  private waiting: (() => void)[] = [];
  private readonly stopped = new AbortController();

  constructor(private readonly options: ProgressReporterOptions) {}

  /** The `count`th entry of the stretch; one that came already is told once. */
  add(count: number, news: SegmentProgress, chars: number): void {
    if (count <= this.heard) return;
    this.heard = count;
    this.untold.push({ news, chars });
    this.chars += chars;
    if (!this.isSending) void this.send();
  }

  /** Resolves once all is told. */
  done(): Promise<void> {
    return this.until(() => this.untold.length === 0);
  }

  /** Resolves once there is not too much to tell. */
  room(): Promise<void> {
    return this.until(() => this.chars <= MOST_UNTOLD);
  }

  stop(): void {
    this.stopped.abort();
    this.rouse();
  }

  private async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      if (this.stopped.signal.aborted) throw new NoEntry("The server is told of this stretch elsewhere.");
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
  }

  private rouse(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  private async send(): Promise<void> {
    this.isSending = true;
    let retryIn: number = RETRY_MS[0];
    // What comes in the same moment goes along.
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

  /** The next message, and of how many entries it is made. */
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
    if (!last) throw new Error("There is nothing to tell.");
    return { news: { ...last, turns: all.flatMap(({ turns }) => turns) }, count };
  }
}
