import type { IncomingMessage, ServerResponse } from "node:http";
import { defined } from "@/server/domain/base/defined";
import type { Env } from "@/server/settings";
import { API_HEADERS } from "../guard";
import { isOwnHost } from "./hosts";

type Refusal = { status: 400 | 404 | 405 | 421; code: string; message: string };

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** What Next's own parts tell each other by headers; from outside they are not listened to. */
const INTERNAL = /^(?:x-middleware-|x-nextjs-|x-invoke-|x-now-|x-matched-path$|next-resume$)/;

/**
 * The first look at every request, before Next or any route sees it: is it one request, to this server, in a form that
 * means the same to everybody, for something that is there. Says whether it has answered; otherwise the request may go
 * on, with its target in the usual form and without headers that only Next may set.
 */
export function refusesRequest(
  request: IncomingMessage,
  response: ServerResponse,
  env: Env = process.env,
): boolean {
  const refusal = refusalOf(request, env);
  if (refusal) {
    answer(request, response, refusal);
    return true;
  }
  // Without a proxy, clients must not choose this header.
  if (!env.TROUPE_PUBLIC_URL) request.headers["x-forwarded-for"] = request.socket.remoteAddress ?? "";
  for (const name of Object.keys(request.headers)) if (INTERNAL.test(name)) delete request.headers[name];
  return false;
}

function refusalOf(request: IncomingMessage, env: Env): Refusal | null {
  const hosts = request.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host");
  if (hosts.length > 1) return bad("Send exactly one Host header.");
  const { host } = request.headers;
  const target = targetOf(request.url ?? "", host);
  if (target === null) return bad("The request target must be a path on this server.");
  if (!isOwnHost(host ?? null, env) || !isOwnHost(target.authority ?? host ?? null, env))
    return {
      status: 421,
      code: "wrong_host",
      message: "Unknown host name. Behind a proxy, set TROUPE_PUBLIC_URL.",
    };
  if (target.authority !== undefined && target.authority.toLowerCase() !== host?.toLowerCase())
    return bad("The request target and the Host header must name the same server.");
  if (!METHODS.includes(request.method ?? ""))
    return { status: 405, code: "method_not_allowed", message: `Allowed methods: ${METHODS.join(", ")}.` };
  if (!isReadable(target.path.split("?", 1)[0] ?? ""))
    return bad("The path isn't percent-encoded UTF-8, or contains control characters.");
  // Of what Next would serve by itself, only the files of the build are wanted.
  if (/^\/_next(?:\/(?!static\/)|$)/.test(target.path))
    return { status: 404, code: "not_found", message: "Not found." };
  request.url = target.path;
  return null;
}

/** The client's address, as seen by this server or by the nearest proxy. */
export const addressOf = (headers: Headers): string =>
  headers.get("x-forwarded-for")?.split(",").at(-1)?.trim() ?? "";

/** The client that an address stands for: of IPv6, its /64 network, since one person has all of it. */
export function networkOf(address: string): string {
  if (!address.includes(":") || address.includes(".")) return address;
  const [head = "", tail] = address.toLowerCase().split("::");
  const groups = head === "" ? [] : head.split(":");
  const after = tail ? tail.split(":") : [];
  if (tail !== undefined)
    groups.push(...Array<string>(Math.max(0, 8 - groups.length - after.length)).fill("0"), ...after);
  return groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":");
}

/** A request's target as the path it means; `authority` where it was given as a whole address (RFC 9112, 3.2.2). */
function targetOf(target: string, host: string | undefined): { path: string; authority?: string } | null {
  if (target.startsWith("/")) return { path: target };
  const [, authority, path = ""] = /^https?:\/\/([^/?#]+)([/?][^#]*)?$/i.exec(target) ?? [];
  if (authority === undefined || host === undefined) return null;
  return { authority, path: path.startsWith("/") ? path : `/${path}` };
}

function isReadable(path: string): boolean {
  try {
    return !/\p{Cc}/u.test(decodeURIComponent(path));
  } catch {
    return false;
  }
}

const bad = (message: string): Refusal => ({ status: 400, code: "bad_request", message });

/** In JSON where programs ask; the connection ends, because what else came on it may not mean what it seems to. */
function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { status, code, message }: Refusal,
): void {
  const isApi = /^(?:https?:\/\/[^/]*)?\/(?:api|hooks)\//i.test(request.url ?? "");
  const body = isApi ? JSON.stringify({ error: { code, message } }) : `${message}\n`;
  response.writeHead(status, {
    ...API_HEADERS,
    "content-type": isApi ? "application/json" : "text/plain; charset=utf-8",
    "cross-origin-resource-policy": "same-origin",
    connection: "close",
    "content-length": Buffer.byteLength(body),
    ...defined({ allow: status === 405 ? METHODS.join(", ") : undefined }),
  });
  response.end(request.method === "HEAD" ? undefined : body);
}
