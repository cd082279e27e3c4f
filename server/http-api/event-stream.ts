import { LIMITS } from "@/server/limits";

/** One message of an event stream. `id` is what the reader sends back to resume from here. */
export interface Message {
  id?: string;
  event?: string;
  data: unknown;
}

const encoder = new TextEncoder();
const PING = encoder.encode(": still here\n\n");

/**
 * Sends messages as they come, for as long as both sides want to. Nothing is read ahead of the reader; one that stops
 * reading is let go and may come back with its last id. `onClose` is called once, however it ends. `isAllowed` is asked with each
 * heartbeat: a token may expire or be revoked meanwhile.
 */
export function eventStream(
  open: (signal: AbortSignal) => AsyncIterable<Message[]>,
  {
    signal,
    onClose,
    isAllowed,
  }: { signal: AbortSignal; onClose: () => void; isAllowed: () => Promise<boolean> },
): Response {
  const { heartbeatMs, stuckMs } = LIMITS.streams;
  const stop = new AbortController();
  let heartbeat: NodeJS.Timeout | undefined;
  let source: AsyncIterator<Message[]> | undefined;
  let readAt = performance.now();
  let isClosed = false;

  function close(controller?: ReadableStreamDefaultController<Uint8Array>) {
    if (isClosed) return;
    isClosed = true;
    clearInterval(heartbeat);
    signal.removeEventListener("abort", onAbort);
    stop.abort();
    // A source that is waiting ends by the signal; this one only tidies up.
    source?.return?.().catch(() => {});
    onClose();
    try {
      controller?.close();
    } catch {
      // The reader was faster.
    }
  }
  let onAbort = () => close();

  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      onAbort = () => close(controller);
      signal.addEventListener("abort", onAbort, { once: true });
      if (signal.aborted) return close(controller);
      source = open(stop.signal)[Symbol.asyncIterator]();
      controller.enqueue(encoder.encode("retry: 2000\n\n"));
      heartbeat = setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(PING);
        else if (performance.now() - readAt > stuckMs) close(controller);
        isAllowed().then(
          (isOk) => isOk || close(controller),
          () => close(controller),
        );
      }, heartbeatMs);
      heartbeat.unref();
    },
    async pull(controller) {
      readAt = performance.now();
      try {
        const next = await source?.next();
        if (isClosed) return;
        if (!next || next.done) close(controller);
        else controller.enqueue(encoder.encode(next.value.map(written).join("")));
      } catch (error) {
        if (isClosed) return;
        close();
        controller.error(error);
      }
    },
    cancel: () => close(),
  });
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      // Anything that packs or collects the answer on its way would hold events back.
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    },
  });
}

function written({ id, event, data }: Message): string {
  const lines = [id === undefined ? "" : `id: ${id}\n`, event === undefined ? "" : `event: ${event}\n`];
  // JSON has no bare line breaks, so it is one line of data.
  return `${lines.join("")}data: ${JSON.stringify(data)}\n\n`;
}
