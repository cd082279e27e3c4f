import { parseJSONRPCMessage, ReadBuffer } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { StdioServer } from "../operator/file";

const STDERR_CHARS = 4000;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** Joins the pieces of a long line once, at its end: the library's buffer copies all of it with each piece. */
class LineBuffer extends ReadBuffer {
  private pieces: Buffer[] = [];
  private bytes = 0;

  override append(piece: Buffer): void {
    this.pieces.push(piece);
    this.bytes += piece.length;
    if (!piece.includes("\n") && this.bytes <= MAX_MESSAGE_BYTES) return;
    const line = Buffer.concat(this.pieces);
    this.pieces = [];
    this.bytes = 0;
    super.append(line);
  }

  override clear(): void {
    this.pieces = [];
    this.bytes = 0;
    super.clear();
  }
}

/**
 * Starts an MCP server as a process of this machine: from the operator's file only, from a list of words, without a
 * shell, and with the environment that the file lets through. `lastWords`: the end of what it wrote as errors.
 */
export function newStdioTransport(server: StdioServer): {
  transport: StdioClientTransport;
  stderrTail(): string;
} {
  const transport = new StdioClientTransport({
    command: server.command,
    args: server.args,
    env: server.environment,
    cwd: server.cwd,
    stderr: "pipe",
    maxBufferSize: MAX_MESSAGE_BYTES,
  });
  // It takes no buffer from outside.
  Reflect.set(transport, "_readBuffer", new LineBuffer({ maxBufferSize: MAX_MESSAGE_BYTES }));
  let tail = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    tail = (tail + chunk.toString("utf8")).slice(-STDERR_CHARS);
  });
  return { transport, stderrTail: () => tail.trim() };
}

/** A message that came to such a process by another way. Throws where it is none of the protocol. */
export const messageFrom = (value: unknown) => parseJSONRPCMessage(value);
