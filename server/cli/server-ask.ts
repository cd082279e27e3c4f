import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import type { JsonObject, Result } from "@/server/domain/base/values";
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

/** Asks the server at that address. Throws UsageError where it is none. */
export function newAsk({ url }: { url: string | undefined }, { send, env }: ServerTerminal): Ask {
  const base = url ?? env.TROUPE_URL ?? "http://127.0.0.1:3000";
  if (!URL.canParse(base)) throw new UsageError(`--url: "${base}" is not a URL.`);
  return async (method, path, body) => {
    let response: Response;
    try {
      response = await send(new URL(`/api/v1${path}`, base), {
        method,
        headers: {
          authorization: `Bearer ${env.TROUPE_API_TOKEN ?? ""}`,
          ...(body ? { "content-type": "application/json" } : {}),
        },
        ...defined({ body: body ? JSON.stringify(body) : undefined }),
      });
    } catch {
      return { error: `Can't reach Troupe at ${base}. Start it, or pass --url.` };
    }
    const value: unknown = await response.json().catch(() => null);
    if (response.ok) return { value };
    const parsed = Refusal.safeParse(value);
    return {
      error:
        response.status === 401
          ? "Invalid token. Set TROUPE_API_TOKEN to one of the server's API tokens."
          : parsed.success
            ? parsed.data.error.message
            : `The server returned ${response.status}.`,
    };
  };
}
