import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ErrorCode, McpError, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import packageJson from "@/package.json";
import type { ToolStatus } from "@/server/domain/tool";
import type { McpAddress } from "./connection";
import { readable } from "./definition";
import { newStdioTransport } from "./stdio";

// Everything that needs the protocol's library. It is large, so it is only loaded once a server is to be connected.

/** A client that is not connected yet; `toolsChanged` is called whenever its server says so. */
export function newClient({ closed, toolsChanged }: { closed(): void; toolsChanged(): void }): Client {
  const client = new Client(
    { name: "troupe", version: packageJson.version },
    // The built-in validator writes code from schemas, and these come from strangers; results are checked here.
    {
      capabilities: {},
      jsonSchemaValidator: {
        getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
      },
    },
  );
  client.onclose = closed;
  // What happens outside of a request is told by the next request that fails.
  client.onerror = () => {};
  client.setNotificationHandler(ToolListChangedNotificationSchema, toolsChanged);
  return client;
}

/** The way to a server. `lastWords`: the end of what it wrote as errors, where it is a process of this machine. */
export function newTransport(address: McpAddress): { transport: Transport; lastWords(): string } {
  if (address.kind === "stdio") return newStdioTransport(address.server);
  const { authorization } = address;
  const transport = new StreamableHTTPClientTransport(new URL(address.url), {
    fetch: address.fetch,
    ...(authorization === null ? {} : { requestInit: { headers: { Authorization: authorization } } }),
    reconnectionOptions: {
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 30_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 2,
    },
  });
  return { transport, lastWords: () => "" };
}

/** What happened, in words for a person; hidden characters are spelled out, because servers write some of it. */
export function wordsOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause.name === "EgressError") return cause.message;
  if (error instanceof StreamableHTTPError && (error.code === 401 || error.code === 403))
    return error.code === 401
      ? "The server refuses the Authorization header (401). Enter it again, or remove it and sign in."
      : "The server refuses access (403): whoever it is told to trust may not do this.";
  const message = error instanceof Error ? error.message : String(error);
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return readable(`${message.replace(/^MCP error -?\d{1,6}: /, "")}${cause}`).slice(0, 1000);
}

/** The status that stands for what a call threw; 503: the server has to be connected again. */
export function statusOf(error: unknown): ToolStatus {
  if (error instanceof McpError) {
    if (error.code === (ErrorCode.RequestTimeout as number)) return 408;
    if (error.code === (ErrorCode.ConnectionClosed as number)) return 503;
    return error.code === (ErrorCode.InvalidParams as number) ? 400 : 500;
  }
  // The way to the server failed, or it does not know this session any more.
  return 503;
}
