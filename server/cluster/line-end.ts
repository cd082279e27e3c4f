import { errorMessage } from "@/server/domain/base/guards";
import { type ControlClient, ControlRefused } from "./control-client";
import type { In, Served } from "./served-tools";
import {
  type FramesBody,
  type FromWorker,
  LineAnswer,
  type LineBody,
  type ToWorker,
} from "./worker-protocol";

/** Longer than the server lets a question wait. */
const ASK_MS = 30_000;
const TELL_MS = 60_000;
/** What one message holds at most, in characters, unless a single frame is larger. */
const FULL_MESSAGE = 4 * 1024 * 1024;
const LOOK_MS = 20;
const LAST_WORDS_MS = 1_000;

interface LineEndOptions {
  control: Pick<ControlClient, "insist">;
  served: Served;
  about: Pick<LineBody, "worker" | "name" | "labels">;
  redact<T>(value: T): T;
  log: (level: "info" | "warn" | "error", message: string, about?: Record<string, unknown>) => void;
}

/** A worker's end of its line to the server: what it is asked to do because of its labels. */
export class LineEnd {
  private line: string | null = null;
  private heard = 0;
  private said = 0;
  private readonly wires = new Map<string, In>();
  private unsaid: FromWorker[] = [];
  private isSaying = false;
  private isLeaving = false;
  private readonly stopped = new AbortController();
  /** Ends the question that is open, where it has to be asked otherwise. */
  private asking = new AbortController();

  constructor(private readonly options: LineEndOptions) {}

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
    while ((calls.running > 0 || this.unsaid.length > 0) && Date.now() < end)
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }

  /** Ends everything, and says so. */
  async stop(): Promise<void> {
    this.isLeaving = true;
    for (const [wire, ended] of [...this.wires]) {
      this.wires.delete(wire);
      ended.close(false);
      this.say({ wire, closed: "The worker that had it was stopped." });
    }
    await this.idle(LAST_WORDS_MS);
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
        ...(this.heard === 0 ? { calls: served.calls.ids() } : {}),
      };
      try {
        const options = { signal: this.asking.signal, withinMs: ASK_MS };
        this.take(LineAnswer.parse(await control.insist("line/ask", question, options)));
      } catch (error) {
        if (this.asking.signal.aborted) continue;
        log("error", "The server does not ask this worker for anything by its labels.", {
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

  private obey({ wire, open, message, closed }: ToWorker): void {
    if (open !== undefined) {
      const opened = this.options.served.open(open, {
        message: (said) => this.say({ wire, message: said }),
        closed: (why) => {
          if (this.wires.delete(wire)) this.say({ wire, closed: why });
        },
      });
      if (opened) this.wires.set(wire, opened);
      else this.say({ wire, closed: "This worker does not have it any more." });
    }
    if (message !== undefined) this.wires.get(wire)?.message(message);
    if (closed === undefined) return;
    this.wires.get(wire)?.close(false);
    this.wires.delete(wire);
  }

  /** The server knows nothing of what came over the line before. */
  private reset(line: string | null): void {
    for (const wire of this.wires.values()) wire.close(true);
    this.wires.clear();
    this.options.served.calls.restart();
    this.unsaid = [];
    this.line = line;
    this.heard = this.said = 0;
  }

  private say(frame: FromWorker): void {
    const message = frame.message;
    this.unsaid.push(message === undefined ? frame : { ...frame, message: this.options.redact(message) });
    if (!this.isSaying) void this.tell();
  }

  private async tell(): Promise<void> {
    this.isSaying = true;
    while (this.unsaid.length > 0 && this.line !== null) {
      const { line } = this;
      const frames = firstOf(this.unsaid);
      const body: FramesBody = { line, from: this.said + 1, frames };
      try {
        const options = { signal: this.stopped.signal, withinMs: TELL_MS };
        await this.options.control.insist("line/tell", body, options);
      } catch (error) {
        if (this.stopped.signal.aborted || !(error instanceof ControlRefused)) break;
        if (line === this.line) this.unsaid.splice(0, frames.length, ...this.refused(frames, error));
        continue;
      }
      if (line !== this.line) continue;
      this.said += frames.length;
      this.unsaid.splice(0, frames.length);
    }
    this.isSaying = false;
  }

  /** What is said in the place of frames that the server does not take. */
  private refused(frames: readonly FromWorker[], { status, message }: ControlRefused): FromWorker[] {
    // It does not know this line any more; the next question brings a new one.
    if (status === 404) return [];
    const wires = [...new Set(frames.map(({ wire }) => wire))];
    for (const wire of wires) {
      this.wires.get(wire)?.close(false);
      this.wires.delete(wire);
    }
    return wires.map((wire) => ({ wire, closed: `The server did not take what it gave: ${message}` }));
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
