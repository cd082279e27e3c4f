import { createHash } from "node:crypto";
import { API_HEADERS, type GuardOptions, guard, principalOf } from "@/server/access/guard";
import type { Recognition } from "@/server/access/principal";
import { auditName } from "@/server/access/principal";
import { addressOf, networkOf } from "@/server/access/requests/request-filter";
import { defined } from "@/server/domain/base/defined";
import { Rejection } from "@/server/domain/errors/rejection";
import { errorHref } from "@/server/domain/text/doc-links";
import { logUnexpected } from "@/server/log";
import { servicesFor } from "@/server/operations/limited/limited";
import { authorize } from "@/server/operations/operation";
import { REJECTIONS, rejectionOf } from "@/server/operations/rejections";
import type { Services } from "@/server/operations/services";
import { redactJson } from "@/server/secrets/redact";
import { type Endpoint, partsOf } from "./endpoint";
import { ENDPOINTS } from "./table";

const BASE = "/api/v1";

export interface ServeOptions {
  /** Called only once a request is admitted. */
  services: () => Services;
  /** Tests pass their own. */
  recognition?: Recognition;
}

/** Answers one request to the public HTTP API: finds its endpoint, guards it, and turns what comes out into JSON. */
export async function serve(request: Request, { services, recognition }: ServeOptions): Promise<Response> {
  const url = new URL(request.url);
  const match = matchEndpoint(request.method, url.pathname);
  // Whoever may not come in does not learn what there is.
  const known = "endpoint" in match ? match.endpoint : null;
  const passed = await guard(request, {
    authScheme: known?.needs === "public" ? "public" : "api",
    ...(known?.maxBytes === undefined ? {} : { maxBytes: known.maxBytes }),
    ...(recognition ? { recognition } : {}),
  });
  if (passed instanceof Response) return passed;
  if (!("endpoint" in match)) return errorResponse(match.rejection, match.headers);
  const { principal } = passed;
  const { needs } = match.endpoint;
  try {
    if (needs !== "public" && principal) authorize(needs, principal);
    const reply = await match.endpoint.serve({
      params: match.params,
      search: url.searchParams,
      request: passed.request,
      headers: request.headers,
      signal: request.signal,
      principal,
      isAllowed: async () => (await principalOf(request, "api", recognition)) !== null,
      note: (kind, detail) =>
        void services().audit.append({
          kind,
          who: auditName(principal),
          ...(detail && { detail }),
        }),
      get services() {
        return servicesFor(services(), principal);
      },
    });
    // What is acknowledged survives a power cut.
    if (match.endpoint.method !== "GET") await services().disk.sync();
    return reply instanceof Response
      ? withHeaders(reply)
      : json(reply.body, reply.status ?? 200, reply.headers);
  } catch (error) {
    return errorResponse(rejectionFor(error, `${request.method} ${match.endpoint.path}`));
  }
}

/** Answers a POST that needs no account, only the key in its address. */
export async function serveKeyed(
  request: Request,
  {
    kind,
    key,
    ...options
  }: Pick<GuardOptions, "authScheme" | "maxBytes"> & { kind: "hook" | "form"; key: string },
  answer: (request: Request) => Promise<Response>,
): Promise<Response> {
  const passed = await guard(request, {
    ...options,
    // The key may be a password, so the rate limiter keeps only its hash.
    limitedBy: {
      sender: `${kind} from:${networkOf(addressOf(request.headers))}`,
      target: `${kind}:${createHash("sha256").update(key).digest("hex")}`,
    },
  });
  if (passed instanceof Response) return passed;
  if (request.method !== "POST")
    return errorResponse(new Rejection("method_not_allowed", "Allowed methods: POST."), { allow: "POST" });
  try {
    return await answer(passed.request);
  } catch (error) {
    return errorResponse(rejectionFor(error, `POST of a ${kind}`));
  }
}

type Match =
  | { endpoint: Endpoint; params: Record<string, string> }
  | { rejection: Rejection; headers?: Record<string, string> };

function matchEndpoint(method: string, path: string): Match {
  const asked = path.startsWith(`${BASE}/`) ? decoded(partsOf(path.slice(BASE.length))) : null;
  const parts = asked && moved(method, asked);
  const wanted = method === "HEAD" ? "GET" : method;
  const allowed: string[] = [];
  for (const endpoint of parts ? ENDPOINTS : []) {
    const params = paramsIn(endpoint.parts, parts ?? []);
    if (!params) continue;
    if (endpoint.method === wanted) return { endpoint, params };
    allowed.push(endpoint.method);
  }
  if (allowed.length === 0) return { rejection: new Rejection("not_found", "No such endpoint.") };
  const allow = allowed.join(", ");
  return { rejection: new Rejection("method_not_allowed", `Allowed methods: ${allow}.`), headers: { allow } };
}

/** Where an endpoint is now: programs may still ask for a plan's change where it was before. */
function moved(method: string, parts: string[]): string[] {
  const [first, id = "", last] = parts;
  return method === "POST" && first === "runs" && last === "plans" && parts.length === 3
    ? ["runs", id, "plan"]
    : parts;
}

function decoded(parts: string[]): string[] | null {
  try {
    return parts.map(decodeURIComponent);
  } catch {
    return null;
  }
}

function paramsIn(pattern: readonly string[], parts: readonly string[]): Record<string, string> | null {
  if (pattern.length !== parts.length) return null;
  const params: Record<string, string> = {};
  for (const [i, part] of pattern.entries()) {
    const given = parts[i] ?? "";
    if (part.startsWith("{")) params[part.slice(1, -1)] = given;
    else if (part !== given) return null;
  }
  return params;
}

/** What a program gets to see of an error from another layer. */
export function rejectionFor(error: unknown, where: string): Rejection {
  const rejection = rejectionOf(error);
  if (rejection) return rejection;
  const id = logUnexpected(error, where);
  return new Rejection("internal", "Internal error. See the server log.", { id });
}

export function errorResponse(
  { code, message, details }: Rejection,
  headers: Record<string, string> = {},
): Response {
  const [status, , retryAfter] = REJECTIONS[code];
  // Which streams are too many is clear from the status.
  const known = code === "server_too_many_streams" ? "too_many_streams" : code;
  return json(
    { error: redactJson({ ...defined({ code: known, message, details }), doc_url: errorHref(known) }) },
    status,
    retryAfter === undefined ? headers : { "retry-after": String(retryAfter) },
  );
}

export function json(body: unknown, status: number, headers: Record<string, string> = {}): Response {
  if (status === 204) return new Response(null, { status, headers: { ...API_HEADERS, ...headers } });
  return Response.json(body, { status, headers: { ...API_HEADERS, ...headers } });
}

function withHeaders(response: Response): Response {
  for (const [name, value] of Object.entries(API_HEADERS))
    if (!response.headers.has(name)) response.headers.set(name, value);
  return response;
}
