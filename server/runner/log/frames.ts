import type { LiveFrame } from "@/server/domain/base/durable";

/** Streamed text goes out at most this often for each run. */
const EVERY_MS = 50;

interface Stream {
  sent: string;
  unsent: string;
}

/** Hides secrets in text that comes piece by piece. */
export interface StreamRedactor {
  hide(text: string): string;
  /** How many characters at the end may be the beginning of a secret: they wait for what follows. */
  heldBack(text: string): number;
}
const NOTHING_TO_HIDE: StreamRedactor = { hide: (text) => text, heldBack: () => 0 };

/** Streamed text on its way to whoever watches: joined for some milliseconds, and kept for those who come late. */
export class Frames {
  private readonly runs = new Map<string, Map<string, Map<LiveFrame["channel"], Stream>>>();
  private readonly timers = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(
    private readonly send: (runId: string, frames: LiveFrame[]) => void,
    private readonly redactor: StreamRedactor = NOTHING_TO_HIDE,
  ) {}

  add(runId: string, frame: LiveFrame): void {
    let calls = this.runs.get(runId);
    if (!calls) {
      calls = new Map<string, Map<LiveFrame["channel"], Stream>>();
      this.runs.set(runId, calls);
    }
    let channels = calls.get(frame.call_id);
    if (!channels) {
      channels = new Map<LiveFrame["channel"], Stream>();
      calls.set(frame.call_id, channels);
    }
    let stream = channels.get(frame.channel);
    if (!stream || frame.offset === 0) channels.set(frame.channel, (stream = { sent: "", unsent: "" }));
    stream.unsent += frame.text;
    if (!this.timers.has(runId))
      this.timers.set(
        runId,
        setTimeout(() => this.flush(runId), EVERY_MS),
      );
  }

  /** Whether anything is being written in a run. */
  has(runId: string): boolean {
    return this.runs.has(runId);
  }

  /** The call is over: its text is an event now. */
  end(runId: string, callId: string): void {
    const calls = this.runs.get(runId);
    calls?.delete(callId);
    if (calls?.size === 0) this.drop(runId);
  }

  drop(runId: string): void {
    this.runs.delete(runId);
    clearTimeout(this.timers.get(runId));
    this.timers.delete(runId);
  }

  stop(): void {
    for (const runId of [...this.runs.keys()]) this.drop(runId);
  }

  /** Everything that was sent of calls still under way. */
  snapshot(runId: string): LiveFrame[] {
    const frames: LiveFrame[] = [];
    for (const [call_id, channels] of this.runs.get(runId) ?? [])
      for (const [channel, { sent }] of channels)
        if (sent) frames.push({ type: "llm_delta", call_id, channel, offset: 0, text: sent });
    return frames;
  }

  /** What of a text can be shown, without secrets, and the rest, which waits for what follows. */
  private settled(text: string): [shown: string, rest: string] {
    const { hide, heldBack } = this.redactor;
    const clean = hide(text);
    const rest = text.slice(text.length - heldBack(text));
    const head = hide(text.slice(0, text.length - rest.length));
    // One secret may be the beginning of a longer one: that waits as it came, unless its end is another secret's.
    if (head + hide(rest) === clean) return [head, rest];
    const shown = clean.slice(0, clean.length - heldBack(clean));
    return [shown, clean.slice(shown.length)];
  }

  private flush(runId: string): void {
    this.timers.delete(runId);
    const frames: LiveFrame[] = [];
    for (const [call_id, channels] of this.runs.get(runId) ?? [])
      for (const [channel, stream] of channels) {
        const [text, unsent] = this.settled(stream.unsent);
        stream.unsent = unsent;
        if (!text) continue;
        frames.push({ type: "llm_delta", call_id, channel, offset: stream.sent.length, text });
        stream.sent += text;
      }
    if (frames.length > 0) this.send(runId, frames);
  }
}
