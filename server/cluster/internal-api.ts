import { createHash, timingSafeEqual } from "node:crypto";
import http from "node:http";
import type { z } from "zod";
import { guardsItself } from "@/server/access/boot";
import { namedError } from "@/server/domain/base/named-error";
import { logUnexpected } from "@/server/log";

// The server's own port for its workers, separate from the one for people and programs: no browser can reach it, and it
// reveals nothing without the workers' token.

const NORMAL_BYTES = 1024 * 1024;
const MOST_CONNECTIONS = 2_000;
/** How long a request may take to come in; an answer may take as long as a tool does. */
const RECEIVE_MS = 120_000;
/** How often a request without the token is logged at most. */
const NOTE_EVERY_MS = 60_000;

/** Rejects a request with a status and a reason for the operator of the worker. */
export class RequestRejected extends namedError("RequestRejected") {
  constructor(
    readonly status: 400 | 404 | 409 | 413,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

interface Asked {
  search: URLSearchParams;
  /** Aborted once the caller is gone. */
  signal: AbortSignal;
}

export interface Route {
  method: "GET" | "POST";
  path: string;
  maxBytes: number;
  serve(body: unknown, asked: Asked): Promise<unknown>;
}

export const get = (path: string, serve: (asked: Asked) => unknown): Route => ({
  method: "GET",
  path,
  maxBytes: 0,
  serve: async (_body, asked) => await serve(asked),
});

/** A route whose body is validated first. */
export const post = <T>(
  path: string,
  body: z.ZodType<T>,
  serve: (body: T, asked: Asked) => unknown,
  maxBytes = NORMAL_BYTES,
): Route => ({
  method: "POST",
  path,
  maxBytes,
  async serve(value, asked) {
    const read = body.safeParse(value);
    if (read.success) return await serve(read.data, asked);
    const [issue] = read.error.issues;
    throw new RequestRejected(
      400,
      "BAD_REQUEST",
      `${issue?.path.join(".") ?? "The body"}: ${issue?.message ?? "is invalid"}`,
    );
  },
});

interface InternalApiOptions {
  token: string;
  routes: readonly Route[];
  log: (level: "info" | "warn" | "error", message: string, about?: Record<string, unknown>) => void;
  now?: () => number;
}

export class InternalApi {
  readonly server: http.Server;
  private notedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: InternalApiOptions) {
    const isKnown = newTokenCheck(options.token);
    this.server = http.createServer((request, response) => {
      if (!isKnown(request.headers.authorization)) {
        this.logUnauthorized(request.socket.remoteAddress);
        // Its body is not read.
        response.setHeader("connection", "close");
        return answer(response, 401, { error: { code: "UNAUTHORIZED", message: "Unauthorized." } });
      }
      void serve(options.routes, request, response);
    });
    guardsItself(this.server);
    this.server.headersTimeout = 10_000;
    this.server.requestTimeout = RECEIVE_MS;
    this.server.keepAliveTimeout = 65_000;
    this.server.maxConnections = MOST_CONNECTIONS;
  }

  /** Resolves with the port; rejects with a sentence if the port can't be opened. */
  listen(port: number, host: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.once("error", (error) =>
        reject(new Error(`Can't open the workers' port ${host}:${port}: ${error.message}.`)),
      );
      this.server.listen(port, host, () => {
        const address = this.server.address();
        resolve(typeof address === "object" && address ? address.port : port);
      });
    });
  }

  /** Stops listening and closes open connections. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
  }

  private logUnauthorized(from: string | undefined): void {
    const { log, now = Date.now } = this.options;
    if (now() - this.notedAt < NOTE_EVERY_MS) return;
    this.notedAt = now();
    log("warn", "A request without the worker token reached the workers' port.", { from });
  }
}

/** Compares in constant time. */
function newTokenCheck(token: string): (authorization: string | undefined) => boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  const wanted = hash(token);
  return (authorization = "") => {
    const [, given = ""] = /^Bearer +(\S{1,4096})$/.exec(authorization) ?? [];
    return timingSafeEqual(hash(given), wanted);
  };
}

async function serve(
  routes: readonly Route[],
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.on("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  try {
    const url = new URL(request.url ?? "/", "http://internal");
    const route = routes.find(({ method, path }) => method === request.method && path === url.pathname);
    if (!route)
      throw new RequestRejected(404, "NOT_FOUND", `No such endpoint: ${request.method} ${url.pathname}.`);
    const body = route.method === "POST" ? await readBody(request, route.maxBytes) : undefined;
    const value = await route.serve(body, { search: url.searchParams, signal: gone.signal });
    answer(response, 200, value ?? null);
  } catch (error) {
    if (gone.signal.aborted) return response.destroy(), undefined;
    if (error instanceof RequestRejected)
      return answer(response, error.status, { error: { code: error.code, message: error.message } });
    const id = logUnexpected(error, `${request.method} ${request.url?.split("?")[0]} from a worker`);
    answer(response, 500, {
      error: { code: "INTERNAL", message: `Internal server error (${id}).` },
    });
  }
}

function answer(response: http.ServerResponse, status: number, value: unknown): void {
  const text = JSON.stringify(value);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    "cache-control": "no-store",
  });
  response.end(text);
}

async function readBody(request: http.IncomingMessage, maxBytes: number): Promise<unknown> {
  const tooLarge = () => new RequestRejected(413, "TOO_LARGE", `The body is larger than ${maxBytes} bytes.`);
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  const parts: AsyncIterable<unknown> = request;
  for await (const part of parts) {
    // A request without an encoding gives bytes.
    if (!Buffer.isBuffer(part)) throw new TypeError("A body was not bytes.");
    bytes += part.length;
    if (bytes > maxBytes) throw tooLarge();
    chunks.push(part);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    throw new RequestRejected(400, "BAD_REQUEST", "The body is not JSON.");
  }
}
