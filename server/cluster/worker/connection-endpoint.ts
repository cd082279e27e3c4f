import { defined } from "@/server/domain/base/defined";
import { errorMessage } from "@/server/domain/base/guards";
import {
  type FramesBody,
  type FromWorker,
  LineAnswer,
  type LineBody,
  type ToWorker,
} from "../worker-protocol";
import { type ControlClient, ControlRejected } from "./control-client";
import type { In, Served } from "./served-tools";

/** Longer than the server lets a question wait. */
const ASK_MS = 30_000;
const SEND_TIMEOUT_MS = 60_000;
/** What one message holds at most, in characters, unless a single frame is larger. */
const FULL_MESSAGE = 4 * 1024 * 1024;
const POLL_INTERVAL_MS = 20;
const FLUSH_TIMEOUT_MS = 1_000;

interface ConnectionEndpointOptions {
  control: Pick<ControlClient, "insist">;
  served: Served;
  about: Pick<LineBody, "worker" | "name" | "labels">;
  redact<T>(value: T): T;
  log: (level: "info" | "warn" | "error", message: string, about?: Record<string, unknown>) => void;
}

/** A worker's end of its line to the server: what it is asked to do because of its labels. */
export class ConnectionEndpoint {
  private line: string | null = null;
  private heard = 0;
  private sent = 0;
  private readonly channels = new Map<string, In>();
  private unsent: FromWorker[] = [];
  private isSending = false;
  private isLeaving = false;
  private readonly stopped = new AbortController();
  /** Ends the question that is open, where it has to be asked otherwise. */
  private asking = new AbortController();

  constructor(private readonly options: ConnectionEndpointOptions) {}

  /** Asks from now on. A worker that has a label and declares nothing for it asks as well, so that people hear what it lacks. */
  start(): void {
    if (this.options.about.labels.length > 0) void this.listen();
  }

  /** Takes on nothing more; what is under way goes on. */
  leave(): void {
    this.isLeaving = true;
    this.asking.abort();
  }

  /** Resolves once no call is running, or after `ms`. */
  async idle(ms: number): Promise<void> {
    const end = Date.now() + ms;
    const { calls } = this.options.served;
    while ((calls.running > 0 || this.unsent.length > 0) && Date.now() < end)
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
  }

  /** Ends everything, and says so. */
  async stop(): Promise<void> {
    this.isLeaving = true;
    for (const [channelId, ended] of [...this.channels]) {
      this.channels.delete(channelId);
      ended.close(false);
      this.enqueue({ wire: channelId, closed: "The worker that ran it was stopped." });
    }
    await this.idle(FLUSH_TIMEOUT_MS);
    this.stopped.abort();
    this.asking.abort();
    this.reset(null);
  }

  private async listen(): Promise<void> {
    const { control, about, served, log } = this.options;
    while (!this.stopped.signal.aborted) {
      this.asking = new AbortController();
      const question: LineBody = {
        ...about,
        offers: this.isLeaving ? [] : [...served.offers],
        line: this.line,
        heard: this.heard,
        ...defined({ calls: this.heard === 0 ? served.calls.ids() : undefined }),
      };
      try {
        const options = { signal: this.asking.signal, withinMs: ASK_MS };
        this.take(LineAnswer.parse(await control.insist("line/ask", question, options)));
      } catch (error) {
        if (this.asking.signal.aborted) continue;
        log("error", "This worker can't receive tool calls for its labels.", {
          error: errorMessage(error),
        });
        return;
      }
    }
  }

  private take({ line, from, frames }: LineAnswer): void {
    if (line !== this.line) this.reset(line);
    this.options.served.calls.sweep();
    for (const frame of frames.slice(Math.max(0, this.heard + 1 - from))) {
      this.heard++;
      this.obey(frame);
    }
  }

  private obey({ wire: channelId, open, message, closed }: ToWorker): void {
    if (open !== undefined) {
      const opened = this.options.served.open(open, {
        message: (content) => this.enqueue({ wire: channelId, message: content }),
        closed: (why) => {
          if (this.channels.delete(channelId)) this.enqueue({ wire: channelId, closed: why });
        },
      });
      if (opened) this.channels.set(channelId, opened);
      else this.enqueue({ wire: channelId, closed: "This worker no longer has this tool or server." });
    }
    if (message !== undefined) this.channels.get(channelId)?.message(message);
    if (closed === undefined) return;
    this.channels.get(channelId)?.close(false);
    this.channels.delete(channelId);
  }

  /** The server knows nothing of what came over the line before. */
  private reset(line: string | null): void {
    for (const channel of this.channels.values()) channel.close(true);
    this.channels.clear();
    this.options.served.calls.restart();
    this.unsent = [];
    this.line = line;
    this.heard = this.sent = 0;
  }

  private enqueue(frame: FromWorker): void {
    const message = frame.message;
    this.unsent.push(message === undefined ? frame : { ...frame, message: this.options.redact(message) });
    if (!this.isSending) void this.flush();
  }

  private async flush(): Promise<void> {
    this.isSending = true;
    while (this.unsent.length > 0 && this.line !== null) {
      const { line } = this;
      const frames = firstOf(this.unsent);
      const body: FramesBody = { line, from: this.sent + 1, frames };
      try {
        const options = { signal: this.stopped.signal, withinMs: SEND_TIMEOUT_MS };
        await this.options.control.insist("line/tell", body, options);
      } catch (error) {
        if (this.stopped.signal.aborted || !(error instanceof ControlRejected)) break;
        if (line === this.line) this.unsent.splice(0, frames.length, ...this.closeRejected(frames, error));
        continue;
      }
      if (line !== this.line) continue;
      this.sent += frames.length;
      this.unsent.splice(0, frames.length);
    }
    this.isSending = false;
  }

  /** What is said in the place of frames that the server does not take. */
  private closeRejected(frames: readonly FromWorker[], { status, message }: ControlRejected): FromWorker[] {
    // It does not know this line any more; the next question brings a new one.
    if (status === 404) return [];
    const channels = [...new Set(frames.map(({ wire: channelId }) => channelId))];
    for (const channelId of channels) {
      this.channels.get(channelId)?.close(false);
      this.channels.delete(channelId);
    }
    return channels.map((channelId) => ({
      wire: channelId,
      closed: `The server rejected the result: ${message}`,
    }));
  }
}

/** As many as go into one message. */
function firstOf(frames: readonly FromWorker[]): FromWorker[] {
  let chars = 0;
  const fits = frames.findIndex((frame, at) => {
    chars += JSON.stringify(frame).length;
    return at > 0 && chars > FULL_MESSAGE;
  });
  return frames.slice(0, fits < 0 ? frames.length : fits);
}
