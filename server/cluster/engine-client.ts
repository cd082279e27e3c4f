import { z } from "zod";
import { errorMessage } from "@/server/domain/base/guards";
import type { SegmentSignal, SegmentStart } from "./protocol";

// The server's client of Restate, over HTTP: its ingress accepts messages durably, its admin port lists what it has.
// https://docs.restate.dev/invoke/http, https://docs.restate.dev/operate/introspection

/** A segment of a run in the engine, until everything about it is reported. */
export interface Invocation {
  run_id: string;
  stretch: number;
  status: string;
  /** How often it failed to start, and why the last time. */
  retries: number;
  failure: string | null;
}

/** Each method rejects, with a message for people, if the engine does not answer or reports an error. */
export interface EngineClient {
  /** Sends a segment; sending it again has no effect. */
  begin(start: SegmentStart): Promise<void>;
  deliver(signal: SegmentSignal): Promise<void>;
  /** Whether it accepts messages. */
  ping(): Promise<void>;
  /** The uncompleted segments of all runs. */
  invocations(): Promise<Invocation[]>;
}

/** The name of the service that workers offer. */
export const SERVICE = "troupe";

/** The engine's key of a segment. */
export const segmentKey = (runId: string, segment: number) => `${runId}.${segment}`;

const WITHIN_MS = 10_000;

/** `seal`: encrypts the messages that the engine keeps, for workers only. */
export function newEngineClient(options: {
  ingress: string;
  admin: string;
  seal: (bytes: Uint8Array) => Uint8Array;
  fetch?: typeof fetch;
}): EngineClient {
  const { ingress, admin, seal, fetch: ask = fetch } = options;
  const request = async (url: string, init: RequestInit): Promise<Response> => {
    let answer: Response;
    try {
      answer = await ask(url, { method: "POST", ...init, signal: AbortSignal.timeout(WITHIN_MS) });
    } catch (error) {
      throw new Error(`Restate isn't responding at ${new URL(url).origin}.`, { cause: error });
    }
    if (answer.ok) return answer;
    const text = await answer.text().catch(errorMessage);
    throw new Error(
      answer.status === 404
        ? "No Troupe worker is registered with Restate. Start a worker, or run npm run engine again."
        : `Restate returned ${answer.status}: ${text.slice(0, 300)}`,
    );
  };
  const send = async (key: string, handler: string, body: unknown) => {
    const answer = await request(`${ingress}/${SERVICE}/${encodeURIComponent(key)}/${handler}/send`, {
      headers: { "content-type": "application/json" },
      body: Buffer.from(seal(Buffer.from(JSON.stringify(body)))),
    });
    await answer.arrayBuffer();
  };
  return {
    begin: (start) => send(segmentKey(start.run_id, start.stretch), "run", start),
    deliver: (signal) => send(segmentKey(signal.run_id, signal.stretch), "deliver", signal),
    async ping() {
      await (await request(`${ingress}/restate/health`, { method: "GET" })).arrayBuffer();
    },
    async invocations() {
      const answer = await request(`${admin}/query`, {
        headers: { "content-type": "application/json", accept: "application/json" },
        body: JSON.stringify({ query: UNFINISHED }),
      });
      const { rows } = Answer.parse(await answer.json());
      return rows.flatMap((row) => invocationOf(row) ?? []);
    },
  };
}

const UNFINISHED = `select target_service_key, status, retry_count, last_failure from sys_invocation
  where target_service_name = '${SERVICE}' and target_handler_name = 'run' and status <> 'completed'`;

const Row = z.object({
  target_service_key: z.string().nullish(),
  status: z.string(),
  retry_count: z.number().nullish(),
  last_failure: z.string().nullish(),
});
const Answer = z.object({ rows: z.array(Row) });

function invocationOf(row: z.infer<typeof Row>): Invocation | null {
  const { target_service_key: key, status, retry_count, last_failure } = row;
  const dot = key?.lastIndexOf(".") ?? -1;
  if (!key || dot < 0) return null;
  return {
    run_id: key.slice(0, dot),
    stretch: Number(key.slice(dot + 1)),
    status,
    retries: retry_count ?? 0,
    failure: last_failure ?? null,
  };
}
