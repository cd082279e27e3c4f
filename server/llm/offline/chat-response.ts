import { randomUUID } from "node:crypto";
import { defined } from "@/server/domain/base/defined";
import { OFFLINE } from "@/server/domain/model/provider";
import { type ChatRequest, textOf } from "./chat-request";
import type { ScriptedFailure } from "./directives";
import type { Reply } from "./reply";
import { sleep } from "./sleep";

/** A reply on the wire: whole or as a stream, within the caller's limits, with its usage; and refusals. */

/** The delay in milliseconds before chunk `at` of `chunks`; called again for each chunk. */
export type Delay = (at: number, chunks: number) => number;

const tokens = (text: string) => Math.ceil(text.length / 4);

/** Obeys the caller's stop words and token limit, as a real server does. */
export function cut(reply: Reply, body: ChatRequest): Reply {
  if (reply.content === null) return reply;
  let content = reply.content;
  for (const stop of [body.stop ?? []].flat())
    if (stop !== "" && content.includes(stop)) content = content.slice(0, content.indexOf(stop));
  const most = body.max_completion_tokens ?? body.max_tokens;
  if (typeof most !== "number" || tokens(content) <= most) return { ...reply, content };
  return { ...reply, content: content.slice(0, most * 4), finish: "length" };
}

function usageOf(body: ChatRequest, reply: Reply) {
  const input = tokens(
    body.messages.map(({ content }) => textOf(content)).join("\n") +
      (body.tools ? JSON.stringify(body.tools) : ""),
  );
  const reasoning = tokens(reply.reasoning ?? "");
  const output = tokens(reply.content ?? reply.refusal ?? JSON.stringify(reply.calls)) + reasoning;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

const toolCalls = (reply: Reply) =>
  reply.calls.map(({ name, args }, index) => ({
    index,
    id: `call_${index + 1}`,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  }));

const envelope = (body: ChatRequest, object: string) => ({
  // Programs that collect messages tell them apart by it.
  id: `chatcmpl-${randomUUID()}`,
  object,
  created: Math.floor(Date.now() / 1000),
  model: body.model,
  system_fingerprint: "offline-demo",
});

export async function whole(
  body: ChatRequest,
  reply: Reply,
  delay: Delay,
  signal: AbortSignal,
): Promise<Response> {
  await sleep(delay(0, 1), signal);
  if (reply.dropAfter !== null)
    return new Response(broken(), { headers: { "content-type": "application/json" } });
  const calls = toolCalls(reply).map(({ index: _index, ...call }) => call);
  const message = {
    role: "assistant",
    content: reply.content,
    refusal: reply.refusal,
    ...defined({
      reasoning_content: reply.reasoning === null ? undefined : reply.reasoning,
      tool_calls: calls.length > 0 ? calls : undefined,
    }),
  };
  return Response.json({
    ...envelope(body, "chat.completion"),
    choices: [{ index: 0, message, logprobs: null, finish_reason: reply.finish }],
    usage: usageOf(body, reply),
  });
}

/** A body whose connection breaks after the first bytes. */
const broken = () =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"id":"chatcmpl-offline","choices":['));
    },
    pull(controller) {
      controller.error(new Error("The offline model dropped the connection, as scripted."));
    },
  });

export function stream(body: ChatRequest, reply: Reply, delay: Delay, signal: AbortSignal): Response {
  const chunks = chunksOf(body, reply);
  const encoder = new TextEncoder();
  // A dropped connection breaks before the answer is complete, however short it is.
  const most = chunks.length - (body.stream_options?.include_usage ? 2 : 1);
  const dropAfter = reply.dropAfter === null ? null : Math.min(reply.dropAfter, most);
  let at = 0;
  const source = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const wait = delay(at, chunks.length);
      if (wait === 0 && dropAfter === null) {
        const all = chunks
          .slice(at)
          .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
          .join("");
        controller.enqueue(encoder.encode(`${all}data: [DONE]\n\n`));
        return controller.close();
      }
      if (!(await sleep(wait, signal))) return controller.error(signal.reason);
      if (dropAfter !== null && at >= dropAfter) return controller.close();
      const chunk = chunks[at++];
      if (chunk === undefined) {
        controller.enqueue(encoder.encode("data: [DONE]\n\n"));
        return controller.close();
      }
      controller.enqueue(encoder.encode(`data: ${JSON.stringify(chunk)}\n\n`));
    },
  });
  return new Response(source, {
    headers: { "content-type": "text/event-stream", "cache-control": "no-store" },
  });
}

function chunksOf(body: ChatRequest, reply: Reply): unknown[] {
  const head = envelope(body, "chat.completion.chunk");
  const chunk = (delta: unknown, finish: string | null = null) => ({
    ...head,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    ...defined({ usage: body.stream_options?.include_usage ? null : undefined }),
  });
  const deltas: unknown[] = [{ role: "assistant", content: "" }];
  for (const text of pieces(reply.reasoning ?? "")) deltas.push({ reasoning_content: text });
  for (const text of pieces(reply.refusal ?? "")) deltas.push({ refusal: text });
  for (const text of pieces(reply.content ?? "")) deltas.push({ content: text });
  for (const call of toolCalls(reply)) deltas.push({ tool_calls: [call] });
  const chunks: unknown[] = [...deltas.map((delta) => chunk(delta)), chunk({}, reply.finish)];
  if (body.stream_options?.include_usage) chunks.push({ ...head, choices: [], usage: usageOf(body, reply) });
  return chunks;
}

const WORDS_PER_CHUNK = 4;

/** The text in chunks of a few words; joined they are the text. */
function pieces(text: string): string[] {
  const chunks = text.match(/(?<!\s)\s*\S+|(?<!\s)\s+$/g) ?? [];
  const found: string[] = [];
  for (let at = 0; at < chunks.length; at += WORDS_PER_CHUNK)
    found.push(chunks.slice(at, at + WORDS_PER_CHUNK).join(""));
  return found.join("") === text ? found : [text];
}

export const THE_MODEL = { id: OFFLINE.model, object: "model", created: 0, owned_by: "troupe" };

export function modelList(): Response {
  return Response.json({ object: "list", data: [THE_MODEL] });
}

export function scriptedError({ status, retryAfter }: Extract<ScriptedFailure, { kind: "error" }>): Response {
  const code =
    status === 429
      ? "rate_limit_exceeded"
      : status === 401
        ? "invalid_api_key"
        : status >= 500
          ? "server_error"
          : "scripted_error";
  return failure(
    status,
    code,
    `Scripted error ${status} from the offline demo model.`,
    retryAfter === null ? {} : { "retry-after": retryAfter },
  );
}

export function failure(
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): Response {
  const usable = status >= 200 && status <= 599 ? status : 500;
  return Response.json({ error: { message, type: code, code, param: null } }, { status: usable, headers });
}
