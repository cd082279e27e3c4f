import { createHash } from "node:crypto";

export const TIMES = {
  /** How long a call continues after the last one who wanted its answer is gone: whoever lost the connection asks again. */
  graceMs: 5_000,
  /** How long an answer is kept for whoever did not get it. */
  keepMs: 60_000,
  /** Otherwise time passes only where `sweep` is called. */
  isTimed: true,
};

interface Call {
  answer: Promise<unknown>;
  abort: AbortController;
  listeners: number;
  isSettled: boolean;
  /** When it was last waited for, or settled, by a clock that cannot be set. */
  since: number;
}

/** By what a call is known: whoever asks the same again, to the letter, means the same call. */
export const callId = (asked: unknown): string =>
  createHash("sha256").update(JSON.stringify(asked)).digest("base64");

/**
 * Calls that are asked for at least once and executed once: whoever asks for the same again gets the answer of the call
 * that is running, or that was given a moment ago. A call without a waiting caller is aborted after a while.
 */
export class CallsOnce {
  private readonly calls = new Map<string, Call>();

  constructor(private readonly times = TIMES) {}

  /** `asked`: the same for every attempt. `listener`: aborted once whoever asks is gone. */
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

  /** All that are running, and those whose answers are kept. */
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

  /** Gives every call its whole time once more. */
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
