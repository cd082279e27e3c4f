import "server-only";
import type { APIError, OpenAI } from "openai";
import { z } from "zod";
import type { Capability, Provider, ResponseRung } from "@/server/domain/provider";
import type { ToolCall, ToolProtocol } from "@/server/domain/tool";
import {
  type Callee,
  cancelled,
  classifyNetworkError,
  classifyServerError,
  cutOff,
  type ServerError,
} from "./errors";
import {
  type CallPiece,
  callIds,
  functionsOf,
  newCallAssembler,
  type WireMessage,
  wireNames,
  withFunctions,
} from "./functions";
import { type ModelAnswer, ModelError, type ModelIo, type ModelRequest } from "./model";
import { OFFLINE_RUN_HEADER } from "./offline";
import { strictSchema } from "./strict-schema";
import { readTextCalls } from "./text-calls";
import { newCallSplitter, RESULT_STOP, withoutFunctions, withToolBlock } from "./text-protocol";
import { newThinkSplitter, splitUnopened } from "./think";
import { newWire, type WireLimits } from "./wire";

// A large library, and nothing of it is needed before the first call.
const loadLibrary = () => import("openai");

/** A refusal by the server, before it is said whether it ends the call or only changes how to ask. */
export class ServerRefusal extends Error {
  constructor(
    readonly refusal: ServerError,
    readonly asModelError: ModelError,
  ) {
    super(asModelError.message);
  }
}

export interface Call {
  provider: Provider;
  key: string | null;
  model: string;
  request: ModelRequest;
  capability: Capability;
  /** A limit on the answer where the budget sets one. */
  max_tokens?: number;
  fetch: typeof fetch;
  limits: WireLimits;
}

/** A complete answer as the server gave it; its cost is worked out elsewhere. */
export type RawAnswer = Pick<
  ModelAnswer,
  | "content"
  | "reasoning"
  | "refusal"
  | "tool_calls"
  | "tool_protocol"
  | "finish_reason"
  | "ttft_ms"
  | "response_format"
> & {
  /** Undefined where the server did not count. */
  usage: z.infer<typeof ReportedUsage> | undefined;
};

const count = z.number().nonnegative().catch(0);
const ReportedUsage = z.object({
  prompt_tokens: count,
  completion_tokens: count,
  prompt_tokens_details: z.object({ cached_tokens: count.nullish() }).nullish().catch(undefined),
  completion_tokens_details: z.object({ reasoning_tokens: count.nullish() }).nullish().catch(undefined),
  /** DeepSeek's word for cached tokens. */
  prompt_cache_hit_tokens: z.number().nullish().catch(undefined),
  /** US dollars, from OpenRouter. */
  cost: z.number().nullish().catch(undefined),
});

const text = z.string().nullish().catch(undefined);
/** Servers leave out, or misspell, any of it. */
const CalledFunction = z
  .object({
    name: text,
    arguments: z
      .union([z.string(), z.record(z.string(), z.unknown())])
      .nullish()
      .catch(undefined),
  })
  .nullish()
  .catch(undefined);
const CalledPiece = z.object({
  index: z.number().int().nullish().catch(undefined),
  id: text,
  function: CalledFunction,
});
const Chunk = z.object({
  choices: z
    .array(
      z.object({
        index: z.number().catch(0),
        delta: z
          .object({
            content: text,
            reasoning_content: text,
            reasoning: text,
            refusal: text,
            tool_calls: z.array(CalledPiece).nullish().catch(undefined),
            /** The one call that servers from before tool_calls make. */
            function_call: CalledFunction,
          })
          .nullish(),
        finish_reason: text,
      }),
    )
    .nullish(),
  usage: ReportedUsage.nullish().catch(undefined),
});

/**
 * Asks once. Throws a ServerRefusal where the server said no, a ModelError where the call failed otherwise; resolves
 * only with an answer that the server itself called finished.
 */
export async function callOnce(call: Call, io: ModelIo): Promise<RawAnswer> {
  const { provider, model, key } = call;
  const callee: Callee = { provider: provider.name, base_url: provider.base_url, model, key };
  const wire = newWire(call.fetch, callee, call.limits, io.signal);
  try {
    return await read(call, callee, wire.fetch, io);
  } catch (error) {
    throw wire.fault() ?? (await translated(error, callee, io.signal));
  } finally {
    wire.close();
  }

  async function read(
    call: Call,
    callee: Callee,
    fetch: typeof globalThis.fetch,
    io: ModelIo,
  ): Promise<RawAnswer> {
    const started = performance.now();
    const { body, rung, protocol } = bodyOf(call);
    const client = await newClient(call, fetch);
    const stream = await client.chat.completions.create(body);
    const answer = newCollector(io, started, protocol !== null);
    for await (const chunk of stream) answer.add(chunk);
    // The client ends a stream that was aborted or cut as if it were complete.
    const fault = wire.fault();
    if (fault) throw fault;
    if (io.signal.aborted) throw cancelled();
    return finished(answer.end(), call.request, { rung, protocol }, callee);
  }
}

async function newClient({ provider, key, request }: Call, fetch: typeof globalThis.fetch): Promise<OpenAI> {
  const { OpenAI } = await loadLibrary();
  return new OpenAI({
    apiKey: key ?? "none",
    adminAPIKey: null,
    organization: null,
    project: null,
    baseURL: provider.base_url,
    maxRetries: 0,
    // The wire has timers of its own; the client's would end only the wait for the head.
    timeout: 2 ** 31 - 1,
    logLevel: "off",
    fetch,
    defaultHeaders: {
      ...(key === null ? { authorization: null } : {}),
      ...(provider.kind === "offline" ? { [OFFLINE_RUN_HEADER]: request.run_id } : {}),
    },
  });
}

async function translated(error: unknown, callee: Callee, signal: AbortSignal): Promise<Error> {
  if (error instanceof ModelError || error instanceof ServerRefusal) return error;
  if (signal.aborted) return cancelled();
  if (error instanceof SyntaxError) return cutOff(callee, "is garbled");
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof ModelError) return cause;
  const { APIError } = await loadLibrary();
  // An error object inside a stream has no status; one without a body is a broken connection.
  if (error instanceof APIError && (error.status !== undefined || error.error !== undefined)) {
    const refusal = serverErrorOf(error as APIError);
    return new ServerRefusal(refusal, classifyServerError(refusal, callee));
  }
  return classifyNetworkError(error, callee);
}

function serverErrorOf(error: APIError): ServerError {
  const body = (typeof error.error === "object" && error.error !== null ? error.error : {}) as Record<
    string,
    unknown
  >;
  const word = (value: unknown) =>
    typeof value === "string" || typeof value === "number" ? String(value) : "";
  return {
    status: error.status,
    code: word(body.code),
    type: word(body.type),
    param: word(body.param),
    message:
      word(body.message) ||
      (typeof error.error === "string"
        ? error.error
        : error.status === undefined
          ? error.message
          : plainMessage(error)),
    headers: error.headers,
  };
}

/** The client puts the status in front of the body's text; web pages are no messages. */
function plainMessage(error: APIError): string {
  const words = error.message.replace(/^\d{3} /, "").replace(/^status code \(no body\)$/, "");
  return /^\s*</.test(words) ? "" : words;
}

type Body = OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming;

/** The request as this provider's model is known to take it. */
function bodyOf(call: Call): { body: Body; rung: ResponseRung | null; protocol: ToolProtocol | null } {
  const { request, model, capability } = call;
  const config = request.llm_config;
  const protocol = protocolFor(call);
  // Many servers cannot do both; whoever needs the shape asks for it once the tools have done their work.
  const rung = request.response && protocol === null ? rungFor(call) : null;
  const stop = [
    // Services refuse an empty one, which is a line that somebody has not filled in yet.
    ...(config.stop ?? []).filter((word) => word !== "").slice(0, protocol === "text" ? 3 : 4),
    ...(protocol === "text" ? [RESULT_STOP] : []),
  ];
  const maxTokens = call.max_tokens ?? config.max_tokens;
  const tokensName =
    capability.max_tokens_name ??
    (/^https:\/\/api\.openai\.com\b/.test(call.provider.base_url) ? "max_completion_tokens" : "max_tokens");
  const optional: Record<string, unknown> = {
    temperature: config.temperature,
    top_p: config.top_p,
    seed: config.seed,
    stop: stop.length > 0 ? stop : undefined,
    reasoning_effort: config.reasoning_effort,
    [tokensName]: maxTokens,
    parallel_tool_calls: protocol === "native" && capability.parallel_tools === false ? false : undefined,
  };
  const refused = new Set(capability.refuses ?? []);
  const sent = Object.fromEntries(
    Object.entries(optional).filter(([name, value]) => value !== undefined && !refused.has(name)),
  );
  const body = {
    ...(config.extra_body ?? {}),
    model,
    messages: withShape(
      capability.wants_reasoning
        ? withThoughts(messagesFor(request, protocol), request)
        : messagesFor(request, protocol),
      request,
      rung,
    ),
    ...(protocol === "native" ? { tools: functionsOf(request.tools ?? [], namesFor(request)) } : {}),
    ...sent,
    ...responseFormat(request, rung),
    ...(capability.stream_usage === false ? {} : { stream_options: { include_usage: true } }),
    stream: true,
  };
  // Settings of a workflow may carry fields that only some servers know.
  return { body: body as Body, rung, protocol };
}

const namesFor = ({ tools, messages }: ModelRequest) => wireNames(tools ?? [], messages);

/** How to offer the tools: as the agent wants it, else the provider's settings, else as the model is known to take it. */
export function protocolFor({
  request,
  capability,
  provider,
}: Pick<Call, "request" | "capability" | "provider">): ToolProtocol | null {
  if (!request.tools || request.tools.length === 0) return null;
  return chosenProtocol({ request, provider }) ?? (capability.native_tools === false ? "text" : "native");
}

/** The protocol that a person chose; undefined where none did. */
export function chosenProtocol({
  request,
  provider,
}: Pick<Call, "request" | "provider">): ToolProtocol | undefined {
  const { tool_protocol: wish } = request;
  return wish === undefined || wish === "auto" ? provider.settings.tool_protocol : wish;
}

/** Which way of asking for a shape to use: the person's choice, else the best one not known to be refused. */
export function rungFor({
  request,
  capability,
  provider,
}: Pick<Call, "request" | "capability" | "provider">): ResponseRung {
  const chosen = request.llm_config.structured_output;
  const wish: ResponseRung =
    chosen && chosen !== "auto" ? chosen : (capability.response_format ?? usualRung(provider.base_url));
  if (wish !== "strict") return wish;
  return request.response && strictSchema(request.response.schema) ? "strict" : "json_schema";
}

/** DeepSeek knows JSON but no schemas, and says so only by failing. */
const usualRung = (baseUrl: string): ResponseRung =>
  /\bdeepseek\.com\b/.test(baseUrl) ? "json_object" : "strict";

function responseFormat({ response }: ModelRequest, rung: ResponseRung | null): Record<string, unknown> {
  if (!response || rung === null || rung === "prompt") return {};
  if (rung === "json_object") return { response_format: { type: "json_object" } };
  const strict = rung === "strict" ? strictSchema(response.schema) : null;
  const name = response.name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "answer";
  return {
    response_format: {
      type: "json_schema",
      json_schema: strict ? { name, schema: strict, strict: true } : { name, schema: response.schema },
    },
  };
}

function messagesFor(request: ModelRequest, protocol: ToolProtocol | null): WireMessage[] {
  const { messages, tools = [] } = request;
  if (protocol === "native") return withFunctions(messages, namesFor(request));
  // Servers refuse results of functions that are not on offer, so past calls are told as text.
  const plain = withoutFunctions(messages);
  return (protocol === "text" ? withToolBlock(plain, tools) : plain).map(({ role, content, name }) => ({
    role,
    content,
    ...(name ? { name } : {}),
  }));
}

/** The model's own messages with what it thought before each; an empty thought where it told none. */
function withThoughts(messages: WireMessage[], request: ModelRequest): WireMessage[] {
  const thoughts = request.messages
    .filter(({ role }) => role === "assistant")
    .map((one) => one.reasoning ?? "");
  return messages.map((message) =>
    message.role === "assistant" ? { ...message, reasoning_content: thoughts.shift() ?? "" } : message,
  );
}

function withShape(messages: WireMessage[], request: ModelRequest, rung: ResponseRung | null): WireMessage[] {
  if (!request.response || (rung !== "json_object" && rung !== "prompt")) return messages;
  // Some servers demand the word JSON in the prompt, and answer with blanks without it.
  const shape = `Answer with one JSON object and nothing else. It must match this JSON schema:\n${JSON.stringify(request.response.schema)}`;
  const [first, ...others] = messages;
  return first?.role === "system"
    ? [{ ...first, content: `${first.content}\n\n${shape}` }, ...others]
    : [{ role: "system", content: shape }, ...messages];
}

const asPiece = (piece: Partial<z.infer<typeof CalledPiece>>): CallPiece => ({
  index: piece.index ?? undefined,
  id: piece.id ?? undefined,
  name: piece.function?.name ?? undefined,
  args: piece.function?.arguments ?? undefined,
});

interface Collected {
  /** What was said, calls in text included. */
  text: string;
  /** What of it was streamed as the answer. */
  content: string;
  tool_args: string;
  calls: ReturnType<typeof newCallAssembler>;
  reasoning: string;
  refusal: string;
  finish: string | null;
  usage: z.infer<typeof ReportedUsage> | undefined;
  ttft_ms: number | null;
}

/** Puts the pieces of a stream together and hands them on. */
function newCollector(io: ModelIo, started: number, hasTools: boolean) {
  const got: Collected = {
    text: "",
    content: "",
    tool_args: "",
    calls: newCallAssembler(),
    reasoning: "",
    refusal: "",
    finish: null,
    usage: undefined,
    ttft_ms: null,
  };
  let tellsCalls = false;
  const splitter = newThinkSplitter();
  const callSplitter = newCallSplitter();
  const give = (channel: "content" | "reasoning" | "tool_args", piece: string) => {
    if (piece === "") return;
    got.ttft_ms ??= Math.round(performance.now() - started);
    io.delta(channel, got[channel].length, piece);
    got[channel] += piece;
  };
  const split = ({ content, reasoning }: { content: string; reasoning: string }) => {
    give("reasoning", reasoning);
    got.text += content;
    if (hasTools) show(callSplitter.push(content));
    else give("content", content);
  };
  const show = ({ content, calls }: { content: string; calls: string }) => {
    give("content", content);
    give("tool_args", calls);
  };
  return {
    add(raw: unknown) {
      const parsed = Chunk.safeParse(raw);
      if (!parsed.success) return;
      got.usage = parsed.data.usage ?? got.usage;
      const choice = parsed.data.choices?.find(({ index }) => index === 0);
      if (!choice) return;
      give("reasoning", choice.delta?.reasoning_content ?? choice.delta?.reasoning ?? "");
      if (choice.delta?.content) split(splitter.push(choice.delta.content));
      got.refusal += choice.delta?.refusal ?? "";
      const { tool_calls: calls, function_call: only } = choice.delta ?? {};
      // Some servers tell the same call in both ways.
      if (calls?.length) tellsCalls = true;
      const isOld = !tellsCalls && Boolean(only?.name || only?.arguments);
      const pieces = calls?.length ? calls : isOld ? [{ function: only }] : [];
      give("tool_args", got.calls.add(pieces.map(asPiece)).grown);
      got.finish = choice.finish_reason || got.finish;
    },
    end(): Collected {
      split(splitter.end());
      if (hasTools) show(callSplitter.end());
      const unopened = splitUnopened(got.text);
      if (unopened)
        Object.assign(got, { text: unopened.content, reasoning: got.reasoning + unopened.reasoning });
      return got;
    },
  };
}

function finished(
  got: Collected,
  request: ModelRequest,
  { rung, protocol }: { rung: ResponseRung | null; protocol: ToolProtocol | null },
  callee: Callee,
): RawAnswer {
  if (got.finish === null) throw cutOff(callee, "ended in the middle");
  if (got.finish === "content_filter")
    throw new ModelError({
      code: "CONTENT_FILTER",
      message: `A content filter of ${callee.provider} stopped the answer. Word the task differently, or choose another model.`,
      retryable: false,
      user_action: "edit_graph",
    });
  if (got.finish === "error") throw cutOff(callee, "ended with an error");
  const { content, calls } = called(got, request, protocol);
  // Servers end calls with "stop", and answers without any with "tool_calls".
  const isEnd = ["stop", "tool_calls", "function_call"].includes(got.finish);
  const finish = isEnd ? (calls.length > 0 ? "tool_calls" : "stop") : got.finish;
  if (content.trim() === "" && got.refusal === "" && finish === "stop")
    throw new ModelError({
      code: "OUTPUT_INVALID",
      message: `${callee.model} answered with nothing.`,
      retryable: true,
      user_action: "retry",
    });
  return {
    content,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(protocol === null ? {} : { tool_protocol: protocol }),
    ...(got.reasoning.trim() === "" ? {} : { reasoning: got.reasoning }),
    ...(got.refusal === "" ? {} : { refusal: got.refusal }),
    finish_reason: finish,
    usage: got.usage,
    ttft_ms: got.ttft_ms,
    response_format: rung === null ? "text" : rung === "strict" ? "json_schema" : rung,
  };
}

/** What an answer calls, and what it says besides. Text calls count only where the server made none of its own. */
function called(
  got: Collected,
  request: ModelRequest,
  protocol: ToolProtocol | null,
): { content: string; calls: ToolCall[] } {
  if (protocol === null) return { content: got.text, calls: [] };
  const isCut = got.finish === "length";
  const idOf = callIds(request.messages);
  const own = got.calls.end(namesFor(request), idOf, isCut);
  const written = readTextCalls(got.text, { tools: request.tools ?? [], isCut });
  const calls = own.length > 0 ? own : written.calls.map((call) => ({ id: idOf(), ...call }));
  return { content: written.content, calls };
}
