import { parseJSONRPCMessage } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { StdioServer } from "../operator/file";

const STDERR_CHARS = 4000;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/**
 * Starts an MCP server as a process of this machine: from the operator's file only, from a list of words, without a
 * shell, and with the environment that the file lets through. `lastWords`: the end of what it wrote as errors.
 */
export function newStdioTransport(server: StdioServer): {
  transport: StdioClientTransport;
  lastWords(): string;
} {
  const transport = new StdioClientTransport({
    command: server.command,
    args: server.args,
    env: server.environment,
    cwd: server.cwd,
    stderr: "pipe",
    maxBufferSize: MAX_MESSAGE_BYTES,
  });
  let words = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    words = (words + chunk.toString("utf8")).slice(-STDERR_CHARS);
  });
  return { transport, lastWords: () => words.trim() };
}

/** A message that came to such a process by another way. Throws where it is none of the protocol. */
export const messageFrom = (value: unknown) => parseJSONRPCMessage(value);
