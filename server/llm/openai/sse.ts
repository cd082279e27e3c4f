import { createParser } from "eventsource-parser";

/** A server-sent event. */
export interface ServerEvent {
  /** "message" if the server names none. */
  event: string;
  data: string;
}

/**
 * Reads server-sent events from bytes, wherever the chunks are cut. The last event counts as complete even without the
 * empty line that should follow it, because some servers leave it out.
 */
export async function* serverEvents(parts: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  const events: ServerEvent[] = [];
  const parser = createParser({ onEvent: ({ event = "message", data }) => events.push({ event, data }) });
  for await (const part of parts) {
    parser.feed(decoder.decode(part, { stream: true }));
    yield* events.splice(0);
  }
  parser.feed(`${decoder.decode()}\n\n`);
  yield* events;
}
