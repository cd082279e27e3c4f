import { LIMITS } from "@/server/limits";
import { readSettings } from "@/server/settings";
import { refuse } from "../guard";
import type { Principal } from "../principal";

declare global {
  var __troupeStreams: Map<string, number> | undefined;
}

globalThis.__troupeStreams ??= new Map();
/** Open streams by principal, in all copies of this module. */
const streams = globalThis.__troupeStreams;

/** How many streams one principal, and all together, may have open. */
export const streamLimits = () => ({
  perPrincipal: readSettings().TROUPE_MAX_STREAMS,
  perProcess: LIMITS.streams.perProcess,
});

/** Takes a place for an event stream: the way to give it back, or why there is none. */
export function takeStream(
  principal: Principal,
  limits: { perPrincipal: number; perProcess: number } = streamLimits(),
  open: Map<string, number> = streams,
): { release: () => void } | "too_many_yours" | "too_many" {
  const who = `${principal.kind}:${principal.id}`;
  const own = open.get(who) ?? 0;
  if (own >= limits.perPrincipal) return "too_many_yours";
  let all = 0;
  for (const count of open.values()) all += count;
  if (all >= limits.perProcess) return "too_many";
  open.set(who, own + 1);
  let isReleased = false;
  return {
    release() {
      if (isReleased) return;
      isReleased = true;
      const left = (open.get(who) ?? 1) - 1;
      if (left > 0) open.set(who, left);
      else open.delete(who);
    },
  };
}

/**
 * Answers a request of the app; one for an event stream takes a place for as long as the stream is open. Its reader may
 * leave at any time, so the place is given back by whatever comes first: the end, the reader, the connection.
 */
export async function inStreamPlace(
  { principal, request }: { principal: Principal; request: Request },
  answer: () => Promise<Response>,
): Promise<Response> {
  if (!(request.headers.get("accept") ?? "").includes("text/event-stream")) return answer();
  const place = takeStream(principal);
  if (typeof place === "string") {
    const [status, code] = place === "too_many" ? [503, "TOO_MANY_STREAMS"] : [429, "TOO_MANY_STREAMS"];
    const message = "Too many pages are connected to this server. Close some and try again.";
    return refuse({ status, code, message, headers: { "retry-after": "5" } }, "app");
  }
  request.signal.addEventListener("abort", place.release, { once: true });
  try {
    const response = await answer();
    if (!response.body) {
      place.release();
      return response;
    }
    const { status, statusText, headers } = response;
    return new Response(watched(response.body, place.release), { status, statusText, headers });
  } catch (error) {
    place.release();
    throw error;
  }
}

function watched(body: ReadableStream<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        onEnd();
        controller.close();
      } catch (error) {
        onEnd();
        controller.error(error);
      }
    },
    cancel(reason) {
      onEnd();
      return reader.cancel(reason);
    },
  });
}
