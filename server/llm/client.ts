import { defined } from "@/server/domain/base/defined";
import "server-only";
import type { OpenAI } from "openai";
import type { SendRequest } from "./openai/transport";

/** The longest possible timer: the transport has its own timeouts. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * A `fetch` that sends through the official client, which knows how services of this protocol are addressed, and returns the
 * raw response. Nothing else of the client is used: no retries, no parsing, no headers of its own.
 */
export async function clientFetch(baseUrl: string, send: typeof fetch): Promise<SendRequest> {
  // Loaded with the first call, before its timers start.
  const { OpenAI } = await import("openai");
  return async (url, init) => {
    let rejected: Response | undefined;
    const client = new OpenAI({
      baseURL: baseUrl,
      // The key is in the headers of the request, if there is one.
      apiKey: "none",
      maxRetries: 0,
      timeout: LONGEST_MS,
      logLevel: "off",
      fetch: async (address, asked) => {
        const { method, body, signal } = asked ?? {};
        const answer = await send(address, {
          ...defined({
            method: method || undefined,
            body: body || undefined,
            signal: signal || undefined,
            headers: init?.headers ? init.headers : undefined,
          }),
          redirect: "manual",
        });
        if (answer.ok) return answer;
        // The client would read the body, and drop an error's text unless it is under `error`.
        rejected = answer;
        throw new Error("refused");
      },
    });
    const request: OpenAI.RequestOptions = {
      // The body is already serialized: with this header, text is sent unchanged.
      body: init?.body,
      headers: { "content-type": "application/json" },
      ...defined({ signal: init?.signal ? init.signal : undefined }),
      stream: true,
    };
    try {
      return await client.post(url.slice(baseUrl.length), request).asResponse();
    } catch (error) {
      if (rejected) return rejected;
      // The network's error is the cause of the client's own.
      throw error instanceof Error && error.cause instanceof Error ? error.cause : error;
    }
  };
}
