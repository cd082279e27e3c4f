import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import type { JsonObject, Result } from "@/server/domain/base/values";
import { isLoopback } from "@/server/settings";
import { UsageError } from "./arguments";

/** A request to the server, and how the person is told. */
export interface ServerTerminal {
  send(url: URL, init: RequestInit): Promise<Response>;
  env: Readonly<Record<string, string | undefined>>;
  print(line: string): void;
  log(line: string): void;
  wait(ms: number): Promise<void>;
}

/** A request to the API of a server that is at work, and what it answers or why it refuses. */
export type Ask = (method: "GET" | "POST", path: string, body?: JsonObject) => Promise<Result<unknown>>;

const Refusal = z.object({ error: z.object({ message: z.string() }) });

/** A server's address, and the environment variable with its token, as command-line options. */
export interface ServerOptions {
  url: string | undefined;
  tokenEnv: string | undefined;
}

/** The token for a server. Without `tokenEnv`, only this computer and TROUPE_URL get TROUPE_API_TOKEN. Throws UsageError. */
export function tokenFor(url: string, tokenEnv: string | undefined, env: ServerTerminal["env"]): string {
  const { host, hostname, origin } = new URL(url);
  const { TROUPE_URL: own } = env;
  if (tokenEnv === undefined && !isLoopback(hostname) && !(own && URL.parse(own)?.origin === origin))
    throw new UsageError(
      `TROUPE_API_TOKEN isn't sent to ${host}. Put an API token of that server into another variable, and pass its name as --token-env NAME.`,
    );
  return env[tokenEnv ?? "TROUPE_API_TOKEN"] ?? "";
}

/** Asks the server at that address. Throws UsageError if it isn't a URL, or must not get the token. */
export function newAsk({ url, tokenEnv }: ServerOptions, { send, env }: ServerTerminal): Ask {
  const base = url ?? env.TROUPE_URL ?? "http://127.0.0.1:3000";
  if (!URL.canParse(base)) throw new UsageError(`--url: "${base}" is not a URL.`);
  const token = tokenFor(base, tokenEnv, env);
  return async (method, path, body) => {
    const reply = await sendRequest(send, { base, token, method, path, body });
    if (!reply) return { error: `Can't reach Troupe at ${base}. Start it, or pass --url.` };
    if (reply.ok) return { value: reply.value };
    return {
      error:
        reply.status === 401
          ? `Invalid token. Set ${tokenEnv ?? "TROUPE_API_TOKEN"} to one of the server's API tokens.`
          : reply.error,
    };
  };
}

/** Sends a request to the API of the server at `base`. Null if the server can't be reached; `error` describes a rejection. */
export async function sendRequest(
  send: ServerTerminal["send"],
  { base, token, method, path, body, headers = {} }: ApiRequest,
) {
  let response: Response;
  try {
    response = await send(new URL(`/api/v1${path}`, base), {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
    });
  } catch {
    return null;
  }
  const { ok, status } = response;
  const value: unknown = await response.json().catch(() => null);
  const error = Refusal.safeParse(value).data?.error.message ?? `The server returned ${status}.`;
  return { ok, status, value, error, etag: response.headers.get("etag") ?? "" };
}

interface ApiRequest {
  base: string;
  token: string;
  method: "GET" | "POST" | "PUT";
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}
