import { randomUUID } from "node:crypto";
import { z } from "zod";
import { type JsonObject, JsonSchema } from "@/server/domain/base/values";
import { OFFLINE } from "@/server/domain/model/provider";
import { answerTo, type Numbers, newNumbers } from "./offline/answer";
import { readTurns, type Trouble, type Turn, withoutStatus } from "./offline/directives";
import { isCrewTool } from "./offline/personas/crew";
import { lineOf, quote, SUFFIX } from "./offline/personas/prose";
import {
  asLines,
  chooseCalls,
  fromText,
  offeredName,
  scriptedLine,
  type ToolCall,
  type ToolChoice,
} from "./offline/personas/tools";
import { type Message, readPrompt, sinceTask, type Tool } from "./offline/prompt";

/** Tells the model which run asks, so that scripted failures count per run. */
export const OFFLINE_RUN_HEADER = "x-troupe-run";

export interface OfflineOptions {
  /** 1 is reading speed, 2 twice that, 0 at once. Default: TROUPE_OFFLINE_SPEED, else 1. */
  speed?: number;
}

const ChatRequest = z.object({
  model: z.string(),
  messages: z
    .array(
      z.object({
        role: z.string(),
        content: z
          .union([z.string(), z.array(z.object({ type: z.string(), text: z.string().optional() })), z.null()])
          .optional(),
      }),
    )
    .min(1),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().optional() }).nullish(),
  max_tokens: z.number().int().positive().nullish(),
  max_completion_tokens: z.number().int().positive().nullish(),
  seed: z.number().nullish(),
  n: z.number().int().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  response_format: z
    .object({
      type: z.string(),
      json_schema: z.object({ name: z.string(), schema: JsonSchema.optional() }).optional(),
    })
    .nullish(),
  tools: z
    .array(
      z.object({
        function: z.object({
          name: z.string(),
          description: z.string().optional(),
          parameters: JsonSchema.optional(),
        }),
      }),
    )
    .nullish(),
  tool_choice: z
    .union([z.enum(["none", "auto", "required"]), z.object({ function: z.object({ name: z.string() }) })])
    .nullish(),
});
type ChatRequest = z.infer<typeof ChatRequest>;

/** What one call will say, before it is put on the wire. */
interface Reply {
  content: string | null;
  reasoning: string | null;
  refusal: string | null;
  calls: ToolCall[];
  finish: "stop" | "length" | "tool_calls";
  /** Closes the connection after so many chunks. */
  dropAfter: number | null;
}

/**
 * The offline demo model: answers like an OpenAI-compatible server, from rules instead of an AI, the same for the
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
        : failure(
            404,
            "model_not_found",
            `There is no model called ${asked}; the demo is called ${OFFLINE.model}.`,
          );
    if (request.method !== "POST" || !path.endsWith("/chat/completions"))
      return failure(404, "not_found", `There is nothing at ${path}.`);
    const body = ChatRequest.safeParse(await request.json().catch(() => null));
    if (!body.success) return failure(400, "invalid_request_error", z.prettifyError(body.error));
    if ((body.data.n ?? 1) > 1)
      return failure(
        400,
        "invalid_request_error",
        "The demo model gives one answer at a time: leave out n, or make it 1.",
      );
    const unmet = unmetChoice(body.data);
    if (unmet) return failure(400, "invalid_request_error", unmet);
    return respond(body.data, request, attempts, speedOf(options));
  };
}

/** The offline demo model as a `fetch` that touches no network. */
export function newOfflineFetch(options: OfflineOptions = {}): typeof fetch {
  const handle = newOfflineModel(options);
  return (input, init) => handle(new Request(input, init));
}

function speedOf({ speed }: OfflineOptions): number {
  const wanted = speed ?? Number(process.env.TROUPE_OFFLINE_SPEED ?? 1);
  return Number.isFinite(wanted) && wanted >= 0 ? wanted : 1;
}

/** Counts how often the same question came, until it was answered: scripted failures happen so many times. */
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
  speed: number,
): Promise<Response> {
  const received = body.messages.map(({ role, content }): Message => ({ role, content: textOf(content) }));
  const native = (body.tools ?? []).map(
    ({ function: tool }): Tool => ({
      name: tool.name,
      description: tool.description ?? "",
      parameters: tool.parameters ?? {},
    }),
  );
  const byText = native.length > 0 ? null : fromText(received);
  const { messages, tools } = byText ?? { messages: received, tools: native };
  const asked = messages.filter(({ role }) => role === "system" || role === "user" || role === "developer");
  const answered = messages.filter(({ role }) => role === "assistant").length;
  const turn = readTurns(asked.map(({ content }) => withoutStatus(content)))[answered];
  const seed = JSON.stringify([
    body.model,
    messages,
    body.tools ?? null,
    body.response_format ?? null,
    body.seed ?? null,
  ]);
  const vary = newNumbers(seed);
  const key = `${request.headers.get(OFFLINE_RUN_HEADER) ?? ""}\n${seed}`;
  const trouble = turn && turn.troubles.length > 0 ? troubleAt(turn, attempts.next(key)) : undefined;
  if (!trouble) attempts.forget(key);
  if (turn && !(await paused(turn, request.signal)))
    return failure(499, "cancelled", "The caller went away.");
  if (trouble?.kind === "error") return scriptedError(trouble);
  const reply = cut(
    withTrouble(inProtocol(replyTo(body, { messages, tools }, turn, vary), byText !== null), trouble),
    body,
  );
  return body.stream
    ? stream(body, reply, vary, speed, request.signal)
    : whole(body, reply, speed, request.signal);
}

const textOf = (content: ChatRequest["messages"][number]["content"]): string =>
  typeof content === "string" ? content : (content?.map((part) => part.text ?? "").join("") ?? "");

/** The trouble that the nth attempt meets: each kind lasts for its number of attempts, one after the other. */
function troubleAt(turn: Turn, attempt: number): Trouble | undefined {
  let before = 0;
  for (const trouble of turn.troubles) {
    if (attempt < before + trouble.times) return trouble;
    before += trouble.times;
  }
  return undefined;
}

/** Waits as the script says; false when the caller went away meanwhile. */
async function paused(turn: Turn, signal: AbortSignal): Promise<boolean> {
  if (turn.delayMs > 0 && !(await sleep(turn.delayMs, signal))) return false;
  return turn.hangMs === 0 || sleep(turn.hangMs ?? 2 ** 31 - 1, signal);
}

function sleep(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  if (ms <= 0) return Promise.resolve(true);
  return new Promise((resolve) => {
    const stop = () => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve(true);
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}

interface Asked {
  messages: readonly Message[];
  tools: readonly Tool[];
}

/** A reply whose calls are lines of text, where the tools were offered so. */
function inProtocol(reply: Reply, isText: boolean): Reply {
  if (!isText || reply.calls.length === 0) return reply;
  return { ...reply, content: asLines(reply.calls), calls: [], finish: "stop" };
}

function replyTo(body: ChatRequest, asked: Asked, turn: Turn | undefined, vary: Numbers): Reply {
  const reply: Reply = {
    content: null,
    reasoning: turn?.think ?? null,
    refusal: null,
    calls: [],
    finish: "stop",
    dropAfter: null,
  };
  const answer = turn?.answer;
  switch (answer?.kind) {
    case "text":
    case "json":
      return { ...reply, content: answer.text };
    case "tools":
      return {
        ...reply,
        calls: answer.calls.map(({ name, args }) => ({ name: offeredName(name, asked.tools), args })),
        finish: "tool_calls",
      };
    case "handoff":
      return { ...reply, ...handoff(answer.agent, asked.tools) };
    case "malformed":
      return { ...reply, content: '{"answer": "this JSON never ends, and its quotes do not match\', ' };
    case "refuse":
      return { ...reply, refusal: "I can't help with that (scripted refusal)." };
    case "textcall": {
      const [, name = "", args = "{}"] = /^(\S+)\s*([\s\S]*)$/.exec(answer.text) ?? [];
      return { ...reply, content: scriptedLine(name, args.trim() || "{}") };
    }
    default:
      return { ...reply, ...ownReply(body, asked, vary) };
  }
}

function handoff(agent: string, tools: readonly Tool[]): Pick<Reply, "content" | "calls" | "finish"> {
  const own = tools.find(({ name }) => name === `transfer_to_${agent}`)?.name;
  const args: JsonObject = own ? {} : { destination_agent: agent, reason: lineOf("Scripted handoff") };
  const calls = [{ name: own ?? "handoff", args }];
  return tools.length > 0
    ? { content: null, calls, finish: "tool_calls" }
    : { content: asLines(calls), calls: [], finish: "stop" };
}

function ownReply(
  body: ChatRequest,
  { messages, tools }: Asked,
  vary: Numbers,
): Pick<Reply, "content" | "calls" | "finish"> {
  const prompt = readPrompt(messages);
  const calls = chooseCalls(prompt, messages, tools, choiceOf(body.tool_choice));
  if (calls.length > 0) return { content: null, calls, finish: "tool_calls" };
  const content = answerTo(prompt, shapeOf(body), vary);
  return { content: withResult(content, messages), calls: [], finish: "stop" };
}

/** A text that says what the last tool gave; values and JSON stay as they are asked for. */
function withResult(content: string, messages: readonly Message[]): string {
  const result = sinceTask(messages).findLast(
    ({ role, content }) => role === "tool" && !isCrewTool(/^\w+/.exec(content)?.[0] ?? ""),
  );
  // Findings quote what they found already.
  if (!result || content.includes("https://") || !content.endsWith(`\n${SUFFIX}`)) return content;
  return `${content.slice(0, -SUFFIX.length)}The tool answered: ${quote(result.content, 200)}\n${SUFFIX}`;
}

function choiceOf(choice: ChatRequest["tool_choice"]): ToolChoice {
  return typeof choice === "object" && choice !== null ? { name: choice.function.name } : (choice ?? "auto");
}

/** Why no answer can be what `tool_choice` asks for, or null. */
function unmetChoice({ tool_choice, tools }: ChatRequest): string | null {
  const choice = choiceOf(tool_choice);
  if (choice === "none" || choice === "auto") return null;
  if (!tools || tools.length === 0) return "tool_choice asks for a call, but there are no tools: add some.";
  if (choice === "required" || tools.some(({ function: { name } }) => name === choice.name)) return null;
  return `tool_choice asks for ${choice.name}, which is not among the tools.`;
}

function shapeOf(body: ChatRequest): JsonSchema | "object" | null {
  const format = body.response_format;
  if (format?.type === "json_schema") return format.json_schema?.schema ?? "object";
  return format?.type === "json_object" ? "object" : null;
}

function withTrouble(reply: Reply, trouble: Trouble | undefined): Reply {
  const text = reply.content ?? "";
  switch (trouble?.kind) {
    case "drop":
      return { ...reply, dropAfter: trouble.chunks };
    case "truncate":
      return { ...reply, content: text.slice(0, Math.ceil(text.length / 2)), calls: [], finish: "length" };
    case "blank":
      return { ...reply, content: "", calls: [], finish: "stop" };
    default:
      return reply;
  }
}

const tokens = (text: string) => Math.ceil(text.length / 4);

/** Obeys the caller's stop words and token limit, as a real server does. */
function cut(reply: Reply, body: ChatRequest): Reply {
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

async function whole(body: ChatRequest, reply: Reply, speed: number, signal: AbortSignal): Promise<Response> {
  if (speed > 0) await sleep(150 / speed, signal);
  if (reply.dropAfter !== null)
    return new Response(broken(), { headers: { "content-type": "application/json" } });
  const calls = toolCalls(reply).map(({ index: _index, ...call }) => call);
  const message = {
    role: "assistant",
    content: reply.content,
    refusal: reply.refusal,
    ...(reply.reasoning === null ? {} : { reasoning_content: reply.reasoning }),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
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

function stream(
  body: ChatRequest,
  reply: Reply,
  vary: Numbers,
  speed: number,
  signal: AbortSignal,
): Response {
  const chunks = chunksOf(body, reply, vary);
  const encoder = new TextEncoder();
  let at = 0;
  const source = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (speed === 0 && reply.dropAfter === null) {
        const all = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
        controller.enqueue(encoder.encode(`${all}data: [DONE]\n\n`));
        return controller.close();
      }
      if (speed > 0 && !(await sleep((at === 0 ? 150 : 33) / speed, signal)))
        return controller.error(signal.reason);
      if (reply.dropAfter !== null && at >= reply.dropAfter) return controller.close();
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

function chunksOf(body: ChatRequest, reply: Reply, vary: Numbers): unknown[] {
  const head = envelope(body, "chat.completion.chunk");
  const chunk = (delta: unknown, finish: string | null = null) => ({
    ...head,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    ...(body.stream_options?.include_usage ? { usage: null } : {}),
  });
  const deltas: unknown[] = [{ role: "assistant", content: "" }];
  for (const text of pieces(reply.reasoning ?? "", vary)) deltas.push({ reasoning_content: text });
  for (const text of pieces(reply.refusal ?? "", vary)) deltas.push({ refusal: text });
  for (const text of pieces(reply.content ?? "", vary)) deltas.push({ content: text });
  for (const call of toolCalls(reply)) deltas.push({ tool_calls: [call] });
  const chunks: unknown[] = [...deltas.map((delta) => chunk(delta)), chunk({}, reply.finish)];
  if (body.stream_options?.include_usage) chunks.push({ ...head, choices: [], usage: usageOf(body, reply) });
  return chunks;
}

/** The text in chunks of three to six words; joined they are the text. */
function pieces(text: string, vary: Numbers): string[] {
  const chunks = text.match(/\s*\S+\s*?(?=\s|$)|\s+$/g) ?? [];
  const found: string[] = [];
  for (let at = 0; at < chunks.length; ) {
    const count = 3 + vary(4);
    found.push(chunks.slice(at, at + count).join(""));
    at += count;
  }
  return found.join("") === text ? found : [text];
}

const THE_MODEL = { id: OFFLINE.model, object: "model", created: 0, owned_by: "troupe" };

function modelList(): Response {
  return Response.json({ object: "list", data: [THE_MODEL] });
}

function scriptedError({ status, retryAfter }: Extract<Trouble, { kind: "error" }>): Response {
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
    `Scripted error ${status} of the offline demo model.`,
    retryAfter === null ? {} : { "retry-after": retryAfter },
  );
}

function failure(
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): Response {
  const usable = status >= 200 && status <= 599 ? status : 500;
  return Response.json({ error: { message, type: code, code, param: null } }, { status: usable, headers });
}
