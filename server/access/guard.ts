import { defined } from "@/server/domain/base/defined";
import { jsonTextProblem } from "@/server/domain/base/json-limits";
import { LIMITS } from "../limits";
import type { Principal, Recognition } from "./principal";
import { isOwnHost, isOwnOrigin } from "./requests/hosts";
import { takeFromRateLimit } from "./requests/rate-limit";

export interface GuardOptions {
  /**
   * `app`: a browser session. `api`: a token. `public`: anyone whose request is well-formed. `hook`: the same from any site, with
   * JSON, a form or text; its address and its signature decide what it may do.
   */
  authScheme: "app" | "api" | "public" | "hook";
  /** Of a hook or a form: the keys of its rate limits. */
  limitedBy?: Record<"sender" | "target", string>;
  /** The most bytes a body may have. */
  maxBytes?: number;
  /** Tests pass their own; the server's is the default. */
  recognition?: Recognition;
}

/** A request that may go on. `request` has its body read, measured and checked. */
export interface Passed<P = Principal> {
  principal: P;
  request: Request;
}

type Refusal = { status: number; code: string; message: string; headers?: Record<string, string> };

/**
 * The one check in front of every route handler: is it for this server, from this app or from a program with a token,
 * small and plain enough, and who is asking. Answers with what may go on, or with the refusal to send.
 * It trusts nothing that ran before it, so it holds even where no proxy did.
 */
export async function guard(
  request: Request,
  options: GuardOptions & { authScheme: "app" | "api" },
): Promise<Passed | Response>;
export async function guard(
  request: Request,
  options: GuardOptions,
): Promise<Passed<Principal | null> | Response>;
export async function guard(
  request: Request,
  options: GuardOptions,
): Promise<Passed<Principal | null> | Response> {
  const answer = (refusal: Refusal) => refuse(refusal, options.authScheme);
  const early =
    misdirected(request) ?? csrfRefusal(request, options.authScheme) ?? unreadable(request, options);
  if (early) return answer(early);

  const { limitedBy } = options;
  const limited = limitedBy && (overRate(limitedBy.sender, "sender") ?? overRate(limitedBy.target, "target"));
  if (limited) return answer(limited);
  let principal: Principal | null = null;
  if (options.authScheme === "app" || options.authScheme === "api") {
    principal = await principalOf(request, options.authScheme, options.recognition);
    if (!principal) return answer(options.authScheme === "app" ? NO_SESSION : NO_TOKEN);
    const refused = overRate(`${principal.kind}:${principal.id}`, options.authScheme);
    if (refused) return answer(refused);
  }

  const isJson = options.authScheme !== "hook" || !PLAIN.test(request.headers.get("content-type") ?? "");
  const read = await readBody(request, { maxBytes: options.maxBytes ?? LIMITS.body.normal, isJson });
  return "refusal" in read ? answer(read.refusal) : { principal, request: read.request };
}

const NO_SESSION: Refusal = { status: 401, code: "UNAUTHORIZED", message: "Sign in first." };
const NO_TOKEN: Refusal = {
  status: 401,
  code: "UNAUTHORIZED",
  message: "Missing API token. Send `Authorization: Bearer TOKEN`. Create tokens in Settings.",
  headers: { "www-authenticate": 'Bearer realm="Troupe"' },
};

function overRate(caller: string, kind: keyof typeof LIMITS.rate): Refusal | null {
  const waitS = takeFromRateLimit(caller, LIMITS.rate[kind]);
  return waitS > 0 ? tooFast(waitS) : null;
}

const tooFast = (waitS: number): Refusal => ({
  status: 429,
  code: "TOO_MANY_REQUESTS",
  message: `Too many requests. Try again in ${waitS} s.`,
  headers: { "retry-after": String(waitS) },
});

/** Who sends a request, by its current session or token; null if neither is valid. */
export async function principalOf(
  request: Request,
  authScheme: "app" | "api",
  recognition?: Recognition,
): Promise<Principal | null> {
  const { sessionOf, tokenOf } = recognition ?? (await ownRecognition());
  return authScheme === "app" ? sessionOf(request) : tokenOf(request);
}

/** Imported only when needed: it opens the database. */
async function ownRecognition(): Promise<Recognition> {
  return (await import("./current")).getAccess();
}

const isRead = (request: Request) => request.method === "GET" || request.method === "HEAD";

/** Requests meant for another server, or for what this one does not have. */
function misdirected({ headers }: Request): Refusal | null {
  if (!isOwnHost(headers.get("host")))
    return {
      status: 421,
      code: "WRONG_HOST",
      message: "Unknown host name. Behind a proxy, set TROUPE_PUBLIC_URL.",
    };
  if (headers.has("next-action"))
    return { status: 405, code: "METHOD_NOT_ALLOWED", message: "Server actions are not supported." };
  return null;
}

/** Requests sent by another site. Any site may send to a hook. */
function csrfRefusal(request: Request, authScheme: GuardOptions["authScheme"]): Refusal | null {
  const { headers } = request;
  if (authScheme === "hook") return null;
  // A program with a token and without cookies acts for itself; no site can make a browser send that by accident.
  if (authScheme === "api" && headers.has("authorization") && !headers.has("cookie")) return null;
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  const crossed: Refusal = { status: 403, code: "CROSS_SITE", message: "Cross-site request blocked." };
  // Other ports of localhost are "same-site"; they are foreign all the same.
  if (site !== null && site !== "same-origin" && site !== "none") return crossed;
  if (origin !== null && !isOwnOrigin(origin)) return crossed;
  if (!isRead(request) && authScheme !== "api" && site !== "same-origin" && origin === null) return crossed;
  return null;
}

/** Bodies that are not read at all, told from the headers. */
function unreadable(
  request: Request,
  { authScheme, maxBytes = LIMITS.body.normal }: GuardOptions,
): Refusal | null {
  const { headers } = request;
  if (isRead(request)) {
    const problem = queryProblem(request.url);
    return problem ? { status: 400, code: "BAD_REQUEST", message: problem } : null;
  }
  if (headers.has("transfer-encoding")) return LENGTH_REQUIRED;
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding.trim().toLowerCase() !== "identity")
    return {
      status: 415,
      code: "UNSUPPORTED_MEDIA_TYPE",
      message: "Compressed request bodies are not supported.",
    };
  const length = headers.get("content-length");
  if (length !== null && !/^\d{1,15}$/.test(length))
    return { status: 400, code: "BAD_REQUEST", message: "Content-Length must be a number." };
  if (Number(length ?? 0) > maxBytes) return tooBig(maxBytes);
  const isEmpty = length === null || length === "0";
  return takesType(authScheme, headers.get("content-type"), isEmpty)
    ? null
    : { status: 415, code: "UNSUPPORTED_MEDIA_TYPE", message: "Send JSON in UTF-8, as application/json." };
}

function takesType(authScheme: GuardOptions["authScheme"], type: string | null, isEmpty: boolean): boolean {
  if (authScheme === "hook") return isHookBody(type ?? "application/json");
  // Browsers ask a page's permission before they send JSON elsewhere, so for the app even an empty body must be JSON.
  return type === null ? authScheme === "api" && isEmpty : isUtf8Json(type);
}

/** JSON is UTF-8 (RFC 8259); whoever says it is something else would be read wrongly. */
const isUtf8Json = (type: string) => /^application\/json\s*(;|$)/i.test(type) && isUtf8(type);

const PLAIN = /^(?:application\/x-www-form-urlencoded|text\/[\w.-]+)\s*(?:;|$)/i;
const isHookBody = (type: string) =>
  (PLAIN.test(type) || /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)) && isUtf8(type);

const isUtf8 = (type: string) =>
  [...type.matchAll(/;\s*charset\s*=\s*"?([^";\s]*)/gi)].every(([, name]) => /^utf-?8$/i.test(name ?? ""));

/** tRPC sends the input of queries as JSON in the address. */
function queryProblem(url: string): string | null {
  const input = new URL(url).searchParams.get("input");
  return input === null ? null : jsonTextProblem(input);
}

const LENGTH_REQUIRED: Refusal = {
  status: 411,
  code: "LENGTH_REQUIRED",
  message: "Send a Content-Length header.",
};
const tooBig = (maxBytes: number): Refusal => ({
  status: 413,
  code: "PAYLOAD_TOO_LARGE",
  message: `The body can be at most ${size(maxBytes)}.`,
});
const size = (bytes: number) => (bytes >= 1024 * 1024 ? `${bytes / 1024 / 1024} MiB` : `${bytes / 1024} KiB`);

/** Reads a body up to the limit, whatever its header promised, and looks through it before anything parses it. */
async function readBody(
  request: Request,
  { maxBytes, isJson }: { maxBytes: number; isJson: boolean },
): Promise<{ request: Request } | { refusal: Refusal }> {
  if (isRead(request) || !request.body) return { request };
  const announced = request.headers.has("content-length");
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = request.body.getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      bytes += part.value.byteLength;
      if (bytes > 0 && !announced) return { refusal: LENGTH_REQUIRED };
      if (bytes > maxBytes) return { refusal: tooBig(maxBytes) };
      chunks.push(part.value);
    }
  } catch {
    return { refusal: { status: 400, code: "BAD_REQUEST", message: "The body ended too early." } };
  } finally {
    reader.cancel().catch(() => {});
  }
  const text = decoded(joined(chunks, bytes));
  if (text === null)
    return { refusal: { status: 400, code: "BAD_REQUEST", message: "The body is not UTF-8." } };
  const problem = isJson ? jsonTextProblem(text) : null;
  if (problem) return { refusal: { status: 400, code: "BAD_REQUEST", message: problem } };
  const { method, headers, signal } = request;
  return {
    request: new Request(request.url, {
      method,
      headers,
      signal,
      ...defined({ body: bytes > 0 ? text : undefined }),
    }),
  };
}

/** Null where it is not UTF-8, instead of a text with other characters in it. */
function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function joined(chunks: Uint8Array[], bytes: number): Uint8Array {
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}

/** tRPC's numbers for what the guard refuses, so that its client understands the refusal. */
const TRPC_CODES: Record<number, [number, string]> = {
  400: [-32600, "BAD_REQUEST"],
  401: [-32001, "UNAUTHORIZED"],
  403: [-32003, "FORBIDDEN"],
  405: [-32005, "METHOD_NOT_SUPPORTED"],
  413: [-32013, "PAYLOAD_TOO_LARGE"],
  415: [-32015, "UNSUPPORTED_MEDIA_TYPE"],
  429: [-32029, "TOO_MANY_REQUESTS"],
};

/** A refusal in the words of an auth scheme: tRPC's for the app, the public API's elsewhere. */
export function refuse(
  { status, code, message, headers }: Refusal,
  authScheme: GuardOptions["authScheme"],
): Response {
  const [number, name] = TRPC_CODES[status] ?? [-32600, "BAD_REQUEST"];
  const error =
    authScheme === "app"
      ? { code: number, message, data: { code: name, httpStatus: status, detail: null } }
      : { code: code.toLowerCase(), message };
  return Response.json({ error }, { status, headers: { ...API_HEADERS, ...headers } });
}

/** Sent with every answer that is data: never stored, never shown as a page. */
export const API_HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
  "x-content-type-options": "nosniff",
} as const;
