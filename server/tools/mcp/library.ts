import {
  Client,
  INVALID_PARAMS,
  METHOD_NOT_FOUND,
  ProtocolError,
  parseJSONRPCMessage,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  type Transport,
  type VersionNegotiationMode,
} from "@modelcontextprotocol/client";
import packageJson from "@/package.json";
import { defined } from "@/server/domain/base/defined";
import { errorCode, errorMessage, isObject, recordOf } from "@/server/domain/base/guards";
import { parseJson } from "@/server/domain/base/json";
import { JsonObject } from "@/server/domain/base/values";
import type { ToolAnswer, ToolQuestion, ToolStatus } from "@/server/domain/tool/tool";
import type { ChannelHandler, WorkerChannel } from "../at-workers";
import type { StdioServer } from "../operator/file";
import { readable } from "./definition";
import { newStdioTransport } from "./stdio";

const NOBODY = "Nothing listens at that host and port. Check the URL and that the server is running.";
const NO_HOST = "Unknown host. Check the URL.";
const LATE = "The server didn't accept a connection in time. Check the URL and the network.";
const NO_WAY = "The host is unreachable from here. Check the URL and the network.";

const BY_CODE: Readonly<Record<string, string>> = {
  ECONNREFUSED: NOBODY,
  ENOTFOUND: NO_HOST,
  EAI_AGAIN: "The host name could not be resolved at the moment. Check the network and try again.",
  ECONNRESET: "The connection was closed. Check the URL and whether it should use http or https.",
  UND_ERR_SOCKET: "The connection was closed. Check the URL and whether it should use http or https.",
  ETIMEDOUT: LATE,
  UND_ERR_CONNECT_TIMEOUT: LATE,
  EHOSTUNREACH: NO_WAY,
  ENETUNREACH: NO_WAY,
};

/** Ports that browsers and fetch keep off, because they belong to mail, files and the like. */
const BAD_PORT =
  "Its port belongs to another kind of service, so no request was sent. Check the port in the URL.";

/** Why no connection to a server came about, and what to do; null where it is not known to be that. */
function describeUnreachable(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const known = BY_CODE[errorCode(cause) ?? ""];
    if (known !== undefined) return known;
    if (cause.message === "bad port") return BAD_PORT;
    if (/certificate|altnames|wrong version number|ssl routines/i.test(cause.message))
      return `The connection could not be secured (${cause.message}). Check whether the URL should use http or https. To trust your own certificate, use NODE_EXTRA_CA_CERTS.`;
  }
  return null;
}

/** Opens a connection to a server that is a process of a worker. Throws NoSuchWorker. */
type OpenChannel = (end: ChannelHandler) => Promise<WorkerChannel>;

/** Messages of the protocol over a wire to a worker, which starts the process and hands them on. */
function newChannelTransport(open: OpenChannel): Transport {
  let channel: WorkerChannel | null = null;
  const transport: Transport = {
    async start() {
      channel = await open({
        // What a process wrote; the client reads it with the same care as from a process of this machine.
        message(message) {
          try {
            transport.onmessage?.(parseJSONRPCMessage(message));
          } catch (error) {
            transport.onerror?.(new Error(errorMessage(error)));
          }
        },
        closed(why) {
          channel = null;
          transport.onerror?.(new Error(why));
          transport.onclose?.();
        },
      });
    },
    async send(message) {
      if (!channel) throw new Error("The worker that ran it is offline");
      channel.send(parseJson(JSON.stringify(message)));
    },
    async close() {
      channel?.close();
      channel = null;
      transport.onclose?.();
    },
  };
  return transport;
}

// Everything that needs the protocol's library. It is large, so it is only loaded once a server is to be connected.

/** Where a server is and how to come in. */
export type McpAddress =
  | { kind: "http"; url: string; authorization: string | null; fetch: typeof globalThis.fetch }
  | { kind: "stdio"; server: StdioServer }
  /** A process of a worker with its label. */
  | { kind: "worker"; open: OpenChannel };

/** What a server asks a person, and what becomes of it. */
export type Asked = (question: Omit<ToolQuestion, "from">) => Promise<{
  action: ToolAnswer["action"];
  content?: Record<string, string | number | boolean | string[]>;
}>;

/**
 * A client that is not connected yet; `listsChanged` is called whenever its server says so, `asked` when it asks
 * something of a person.
 */
export function newClient({
  versions,
  closed,
  listsChanged,
  asked,
}: {
  versions: VersionNegotiationMode;
  closed(): void;
  listsChanged(): void;
  asked: Asked;
}): Client {
  const changes = { autoRefresh: false, onChanged: listsChanged };
  const client = new Client(
    { name: "troupe", version: packageJson.version },
    // The built-in validator compiles schemas to code, and these are untrusted; results are validated here instead.
    {
      capabilities: { elicitation: { form: {}, url: {} } },
      versionNegotiation: { mode: versions },
      listChanged: { tools: changes, resources: changes, prompts: changes },
      jsonSchemaValidator: {
        // Its type promises the type that the caller names; without a check nobody can guarantee that.
        getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
      },
    },
  );
  client.onclose = closed;
  // The next request that fails reports errors that happen outside requests.
  client.onerror = () => {};
  client.setRequestHandler("elicitation/create", ({ params }) =>
    asked(
      params.mode === "url"
        ? { message: params.message, url: params.url }
        : { message: params.message, schema: JsonObject.parse(params.requestedSchema) },
    ),
  );
  return client;
}

/** A way to a server. `lastWords`: the end of what it wrote as errors, where it is a process of this machine. */
export interface Way {
  transport: Transport;
  /**
   * Which versions of the protocol are tried. auto: the newest, stateless one, and where that is not known the handshake
   * of those before it (legacy).
   */
  versions: VersionNegotiationMode;
  stderrTail(): string;
}

export function newTransport(address: McpAddress): Way {
  // Trying out versions would start a process twice.
  if (address.kind !== "http") return { ...processTransport(address), versions: "legacy" };
  const transport = new StreamableHTTPClientTransport(new URL(address.url), {
    ...optionsOf(address),
    reconnectionOptions: {
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 30_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 2,
    },
  });
  return { transport, versions: "auto", stderrTail: () => "" };
}

/**
 * Another way to a server, if that may be why connecting failed, else null: for a process the newest version of the
 * protocol, over HTTP what was spoken before Streamable HTTP.
 */
export function otherTransport(address: McpAddress, error: unknown): Way | null {
  if (address.kind !== "http")
    return error instanceof ProtocolError
      ? { ...processTransport(address), versions: { pin: NEWEST } }
      : null;
  if (!(error instanceof SdkHttpError) || ![400, 404, 405].includes(error.status)) return null;
  // Deprecated with the transport itself; there are servers that speak nothing else.
  const transport = new SSEClientTransport(new URL(address.url), optionsOf(address));
  return { transport, versions: "legacy", stderrTail: () => "" };
}

const processTransport = (address: Exclude<McpAddress, { kind: "http" }>) =>
  address.kind === "stdio"
    ? newStdioTransport(address.server)
    : { transport: newChannelTransport(address.open), stderrTail: () => "" };

const NEWEST = "2026-07-28";

const optionsOf = ({ fetch, authorization }: Extract<McpAddress, { kind: "http" }>) => ({
  fetch,
  ...defined({
    requestInit: authorization === null ? undefined : { headers: { Authorization: authorization } },
  }),
});

/** An error as a message for people; hidden characters are spelled out, because servers write part of it. */
export function describeError(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause.name === "EgressError" || cause.name === "SignInFailure") return cause.message;
  // The cause says more than the failed version negotiation.
  if (error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed && error.cause)
    return describeError(error.cause);
  if (error instanceof SdkHttpError && error.status >= 400) return httpText(error);
  if (error instanceof SseError && error.code !== undefined)
    return `The server returned ${error.code}, even for the older MCP transport.`;
  const unreached = describeUnreachable(error);
  if (unreached !== null) return readable(unreached).slice(0, 1000);
  const message = errorMessage(error);
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return readable(`${message.replace(/^MCP error -?\d{1,6}: /, "")}${cause}`).slice(0, 1000);
}

function httpText({ status, message }: SdkHttpError): string {
  if (status === 401)
    return "The server rejected the Authorization header (401). Enter it again, or remove it and sign in.";
  if (status === 403) return "The server denied access (403): the signed-in client isn't allowed to do this.";
  return `The server returned ${status} instead of an MCP response${quotedMessage(message)}.`;
}

/** What a server said with its refusal, as `: “...”`: its JSON error's message, or the words of its page. */
function quotedMessage(message: string): string {
  const body = message
    .replace(/^Streamable HTTP error: (?:Error POSTing to endpoint: )?/, "")
    .slice(0, 20_000);
  const text = withoutMarkup(messageIn(body) ?? body).slice(0, 300);
  return text === "" ? "" : `: “${text}”`;
}

function messageIn(body: string): string | null {
  try {
    const { error, message } = recordOf(JSON.parse(body));
    const reported = isObject(error) ? error.message : (error ?? message);
    return typeof reported === "string" ? reported : null;
  } catch {
    return null;
  }
}

/** A page without its marks. */
const withoutMarkup = (text: string) =>
  readable(
    text
      .replace(/<(script|style|head)\b[^>]{0,500}>[^]{0,20000}?<\/\1>/gi, " ")
      .replace(/<[^>]{0,500}>/g, " ")
      .replace(/&(?:nbsp|#160);/g, " ")
      .replace(/\s+/g, " ")
      .trim(),
  );

/** Whether a server does not know what it was asked. */
export const isUnknownMethod = (error: unknown): boolean =>
  error instanceof ProtocolError && error.code === METHOD_NOT_FOUND;

/** The status that stands for what a call threw; 503: the server has to be connected again. */
export function statusOf(error: unknown): ToolStatus {
  if (error instanceof ProtocolError) {
    return error.code === INVALID_PARAMS ? 400 : 500;
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) return 408;
  // The way to the server failed, or it does not know this session any more.
  return 503;
}
