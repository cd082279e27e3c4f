import { reasonOf } from "@/server/domain/base/guards";
import { ModelError } from "../model";
import {
  type Callee,
  cancelled,
  classifyNetworkError,
  cutOff,
  notAnAnswer,
  ProviderRejection,
  redirectError,
  refusalOf,
  timedOut,
  tooLarge,
} from "./errors";
import { type ServerEvent, serverEvents } from "./sse";

/** A `fetch` of addresses that are written out. */
export type SendRequest = (url: string, init?: RequestInit) => Promise<Response>;

/** How long and how large an answer may be. Times in milliseconds. */
export interface TransportLimits {
  /** Until the model's first output; keep-alives restart this timer. */
  firstByteMs: number;
  /** Between two pieces of the answer. */
  idleMs: number;
  /** For all of it. */
  totalMs: number;
  maxBytes: number;
  maxLineBytes: number;
}

export const TRANSPORT_LIMITS: TransportLimits = {
  firstByteMs: 60_000,
  idleMs: 45_000,
  totalMs: 600_000,
  // Every token may come in an envelope of some hundred bytes.
  maxBytes: 48 * 1024 * 1024,
  maxLineBytes: 1024 * 1024,
};

/** A piece of an answer: an event of a stream, or all of it from a server that does not stream. */
export type ResponsePiece = ServerEvent | { whole: unknown };

/**
 * One request with our own rules: timeouts, sizes, no redirects, no headers but ours. Independent of the content, so
 * that every protocol can use it.
 */
export interface ModelTransport {
  /**
   * Sends a body as JSON and gives the pieces of the answer. Throws Refused where the server said no, a ModelError where
   * a rule was broken, the connection was lost, or the call was cancelled.
   */
  post(url: string, body: unknown, headers?: Readonly<Record<string, string>>): AsyncGenerator<ResponsePiece>;
  /** The server took the request: from now on it may cost something. */
  isAccepted(): boolean;
  /** The model's first words came: from now on the shorter silence counts. */
  begun(): void;
  /** Nothing but the bill can still come. */
  ending(): void;
  close(): void;
}

const MAX_ERROR_BYTES = 65_536;
/** After the end of an answer its bill is waited for, but not long. */
const BILL_MS = 5_000;

export function newModelTransport(
  send: SendRequest,
  callee: Callee,
  limits: TransportLimits,
  signal: AbortSignal,
): ModelTransport {
  const abort = new AbortController();
  let failure: ModelError | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isAccepted = false;
  let silence: "first" | "idle" = "first";
  let silenceMs = limits.firstByteMs;
  const fail = (error: ModelError): ModelError => {
    failure ??= error;
    abort.abort(failure);
    return failure;
  };
  const listen = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      // A server that is silent for this long has accepted the request: a refused connection fails sooner.
      isAccepted = true;
      fail(timedOut(callee, silence, silenceMs));
    }, silenceMs);
  };
  const total = setTimeout(() => fail(timedOut(callee, "total", limits.totalMs)), limits.totalMs);
  const onCancel = () => fail(cancelled());
  signal.addEventListener("abort", onCancel, { once: true });
  if (signal.aborted) onCancel();

  /** The promise, or the fault as soon as there is one: cancelling must not depend on the other side. */
  const orAbort = <T>(promise: Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const stop = () => reject(reasonOf(abort.signal));
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
        listen();
        const { done, value } = await orAbort(reader.read()).catch((error: unknown) => {
          throw failure ?? fail(brokenOff(error, callee));
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

  async function* post(
    url: string,
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): AsyncGenerator<ResponsePiece> {
    listen();
    const response = await orAbort(
      send(url, {
        method: "POST",
        headers: { accept: "application/json", "content-type": "application/json", ...headers },
        body: JSON.stringify(body, whole),
        redirect: "manual",
        signal: abort.signal,
      }),
    ).catch((error: unknown) => {
      throw failure ?? fail(error instanceof ModelError ? error : classifyNetworkError(error, callee));
    });
    const { status } = response;
    if (status >= 300 && status < 400) throw fail(redirectError(callee, status));
    if (!response.ok) throw new ProviderRejection(await refusal(response));
    isAccepted = true;
    if (/html/i.test(response.headers.get("content-type") ?? ""))
      throw fail(notAnAnswer(callee, "a web page"));
    if (!response.body) throw fail(notAnAnswer(callee, "nothing"));
    yield* pieces(metered(response.body, limits.maxBytes));
  }

  async function refusal(response: Response) {
    const parts: Uint8Array[] = [];
    try {
      if (response.body) for await (const part of metered(response.body, MAX_ERROR_BYTES)) parts.push(part);
    } catch (error) {
      // What came of its words is more than nothing.
      if (error instanceof ModelError && error.error.code === "CANCELLED") throw error;
    }
    return refusalOf(response.status, response.headers, Buffer.concat(parts).toString("utf8"));
  }

  /** The content type is detected from the first bytes; the header isn't always right. */
  async function* pieces(parts: AsyncGenerator<Uint8Array>): AsyncGenerator<ResponsePiece> {
    const begun: Uint8Array[] = [];
    const decoder = new TextDecoder();
    let first = "";
    while (first === "") {
      const next = await parts.next();
      if (next.done) break;
      begun.push(next.value);
      first = decoder.decode(next.value, { stream: true }).trimStart()[0] ?? "";
    }
    const all = (async function* () {
      yield* begun;
      yield* parts;
    })();
    if (first === "<") throw fail(notAnAnswer(callee, "a web page"));
    if (first !== "{" && first !== "[") {
      yield* serverEvents(all);
      return;
    }
    const bytes: Uint8Array[] = [];
    for await (const part of all) bytes.push(part);
    const whole = parsed(new TextDecoder().decode(Buffer.concat(bytes)));
    if (whole === undefined) throw fail(cutOff(callee, "is not complete"));
    yield { whole };
  }

  return {
    post,
    isAccepted: () => isAccepted,
    begun() {
      if (silence === "idle") return;
      silence = "idle";
      silenceMs = limits.idleMs;
    },
    ending() {
      silence = "idle";
      silenceMs = Math.min(limits.idleMs, BILL_MS);
    },
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Texts as every service can read them: half a character, which JSON can carry, is refused by some. */
const whole = (_key: string, value: unknown): unknown =>
  typeof value === "string" ? value.toWellFormed() : value;
