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

/** A `fetch` that takes only URLs as text. */
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
  // Every token may come with some hundred bytes of JSON around it.
  maxBytes: 48 * 1024 * 1024,
  maxLineBytes: 1024 * 1024,
};

/** A piece of an answer: an event of a stream, or the whole answer of a server that doesn't stream. */
export type ResponsePiece = ServerEvent | { whole: unknown };

const MAX_ERROR_BYTES = 65_536;
/** How long to wait for the usage that may follow an answer. */
const BILL_MS = 5_000;

/**
 * One request with our own rules: timeouts, sizes, no redirects, no headers but ours. Independent of the content, so
 * that every protocol can use it.
 */
export class ModelTransport {
  private readonly abort = new AbortController();
  private failure: ModelError | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly total: ReturnType<typeof setTimeout>;
  private silence: "first" | "idle" = "first";
  private silenceMs: number;
  private accepted = false;

  constructor(
    private readonly send: SendRequest,
    private readonly callee: Callee,
    private readonly limits: TransportLimits,
    private readonly signal: AbortSignal,
  ) {
    const { totalMs } = limits;
    this.silenceMs = limits.firstByteMs;
    this.total = setTimeout(() => this.fail(timedOut(callee, "total", totalMs)), totalMs);
    signal.addEventListener("abort", this.onCancel, { once: true });
    if (signal.aborted) this.onCancel();
  }

  /** Whether the server took the request: from then on it may cost something. */
  isAccepted(): boolean {
    return this.accepted;
  }

  /** The model's first output came: from now on the idle timeout applies. */
  begun(): void {
    if (this.silence === "idle") return;
    this.silence = "idle";
    this.silenceMs = this.limits.idleMs;
  }

  /** Only the usage can still come. */
  ending(): void {
    this.silence = "idle";
    this.silenceMs = Math.min(this.limits.idleMs, BILL_MS);
  }

  close(): void {
    clearTimeout(this.timer);
    clearTimeout(this.total);
    this.signal.removeEventListener("abort", this.onCancel);
    this.abort.abort(new Error("closed"));
  }

  /**
   * Sends a body as JSON and yields the pieces of the answer. Throws ProviderRejection if the server refused, ModelError
   * if a rule was broken, the connection was lost or the call was cancelled.
   */
  async *post(
    url: string,
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): AsyncGenerator<ResponsePiece> {
    const { callee, send } = this;
    this.listen();
    const response = await this.orAbort(
      send(url, {
        method: "POST",
        headers: { accept: "application/json", "content-type": "application/json", ...headers },
        body: JSON.stringify(body, whole),
        redirect: "manual",
        signal: this.abort.signal,
      }),
    ).catch((error: unknown) => {
      throw (
        this.failure ?? this.fail(error instanceof ModelError ? error : classifyNetworkError(error, callee))
      );
    });
    const { status } = response;
    if (status >= 300 && status < 400) throw this.fail(redirectError(callee, status));
    if (!response.ok) throw new ProviderRejection(await this.refusal(response));
    this.accepted = true;
    if (/html/i.test(response.headers.get("content-type") ?? ""))
      throw this.fail(notAnAnswer(callee, "a web page"));
    if (!response.body) throw this.fail(notAnAnswer(callee, "nothing"));
    yield* this.pieces(this.metered(response.body, this.limits.maxBytes));
  }

  private readonly onCancel = () => this.fail(cancelled());

  private fail(error: ModelError): ModelError {
    this.failure ??= error;
    this.abort.abort(this.failure);
    return this.failure;
  }

  private listen(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      // A server that is silent for this long has accepted the request: a refused connection fails sooner.
      this.accepted = true;
      this.fail(timedOut(this.callee, this.silence, this.silenceMs));
    }, this.silenceMs);
  }

  /** Rejects as soon as the call is aborted: cancelling must not depend on the other side. */
  private orAbort<T>(promise: Promise<T>): Promise<T> {
    const { signal } = this.abort;
    return new Promise((resolve, reject) => {
      const stop = () => reject(reasonOf(signal));
      if (signal.aborted) stop();
      signal.addEventListener("abort", stop, { once: true });
      promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
    });
  }

  private async *metered(body: ReadableStream<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
    const { callee, limits } = this;
    const reader = body.getReader();
    let bytes = 0;
    let line = 0;
    try {
      for (;;) {
        this.listen();
        const { done, value } = await this.orAbort(reader.read()).catch((error: unknown) => {
          throw this.failure ?? this.fail(brokenOff(error, callee));
        });
        if (done) return;
        bytes += value.byteLength;
        line = lineAfter(line, value, limits.maxLineBytes);
        if (bytes > maxBytes || line > limits.maxLineBytes) throw this.fail(tooLarge(callee));
        yield value;
      }
    } finally {
      clearTimeout(this.timer);
      reader.cancel().catch(() => undefined);
    }
  }

  private async refusal({ status, headers, body }: Response) {
    const parts: Uint8Array[] = [];
    try {
      if (body) for await (const part of this.metered(body, MAX_ERROR_BYTES)) parts.push(part);
    } catch (error) {
      // A part of the error's body is better than none.
      if (error instanceof ModelError && error.error.code === "CANCELLED") throw error;
    }
    return refusalOf(status, headers, Buffer.concat(parts).toString("utf8"));
  }

  /** The content type is detected from the first bytes; the header isn't always right. */
  private async *pieces(parts: AsyncGenerator<Uint8Array>): AsyncGenerator<ResponsePiece> {
    const { callee } = this;
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
    if (first === "<") throw this.fail(notAnAnswer(callee, "a web page"));
    if (first !== "{" && first !== "[") {
      yield* serverEvents(all);
      return;
    }
    const bytes: Uint8Array[] = [];
    for await (const part of all) bytes.push(part);
    const whole = parsed(new TextDecoder().decode(Buffer.concat(bytes)));
    if (whole === undefined) throw this.fail(cutOff(callee, "was incomplete"));
    yield { whole };
  }
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
  return known.error.code === "OUTPUT_INVALID" ? known : cutOff(callee, "was cut off");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Replaces lone surrogates, which some services reject. */
const whole = (_key: string, value: unknown): unknown =>
  typeof value === "string" ? value.toWellFormed() : value;
