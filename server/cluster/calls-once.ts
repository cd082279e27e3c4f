import { createHash } from "node:crypto";

/** How long a call goes on after the last one who wanted its answer is gone: whoever lost the connection asks again. */
const GRACE_MS = 1_000;
/** How long an answer is kept for who did not get it. */
const KEEP_MS = 60_000;

interface Call {
  body: string;
  answer: Promise<unknown>;
  abort: AbortController;
  listeners: number;
  isSettled: boolean;
  timer?: ReturnType<typeof setTimeout>;
}

/**
 * Calls that come at least once and happen once: whoever asks again for the same gets the answer of the call that is under
 * way, or that was given within the last minute. A call that nobody waits for any more is aborted.
 */
export class CallsOnce {
  private readonly calls = new Map<string, Call>();

  constructor(private readonly times = { graceMs: GRACE_MS, keepMs: KEEP_MS }) {}

  /** `key`: the same for every attempt. What differs in `about` is another call. `listener`: aborted once who asks is gone. */
  run<T>(
    key: string,
    about: unknown,
    listener: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const body = createHash("sha256").update(JSON.stringify(about)).digest("base64");
    const known = this.calls.get(key);
    const call = known?.body === body ? known : this.begin(key, body, work);
    this.listen(key, call, listener);
    // What answers to this key and body came from this work.
    return call.answer as Promise<T>;
  }

  private begin(key: string, body: string, work: (signal: AbortSignal) => Promise<unknown>): Call {
    const abort = new AbortController();
    const call: Call = { body, abort, listeners: 0, isSettled: false, answer: work(abort.signal) };
    this.calls.set(key, call);
    call.answer.then(
      () => this.settled(key, call, abort.signal.aborted ? 0 : this.times.keepMs),
      () => this.settled(key, call, 0),
    );
    return call;
  }

  private listen(key: string, call: Call, listener: AbortSignal): void {
    if (call.isSettled) return;
    clearTimeout(call.timer);
    call.listeners++;
    const left = () => {
      if (--call.listeners > 0 || call.isSettled) return;
      call.timer = setTimeout(() => {
        call.abort.abort();
        this.drop(key, call);
      }, this.times.graceMs);
    };
    if (listener.aborted) left();
    else listener.addEventListener("abort", left, { once: true });
  }

  private settled(key: string, call: Call, keepMs: number): void {
    call.isSettled = true;
    clearTimeout(call.timer);
    if (keepMs === 0) return this.drop(key, call);
    call.timer = setTimeout(() => this.drop(key, call), keepMs);
    call.timer.unref?.();
  }

  private drop(key: string, call: Call): void {
    if (this.calls.get(key) === call) this.calls.delete(key);
  }
}
