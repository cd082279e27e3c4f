import { defined } from "@/server/domain/base/defined";
import "server-only";
import type { OpenAI } from "openai";
import type { SendRequest } from "./openai/transport";

/** As long as a timer can be: how long an answer may take is the wire's business. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * A `fetch` that sends through the official client, which knows how a service of this protocol is addressed, and gives the
 * answer's head and body as they are. Nothing else of the client is used: it repeats no request, reads no answer, and what
 * it would add to the headers stays here.
 */
export async function clientFetch(baseUrl: string, send: typeof fetch): Promise<SendRequest> {
  // Loaded with the first call, and before anything of it is timed.
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
        // The client would read it, and lose an error's words unless they stand under `error`.
        rejected = answer;
        throw new Error("refused");
      },
    });
    const request: OpenAI.RequestOptions = {
      // Already serialized: with this header a text is sent as it is.
      body: init?.body,
      headers: { "content-type": "application/json" },
      ...defined({ signal: init?.signal ? init.signal : undefined }),
      stream: true,
    };
    try {
      return await client.post(url.slice(baseUrl.length), request).asResponse();
    } catch (error) {
      if (rejected) return rejected;
      // What the network said stands behind the client's own words.
      throw error instanceof Error && error.cause instanceof Error ? error.cause : error;
    }
  };
}
