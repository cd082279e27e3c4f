import {
  type Callee,
  cancelled,
  classifyNetworkError,
  cutOff,
  notAnAnswer,
  redirectError,
  timedOut,
  tooLarge,
} from "./errors";
import { ModelError } from "./model";

export interface WireLimits {
  /** Until the answer's head has come. */
  firstByteMs: number;
  /** Between two pieces of the answer. */
  idleMs: number;
  /** For all of it. */
  totalMs: number;
  maxBytes: number;
  maxLineBytes: number;
}

export const WIRE_LIMITS: WireLimits = {
  firstByteMs: 60_000,
  idleMs: 45_000,
  totalMs: 600_000,
  maxBytes: 4 * 1024 * 1024,
  maxLineBytes: 1024 * 1024,
};

/** One request with our own rules: timers, sizes, no redirects. What breaks them is kept in `fault`. */
export interface Wire {
  fetch: typeof fetch;
  /** Set when the call broke a rule, or was cancelled: whatever arrived before is not an answer. */
  fault(): ModelError | null;
  close(): void;
}

/** Headers that our requests carry; the client library adds others of its own and from the environment. */
const SENT_HEADERS = new Set(["accept", "authorization", "content-type", "x-troupe-run"]);
const MAX_ERROR_BYTES = 65_536;

export function newWire(send: typeof fetch, callee: Callee, limits: WireLimits, signal: AbortSignal): Wire {
  const abort = new AbortController();
  let fault: ModelError | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const fail = (error: ModelError): ModelError => {
    fault ??= error;
    abort.abort(fault);
    return fault;
  };
  const arm = (what: "first" | "idle", ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => fail(timedOut(callee, what, ms)), ms);
  };
  const total = setTimeout(() => fail(timedOut(callee, "total", limits.totalMs)), limits.totalMs);
  const onCancel = () => fail(cancelled());
  signal.addEventListener("abort", onCancel, { once: true });
  if (signal.aborted) onCancel();

  /** The promise, or the fault as soon as there is one: cancelling must not depend on the other side. */
  const orFault = <T>(promise: Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const stop = () => reject(abort.signal.reason as Error);
      if (abort.signal.aborted) stop();
      abort.signal.addEventListener("abort", stop, { once: true });
      promise.then(resolve, reject).finally(() => abort.signal.removeEventListener("abort", stop));
    });

  async function* metered(body: ReadableStream<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
    const reader = body.getReader();
    let bytes = 0;
    let line = 0;
    try {
      for (;;) {
        arm("idle", limits.idleMs);
        const { done, value } = await orFault(reader.read()).catch((error: unknown) => {
          throw fault ?? fail(brokenOff(error, callee));
        });
        if (done) return;
        bytes += value.byteLength;
        line = lineAfter(line, value, limits.maxLineBytes);
        if (bytes > maxBytes || line > limits.maxLineBytes) throw fail(tooLarge(callee));
        yield value;
      }
    } finally {
      clearTimeout(timer);
      reader.cancel().catch(() => undefined);
    }
  }

  const readAll = async (body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<string> => {
    if (!body) return "";
    const parts: Uint8Array[] = [];
    for await (const part of metered(body, maxBytes)) parts.push(part);
    return Buffer.concat(parts).toString("utf8");
  };

  const fetchOnce: typeof fetch = async (input, init) => {
    init?.signal?.addEventListener("abort", () => abort.abort(init.signal?.reason), { once: true });
    const headers = [...new Headers(init?.headers)].filter(([name]) => SENT_HEADERS.has(name));
    arm("first", limits.firstByteMs);
    const response = await orFault(
      send(input, { ...init, headers, redirect: "manual", signal: abort.signal }),
    ).catch((error: unknown) => {
      throw fault ?? fail(error instanceof ModelError ? error : classifyNetworkError(error, callee));
    });
    clearTimeout(timer);
    const { status } = response;
    if (status >= 300 && status < 400) throw fail(redirectError(callee, status));
    if (!response.ok) {
      const text = await readAll(response.body, MAX_ERROR_BYTES).catch(() => "");
      if (fault?.error.code === "CANCELLED") throw fault;
      fault = null;
      return new Response(text, { status, headers: response.headers });
    }
    const type = response.headers.get("content-type") ?? "";
    if (/html/i.test(type)) throw fail(notAnAnswer(callee, "a web page"));
    if (/json/i.test(type) && init?.method?.toUpperCase() === "POST")
      return eventStream([asEvents(await readAll(response.body, limits.maxBytes), callee, fail)]);
    if (!response.body) throw fail(notAnAnswer(callee, "nothing"));
    return eventStream(metered(response.body, limits.maxBytes));
  };

  return {
    fetch: fetchOnce,
    fault: () => fault,
    close() {
      clearTimeout(timer);
      clearTimeout(total);
      signal.removeEventListener("abort", onCancel);
      abort.abort(new Error("closed"));
    },
  };
}

function lineAfter(before: number, bytes: Uint8Array, most: number): number {
  let start = 0;
  let line = before;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) {
    line += at - start;
    if (line > most) return line;
    line = 0;
    start = at + 1;
  }
  return line + bytes.byteLength - start;
}

function brokenOff(error: unknown, callee: Callee): ModelError {
  if (error instanceof ModelError) return error;
  const known = classifyNetworkError(error, callee);
  return known.error.code === "OUTPUT_INVALID" ? known : cutOff(callee, "broke off");
}

/** A server that does not stream sends the whole answer at once; this makes the same events of it. */
function asEvents(text: string, callee: Callee, fail: (error: ModelError) => ModelError): Uint8Array {
  const whole = parse(text);
  if (whole === undefined) throw fail(cutOff(callee, "is not complete"));
  const choice = whole.choices?.[0];
  if (whole.error === undefined && (choice === undefined || typeof choice.message !== "object"))
    throw fail(notAnAnswer(callee, "something else"));
  const event =
    whole.error !== undefined
      ? { error: whole.error }
      : { ...whole, choices: [{ ...choice, delta: choice?.message }] };
  return new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n`);
}

interface Whole {
  error?: unknown;
  choices?: { message?: unknown; finish_reason?: unknown }[];
}

function parse(text: string): Whole | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
  } catch {
    return undefined;
  }
}

function eventStream(parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Response {
  const iterator = Symbol.asyncIterator in parts ? parts[Symbol.asyncIterator]() : parts[Symbol.iterator]();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const piece: IteratorResult<Uint8Array, unknown> = await iterator.next();
      if (piece.done) controller.close();
      else controller.enqueue(piece.value);
    },
    async cancel() {
      await iterator.return?.(undefined);
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
