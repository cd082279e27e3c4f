import { API_HEADERS, guard } from "@/server/access/guard";
import type { Recognition } from "@/server/access/principal";
import { newOfflineModel } from "@/server/llm/offline";

/** One for the process: it counts the attempts of scripted failures. */
const model = newOfflineModel();

/**
 * Answers as the offline demo model to other programs, as any OpenAI-compatible service would: `GET /models` and
 * `POST /chat/completions`, with an API token as the key. `recognition`: tests pass their own.
 */
export async function serveOffline(request: Request, recognition?: Recognition): Promise<Response> {
  const passed = await guard(request, { authScheme: "api", ...(recognition ? { recognition } : {}) });
  if (passed instanceof Response) return passed;
  const response = await model(passed.request);
  for (const [name, value] of Object.entries(API_HEADERS))
    if (!response.headers.has(name)) response.headers.set(name, value);
  return response;
}
