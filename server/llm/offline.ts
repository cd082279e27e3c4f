import { z } from "zod";
import { withoutRunFacts } from "@/server/domain/agent/prompt";
import { OFFLINE } from "@/server/domain/model/provider";
import type { DemoPace } from "./demo-pace";
import { ChatRequest, textOf } from "./offline/chat-request";
import {
  cut,
  type Delay,
  failure,
  modelList,
  scriptedError,
  stream,
  THE_MODEL,
  whole,
} from "./offline/chat-response";
import { type DirectedTurn, readTurns, type ScriptedFailure, withoutStatus } from "./offline/directives";
import type { Message, Tool } from "./offline/prompt";
import { inProtocol, replyTo, unmetChoice, withScriptedFailure } from "./offline/reply";
import { sleep } from "./offline/sleep";
import { fromText } from "./offline/text-tools";

/** Tells the model which run asks, so that scripted failures count per run. */
export const OFFLINE_RUN_HEADER = "x-troupe-run";

export interface OfflineOptions {
  /** 1 is reading speed, 2 twice that, 0 at once. Default: TROUPE_OFFLINE_SPEED, else 1. */
  speed?: number;
  /** The pace of individual runs; ignored if a speed is set. */
  pace?: DemoPace;
}

/**
 * The offline demo model: answers like an OpenAI-compatible server, by a script instead of an AI, the same for the
 * same request. `[[offline: ...]]` in a message scripts its answers; see offline/directives.ts.
 */
export function newOfflineModel(options: OfflineOptions = {}): (request: Request) => Promise<Response> {
  const attempts = new Attempts();
  return async (request) => {
    const path = new URL(request.url).pathname;
    if (request.method === "GET" && path.endsWith("/models")) return modelList();
    const [, asked] = /\/models\/([^/]+)$/.exec(path) ?? [];
    if (request.method === "GET" && asked !== undefined)
      return asked === OFFLINE.model
        ? Response.json(THE_MODEL)
        : failure(404, "model_not_found", `There is no model ${asked}; the demo model is ${OFFLINE.model}.`);
    if (request.method !== "POST" || !path.endsWith("/chat/completions"))
      return failure(404, "not_found", `Nothing at ${path}.`);
    const body = ChatRequest.safeParse(await request.json().catch(() => null));
    if (!body.success) return failure(400, "invalid_request_error", z.prettifyError(body.error));
    if ((body.data.n ?? 1) > 1)
      return failure(
        400,
        "invalid_request_error",
        "The demo model returns one answer at a time. Omit n, or set it to 1.",
      );
    const unmet = unmetChoice(body.data);
    if (unmet) return failure(400, "invalid_request_error", unmet);
    return respond(body.data, request, attempts, delayOf(options, request.headers.get(OFFLINE_RUN_HEADER)));
  };
}

/** The offline demo model as a `fetch` that touches no network. */
export function newOfflineFetch(options: OfflineOptions = {}): typeof fetch {
  const handle = newOfflineModel(options);
  return (input, init) => handle(new Request(input, init));
}

/** The delay before an answer, and the maximum for all of it: an approval plays for about seven seconds, a crew of four for twice that. */
const WATCHED = { first_ms: 700, chunk_ms: 240, all_ms: 2_800 };

function delayOf({ speed, pace }: OfflineOptions, runId: string | null): Delay {
  const set = speed ?? process.env.TROUPE_OFFLINE_SPEED;
  const wanted = Number(set ?? 1);
  const usual = Number.isFinite(wanted) && wanted >= 0 ? wanted : 1;
  return (at, chunks) => {
    const own = set === undefined && runId !== null ? pace?.of(runId) : undefined;
    if (own === "at once" || usual === 0) return 0;
    if (own === "slow")
      return at === 0 ? WATCHED.first_ms : Math.min(WATCHED.chunk_ms, WATCHED.all_ms / chunks);
    return (at === 0 ? 150 : 33) / usual;
  };
}

/** Counts repetitions of a question until it is answered: scripted failures happen a given number of times. */
class Attempts {
  private readonly counts = new Map<string, number>();
  next(key: string): number {
    const count = this.counts.get(key) ?? 0;
    this.counts.delete(key);
    this.counts.set(key, count + 1);
    if (this.counts.size > 2000)
      for (const oldest of [...this.counts.keys()].slice(0, 500)) this.counts.delete(oldest);
    return count;
  }
  forget(key: string) {
    this.counts.delete(key);
  }
}

async function respond(
  body: ChatRequest,
  request: Request,
  attempts: Attempts,
  delay: Delay,
): Promise<Response> {
  const received = body.messages.map(({ role, content }): Message => ({ role, content: textOf(content) }));
  const native = (body.tools ?? []).map(
    ({ function: { name, parameters = {} } }): Tool => ({ name, parameters }),
  );
  const byText = native.length > 0 ? null : fromText(received);
  const { messages, tools } = byText ?? { messages: received, tools: native };
  const asked = messages.filter(({ role }) => role === "system" || role === "user" || role === "developer");
  const answered = messages.filter(({ role }) => role === "assistant").length;
  const turn = readTurns(asked.map(({ content }) => withoutStatus(content)))[answered];
  const seed = withoutRunFacts(
    JSON.stringify([
      body.model,
      messages,
      body.tools ?? null,
      body.response_format ?? null,
      body.seed ?? null,
    ]),
  );
  const key = `${request.headers.get(OFFLINE_RUN_HEADER) ?? ""}\n${seed}`;
  const scripted = turn && turn.failures.length > 0 ? scriptedFailureAt(turn, attempts.next(key)) : undefined;
  if (!scripted) attempts.forget(key);
  if (turn && !(await paused(turn, request.signal)))
    return failure(499, "cancelled", "The caller disconnected.");
  if (scripted?.kind === "error") return scriptedError(scripted);
  const reply = cut(
    withScriptedFailure(inProtocol(replyTo(body, { messages, tools }, turn), byText !== null), scripted),
    body,
  );
  return body.stream ? stream(body, reply, delay, request.signal) : whole(body, reply, delay, request.signal);
}

/** The failure of the nth attempt: each kind lasts for its number of attempts, one after the other. */
function scriptedFailureAt(turn: DirectedTurn, attempt: number): ScriptedFailure | undefined {
  let before = 0;
  for (const scripted of turn.failures) {
    if (attempt < before + scripted.times) return scripted;
    before += scripted.times;
  }
  return undefined;
}

/** Waits as the script says; false if the caller left meanwhile. */
async function paused(turn: DirectedTurn, signal: AbortSignal): Promise<boolean> {
  if (turn.delayMs > 0 && !(await sleep(turn.delayMs, signal))) return false;
  return turn.hangMs === 0 || sleep(turn.hangMs ?? 2 ** 31 - 1, signal);
}
