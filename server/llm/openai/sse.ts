/** One event of a stream of server-sent events. */
export interface ServerEvent {
  /** "message" where the server names none. */
  event: string;
  data: string;
}

/**
 * Reads server-sent events from bytes, however these are cut. An event that the stream ends in is given as if it were
 * complete: servers forget the empty line after the last one.
 */
export async function* serverEvents(parts: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  // It also swallows a byte order mark, and keeps characters whole that are cut in two.
  const decoder = new TextDecoder();
  const lineEnd = /\r\n|\n|\r/g;
  let rest = "";
  /** What follows the rest and holds no end of a line: joined to it once, however small the parts are. */
  let more: string[] = [];
  let open: { event: string; data: string[] } = { event: "", data: [] };

  function* take(text: string, isEnd: boolean): Generator<ServerEvent> {
    more.push(text);
    if (!isEnd && !/[\r\n]/.test(text) && !rest.endsWith("\r")) return;
    let from = 0;
    // A carriage return at the end of the rest is looked at again.
    lineEnd.lastIndex = Math.max(0, rest.length - 1);
    rest += more.join("");
    more = [];
    for (let end = lineEnd.exec(rest); end; end = lineEnd.exec(rest)) {
      // A carriage return at the very end may be half of a line's end.
      if (!isEnd && end[0] === "\r" && end.index === rest.length - 1) break;
      yield* read(rest.slice(from, end.index));
      from = lineEnd.lastIndex;
    }
    rest = rest.slice(from);
    if (!isEnd) return;
    yield* read(rest);
    yield* read("");
  }

  function* read(line: string): Generator<ServerEvent> {
    if (line === "") {
      if (open.data.length > 0) yield { event: open.event || "message", data: open.data.join("\n") };
      open = { event: "", data: [] };
      return;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") open.data.push(value);
    if (field === "event") open.event = value;
  }

  for await (const part of parts) yield* take(decoder.decode(part, { stream: true }), false);
  yield* take(decoder.decode(), true);
}
