import { createHash } from "node:crypto";

export const TIMES = {
  /** How long a call continues after its last caller is gone: one that lost the connection asks again. */
  graceMs: 5_000,
  /** How long an answer is kept for callers that didn't get it. */
  keepMs: 60_000,
  /** Without a timer, time passes only when `sweep` is called. */
  isTimed: true,
};

interface Call {
  answer: Promise<unknown>;
  abort: AbortController;
  listeners: number;
  isSettled: boolean;
  /** When it was last waited for, or settled, by a monotonic clock. */
  since: number;
}

/** The key of a call: exactly the same question means the same call. */
export const callId = (asked: unknown): string =>
  createHash("sha256").update(JSON.stringify(asked)).digest("base64");

/**
 * Calls that are asked for at least once and executed once: asking again returns the answer of the running call, or of one
 * that ended a moment ago. A call without a waiting caller is aborted after a while.
 */
export class CallsOnce {
  private readonly calls = new Map<string, Call>();

  constructor(private readonly times = TIMES) {}

  /** `asked`: the same for every attempt. `listener`: aborted once the caller is gone. */
  run<T>(asked: unknown, listener: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const id = callId(asked);
    const call = this.calls.get(id) ?? this.begin(id, work);
    call.listeners++;
    const left = () => {
      call.listeners--;
      this.touch(call);
    };
    if (listener.aborted) left();
    else listener.addEventListener("abort", left, { once: true });
    // What answers to this id came from this work.
    return call.answer as Promise<T>;
  }

  /** Running calls, and those whose answers are kept. */
  ids(): string[] {
    return [...this.calls.keys()];
  }

  get running(): number {
    return [...this.calls.values()].filter(({ isSettled }) => !isSettled).length;
  }

  /** Aborts a call at once if it is running without another waiting caller. */
  cancel(asked: unknown): void {
    const id = callId(asked);
    const call = this.calls.get(id);
    if (call && !call.isSettled && call.listeners === 0) this.drop(id, call);
  }

  /** Restarts the time of every call. */
  restart(): void {
    for (const call of this.calls.values()) this.touch(call);
  }

  /** Forgets calls whose time is over, and aborts those that are running. */
  sweep(): void {
    const now = performance.now();
    const { graceMs, keepMs } = this.times;
    for (const [id, call] of this.calls) {
      const { isSettled, listeners, since } = call;
      if ((isSettled || listeners === 0) && now - since >= (isSettled ? keepMs : graceMs))
        this.drop(id, call);
    }
  }

  private begin(id: string, work: (signal: AbortSignal) => Promise<unknown>): Call {
    const abort = new AbortController();
    const call = { answer: work(abort.signal), abort, listeners: 0, isSettled: false, since: 0 };
    this.calls.set(id, call);
    const settled = () => {
      call.isSettled = true;
      this.touch(call);
    };
    call.answer.then(settled, () => this.drop(id, call));
    return call;
  }

  private touch(call: Call): void {
    call.since = performance.now();
    const { isTimed, graceMs, keepMs } = this.times;
    // A timer may fire a moment early.
    if (isTimed) setTimeout(() => this.sweep(), (call.isSettled ? keepMs : graceMs) + 5).unref();
  }

  private drop(id: string, call: Call): void {
    call.abort.abort();
    if (this.calls.get(id) === call) this.calls.delete(id);
  }
}
