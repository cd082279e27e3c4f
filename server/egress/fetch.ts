import { lookup as resolveName } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { ReadableStream } from "node:stream/web";
import { Agent, buildConnector, Headers, type RequestInit, Response, fetch as undiciFetch } from "undici";
import { defined } from "@/server/domain/base/defined";
import { namedError } from "@/server/domain/base/named-error";
import { reachOf } from "./addresses";

/** Why a request did not go out, or its answer did not come in. */
export class EgressError extends namedError("EgressError") {
  constructor(
    readonly code:
      | "BAD_URL"
      | "ADDRESS_REFUSED"
      | "REDIRECT_REFUSED"
      | "TOO_MANY_REDIRECTS"
      | "RESPONSE_TOO_LARGE",
    message: string,
  ) {
    super(message);
  }
}

export const EGRESS_LIMITS = {
  redirects: 3,
  connectMs: 5_000,
  publicBytes: 5 * 1024 * 1024,
  providerBytes: 64 * 1024 * 1024,
  mcpHeadersMs: 11 * 60_000,
  /** One answer of an MCP server; a longer stream is restarted. */
  mcpBytes: 16 * 1024 * 1024,
  /** A whole request of a tool, redirects and body included. */
  toolMs: 15_000,
} as const;

/** Whether a connection to this address may be made for this host name. */
export type Allows = (address: string, hostname: string, port: string) => boolean;

/**
 * An agent whose every connection is checked: literal addresses before, all answers of the name service during, and
 * the address at the other end after connecting. There is no check of URLs that could disagree with what is dialled.
 */
function guardedAgent(allows: Allows, options: Agent.Options, hint = ""): Agent {
  const refusal = (host: string) =>
    new EgressError(
      "ADDRESS_REFUSED",
      `Connecting to ${host} is not allowed: the address is on a private network.${hint}`,
    );
  const connector: buildConnector.connector = (target, callback) => {
    const hostname = target.hostname.replace(/^\[|\]$/g, "");
    const refuse = () => callback(refusal(target.hostname), null);
    const isFine = (address: string) =>
      allows(address, hostname, target.port || defaultPort(target.protocol));
    if (isIP(hostname) && !isFine(hostname)) return refuse();
    const lookup: LookupFunction = (name, wanted, done) =>
      resolveName(name, { ...wanted, all: true }, (error, answers) => {
        if (error) return done(error, []);
        if (answers.length === 0 || !answers.every(({ address }) => isFine(address)))
          return done(refusal(name), []);
        const [first] = answers;
        if (wanted.all || !first) return done(null, answers);
        return done(null, first.address, first.family);
      });
    const dial = buildConnector({ timeout: EGRESS_LIMITS.connectMs, lookup, allowH2: false });
    return dial({ ...target, hostname }, (error, socket) => {
      if (error || !socket) return callback(error ?? refusal(target.hostname), null);
      if (socket.remoteAddress && isFine(socket.remoteAddress)) return callback(null, socket);
      socket.destroy();
      return refuse();
    });
  };
  return new Agent({ ...options, connect: connector });
}

const defaultPort = (protocol: string) => (protocol === "https:" ? "443" : "80");

/** Whether a model provider may be at this address. */
export function isProviderAddress(address: string, hostname: string, port: string): boolean {
  const reach = reachOf(address);
  if (reach === "forbidden") return false;
  if (reach !== "private") return true;
  const listed = listedHosts();
  return listed.has(hostname) || listed.has(`${hostname}:${port}`);
}

// Callers of models have their own timers.
const providerAgent = guardedAgent(
  isProviderAddress,
  { headersTimeout: 0, bodyTimeout: 0 },
  " The admin can add it to LLM_ALLOWED_HOSTS, for model providers and search services.",
);

/** Hosts in private networks that the operator named: LLM_ALLOWED_HOSTS, and the host of OPENAI_BASE_URL. */
function listedHosts(): Set<string> {
  const hosts = hostsIn(process.env.LLM_ALLOWED_HOSTS);
  const base = process.env.OPENAI_BASE_URL;
  if (base && URL.canParse(base)) hosts.push(new URL(base).hostname.replace(/^\[|\]$/g, ""));
  return new Set(hosts);
}

/** The hosts of a list such as `192.168.1.20:11434, gpu.lan, [::1]:80`, without brackets. */
export const hostsIn = (list = "") =>
  list
    .split(",")
    .map((host) => host.trim().replace(/^\[|\](?=:|$)/g, ""))
    .filter(Boolean);

export interface PublicFetchOptions {
  maxBytes?: number;
  /** Ports besides 80 and 443. */
  ports?: readonly number[];
  /** Follows redirects within the site only: for requests whose content is meant for one receiver. */
  sameOrigin?: boolean;
  /**
   * Completes the request with what may go to this host alone, such as secrets. Throws for any other host. The response
   * names the URL from before; where a redirect leads, nothing is added.
   */
  complete?: (host: string) => { url: string; init: RequestInit };
}

/** Gives a response whose `url` is where the last redirect led. Throws EgressError for what it refuses. */
export type PublicFetch = (
  url: string | URL,
  init?: RequestInit,
  options?: PublicFetchOptions,
) => Promise<Response>;

/** `also`: further addresses that are fine, for tests. */
export function newPublicFetch(also: Allows = () => false): PublicFetch {
  const agent = guardedAgent((...target) => reachOf(target[0]) === "public" || also(...target), {
    headersTimeout: EGRESS_LIMITS.toolMs,
    bodyTimeout: EGRESS_LIMITS.toolMs,
  });
  return async (url, init = {}, options = {}) => {
    let target = checkedUrl(url, options.ports);
    const completed = options.complete?.(target.hostname);
    let request: RequestInit = { ...(completed?.init ?? init) };
    for (let hops = 0; hops <= EGRESS_LIMITS.redirects; hops++) {
      const first = hops === 0 && completed ? sameSite(target, completed.url) : target;
      const response = await send(first, request, agent);
      const location = isRedirect(response.status) ? response.headers.get("location") : null;
      if (location === null)
        return Object.defineProperty(capped(response, options.maxBytes ?? EGRESS_LIMITS.publicBytes), "url", {
          value: target.href,
        });
      await response.body?.cancel();
      const next = checkedUrl(
        URL.canParse(location, target) ? new URL(location, target) : location,
        options.ports,
      );
      if (target.protocol === "https:" && next.protocol === "http:")
        throw new EgressError("REDIRECT_REFUSED", `${target.host} redirects from https to http.`);
      if (options.sameOrigin && next.origin !== target.origin)
        throw new EgressError(
          "REDIRECT_REFUSED",
          `${target.host} redirects to ${next.host}, which isn't allowed for this request.`,
        );
      const isCrossOrigin = next.origin !== target.origin;
      if (completed && isCrossOrigin)
        request = { ...request, ...defined({ headers: init.headers }), body: null };
      request = redirected(request, response.status, isCrossOrigin);
      target = next;
    }
    throw new EgressError(
      "TOO_MANY_REDIRECTS",
      `${target.host} redirects more than ${EGRESS_LIMITS.redirects} times.`,
    );
  };
}

/**
 * Fetches from the internet and from nowhere else: this machine and the networks around it are refused, however the
 * address is spelled and wherever a redirect leads. Credentials stay with the site they were meant for.
 */
export const publicFetch = newPublicFetch();

/** undici's own fetch and Node's built-in one are the same interface with two sets of types. */
function asGlobalFetch(
  request: (url: string | URL, init: RequestInit) => Promise<Response>,
): typeof globalThis.fetch {
  const both: unknown = (input: string | URL | Request, init: RequestInit = {}) =>
    request(input instanceof Request ? input.url : input, init);
  return both as typeof globalThis.fetch;
}

async function providerRequest(url: string | URL, init: RequestInit): Promise<Response> {
  const response = await send(checkedUrl(url, "any"), init, providerAgent);
  if (!isRedirect(response.status)) return capped(response, EGRESS_LIMITS.providerBytes);
  await response.body?.cancel();
  throw new EgressError(
    "REDIRECT_REFUSED",
    "The model provider answered with a redirect, which would send the key elsewhere. Enter the URL it redirects to.",
  );
}

/**
 * Fetches from a model provider: the internet, this machine, and the private hosts that the operator listed. Follows no
 * redirect, because requests carry keys.
 */
export const providerFetch = asGlobalFetch(providerRequest);

/**
 * Fetches from MCP servers: the internet, and the hosts on this machine and around it that are listed
 * (TROUPE_MCP_ALLOWED_HOSTS). Answers may be streams that rest for long. Follows no redirect, because requests carry keys.
 */
export function newMcpFetch(allowed: string | undefined): typeof globalThis.fetch {
  const listed = new Set(hostsIn(allowed));
  const agent = guardedAgent(
    (address, hostname, port) => {
      const reach = reachOf(address);
      if (reach === "public") return true;
      return reach !== "forbidden" && (listed.has(hostname) || listed.has(`${hostname}:${port}`));
    },
    { headersTimeout: EGRESS_LIMITS.mcpHeadersMs, bodyTimeout: 0 },
    " The admin can add it to TROUPE_MCP_ALLOWED_HOSTS.",
  );
  const request = async (url: string | URL, init: RequestInit): Promise<Response> => {
    const response = await send(checkedUrl(url, "any"), init, agent);
    if (!isRedirect(response.status)) return capped(response, EGRESS_LIMITS.mcpBytes);
    await response.body?.cancel();
    throw new EgressError(
      "REDIRECT_REFUSED",
      "The MCP server answered with a redirect, which would send the authorization elsewhere. Enter the URL it redirects to.",
    );
  };
  return asGlobalFetch(request);
}

/** A fetch that reaches what `allows` says, and follows no redirect. Throws EgressError. */
export function newGuardedFetch(
  allows: Allows,
  {
    timeoutMs,
    maxBytes,
    hint,
    redirect,
  }: { timeoutMs: number; maxBytes: number; hint: string; redirect: string },
): typeof globalThis.fetch {
  const agent = guardedAgent(allows, { headersTimeout: timeoutMs, bodyTimeout: timeoutMs }, hint);
  const request = async (url: string | URL, init: RequestInit): Promise<Response> => {
    const response = await send(checkedUrl(url, "any"), init, agent);
    if (!isRedirect(response.status)) return capped(response, maxBytes);
    await response.body?.cancel();
    throw new EgressError("REDIRECT_REFUSED", redirect);
  };
  return asGlobalFetch(request);
}

/** Sends one request. A refused connection comes out as the refusal, not as undici's "fetch failed". */
async function send(url: URL, init: RequestInit, dispatcher: Agent): Promise<Response> {
  try {
    return await undiciFetch(url, { ...init, dispatcher, redirect: "manual" });
  } catch (error) {
    for (let cause: unknown = error; cause instanceof Error; cause = cause.cause)
      if (cause instanceof EgressError) throw cause;
    throw error;
  }
}

function checkedUrl(url: string | URL, ports: readonly number[] | "any" = []): URL {
  if (!URL.canParse(String(url))) throw new EgressError("BAD_URL", "That isn't a web URL.");
  const parsed = new URL(url);
  if (parsed.protocol !== "https:" && parsed.protocol !== "http:")
    throw new EgressError("BAD_URL", "Only http and https URLs can be fetched.");
  if (parsed.username || parsed.password)
    throw new EgressError("BAD_URL", "A URL can't contain a user name and password.");
  if (ports !== "any" && parsed.port !== "" && !ports.includes(Number(parsed.port)))
    throw new EgressError("BAD_URL", `Port ${parsed.port} is not allowed.`);
  return parsed;
}

/** The completed URL of a request, which must have the host that was checked. */
function sameSite(target: URL, completed: string): URL {
  const url = new URL(completed);
  if (url.origin === target.origin) return url;
  throw new EgressError("BAD_URL", "A secret can't change where a request goes.");
}

const isRedirect = (status: number) => [301, 302, 303, 307, 308].includes(status);

const IMPERSONAL = new Set(["accept", "accept-language", "content-type", "user-agent"]);

/** The next request of a chain: most redirects turn it into a plain reading, and another site gets no credentials. */
function redirected(init: RequestInit, status: number, isCrossOrigin: boolean): RequestInit {
  const headers = new Headers(init.headers);
  const next: RequestInit = { ...init };
  const isRead = !init.method || /^(get|head)$/i.test(init.method);
  if (status <= 303 && !isRead) {
    next.method = "GET";
    delete next.body;
    for (const name of ["content-type", "content-length", "content-encoding"]) headers.delete(name);
  }
  // Any header may be a key under a name of the site's own.
  if (isCrossOrigin) for (const name of [...headers.keys()]) if (!IMPERSONAL.has(name)) headers.delete(name);
  next.headers = [...headers];
  return next;
}

/** What undici's bodies are made of; its types leave it open, hence the cast below. */
type Body = ReadableStream<Uint8Array>;

/** The same response with a body that fails once it is too long; counted after decompression. */
function capped(response: Response, maxBytes: number): Response {
  if (!response.body || [204, 205, 304].includes(response.status)) return response;
  const { status, statusText, headers } = response;
  return new Response(metered(response.body as Body, maxBytes), { status, statusText, headers });
}

function metered(body: Body, maxBytes: number): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let bytes = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) return controller.close();
      bytes += value.byteLength;
      if (bytes <= maxBytes) return controller.enqueue(value);
      const error = new EgressError("RESPONSE_TOO_LARGE", `The response is larger than ${maxBytes} bytes.`);
      await reader.cancel(error);
      throw error;
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
