import { present } from "@/server/domain/base/must";
import "server-only";
import { z } from "zod";
import type { JsonObject } from "@/server/domain/base/values";
import type { Capability, ModelApi, Provider, ResponseRung } from "@/server/domain/model/provider";
import type { ToolCall, ToolProtocol } from "@/server/domain/tool/tool";
import { readWrittenCalls } from "./call-dialects";
import { clientFetch } from "./client";
import {
  type Callee,
  cancelled,
  classifyNetworkError,
  classifyServerError,
  cutOff,
  notAnAnswer,
  Refused,
  refusalInside,
  type ServerError,
  tooLarge,
} from "./errors";
import { readFinish } from "./finish";
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
import { asResponsesRequest, newResponsesReader, toChatFields, UNKNOWN_TO_RESPONSES } from "./responses";
import { strictSchema } from "./strict-schema";
import { newCallSplitter, RESULT_STOP, withoutFunctions, withToolBlock } from "./text-protocol";
import { newThinkSplitter, splitUnopened } from "./think";
import { type Counted, readChatUsage } from "./usage";
import { newWire, type WireLimits, type WirePiece } from "./wire";

/** A call that gave no answer, with what it took all the same. */
export class CallFailed extends Error {
  constructor(
    readonly failure: ModelError,
    readonly taken: Taken,
    /** The server said no, which may only change how to ask. */
    readonly refusal?: ServerError,
  ) {
    super(failure.message);
  }
}

/** What a call used, as far as the server told, and what came of its answer. */
export interface Taken {
  /** The server took the request. */
  isAccepted: boolean;
  /** Undefined where the server did not count. */
  usage: Counted | undefined;
  /** All that the model wrote besides its thoughts. */
  written: string;
  reasoning: string;
}

export interface Call {
  provider: Provider;
  key: string | null;
  /** The provider's own. */
  headers: Readonly<Record<string, string>>;
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
  | "carried"
  | "refusal"
  | "tool_calls"
  | "tool_protocol"
  | "finish_reason"
  | "ttft_ms"
  | "response_format"
> & {
  taken: Taken;
  /** What people should know of it, a sentence each. */
  notes: string[];
};

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
const CalledPiece = z.looseObject({
  index: z.number().int().nullish().catch(undefined),
  id: text,
  function: CalledFunction,
});
/** Text, or a list of parts, some of which are thoughts. */
const Content = z
  .union([z.string(), z.array(z.unknown())])
  .nullish()
  .catch(undefined);
const Chunk = z.object({
  choices: z
    .array(
      z.object({
        index: z.number().catch(0),
        delta: z
          .object({
            content: Content,
            reasoning_content: text,
            reasoning: text,
            refusal: text,
            tool_calls: z.array(CalledPiece).nullish().catch(undefined),
            /** The one call that servers from before tool_calls make. */
            function_call: CalledFunction,
            /** Sealed or signed thoughts, in pieces. */
            reasoning_details: z.array(z.record(z.string(), z.unknown())).nullish().catch(undefined),
            carried: z
              .object({ items: z.array(z.record(z.string(), z.unknown())) })
              .nullish()
              .catch(undefined),
          })
          .nullish(),
        finish_reason: text,
      }),
    )
    .nullish(),
  usage: z.unknown().optional(),
  /** Where Groq counts the tokens of a stream. */
  x_groq: z.object({ usage: z.unknown() }).nullish().catch(undefined),
});

const DONE = "[DONE]";

/**
 * Asks once. Throws CallFailed; resolves only with an answer that the server itself called finished, whatever became of
 * the connection then.
 */
export async function callOnce(call: Call, io: ModelIo): Promise<RawAnswer> {
  const { provider, model, key, request } = call;
  const callee: Callee = { provider: provider.name, base_url: provider.base_url, model, key };
  const wire = newWire(await clientFetch(provider.base_url, call.fetch), callee, call.limits, io.signal);
  const api = apiOf(call);
  const url = `${provider.base_url}/${api === "responses" ? "responses" : "chat/completions"}`;
  const headers = headersOf(call);
  const reader = newResponsesReader();
  const { body, rung, protocol, notes } = bodyOf(call);
  const collector = newCollector(io, callee, protocol !== null);
  try {
    const isDone = await readAnswer();
    const answer = finished(collector.end(), isDone, request, { rung, protocol }, callee);
    return { ...answer, notes: [...notes, ...answer.notes] };
  } catch (error) {
    const refusal = error instanceof Refused ? error.refusal : undefined;
    throw new CallFailed(asModelError(error, callee, io.signal), collector.taken(wire.isAccepted()), refusal);
  } finally {
    wire.close();
  }

  /** True: the server said that the stream is over. */
  async function readAnswer(): Promise<boolean> {
    try {
      for await (const piece of wire.post(
        url,
        api === "responses" ? asResponsesRequest(body) : body,
        headers,
      )) {
        if ("data" in piece && piece.data.startsWith(DONE)) return true;
        collector.add(api === "responses" ? chunkOf(piece, reader, callee) : valueOf(piece, callee));
        if (collector.isFinished()) wire.ending();
        else if (collector.hasBegun()) wire.begun();
      }
    } catch (error) {
      // A finished answer is complete, whatever becomes of the connection.
      const isLost = error instanceof ModelError && ["TIMEOUT", "TRANSIENT"].includes(error.error.code);
      if (!isLost || !collector.isFinished() || io.signal.aborted) throw error;
    }
    return false;
  }
}

/** How this model is asked: as a person chose, else as a test or a refusal found out. */
const apiOf = ({ provider, capability }: Pick<Call, "provider" | "capability">): ModelApi =>
  provider.kind === "offline" ? "chat" : (provider.settings.api ?? capability.api ?? "chat");

/** An event of the Responses endpoint as a chunk. Throws Refused where it is an error. */
function chunkOf(piece: WirePiece, reader: ReturnType<typeof newResponsesReader>, callee: Callee): unknown {
  let value: unknown;
  try {
    value = "whole" in piece ? piece.whole : JSON.parse(piece.data);
  } catch {
    throw cutOff(callee, "is garbled");
  }
  const chunk = reader.chunk(value);
  if (chunk?.error || (isRecord(value) && value.error && value.object !== "response")) {
    const refusal = refusalInside(chunk ?? value);
    throw new Refused({
      ...refusal,
      message: toChatFields(refusal.message),
      param: toChatFields(refusal.param),
    });
  }
  if (!chunk && "whole" in piece) throw notAnAnswer(callee, "something else");
  return chunk ?? {};
}

const headersOf = ({ key, headers, provider, request }: Call): Record<string, string> => ({
  ...(key === null ? {} : { authorization: `Bearer ${key}` }),
  // A gateway may want its authorization in another form: the last word is the person's.
  ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  ...(provider.kind === "offline" ? { [OFFLINE_RUN_HEADER]: request.run_id } : {}),
});

const isFilterEnd = (reason: unknown) => typeof reason === "string" && readFinish(reason) === "filter";

/** A chunk of the answer; an answer that came whole becomes one. Throws Refused where it is an error. */
function valueOf(piece: WirePiece, callee: Callee): unknown {
  if ("whole" in piece) {
    const { whole } = piece;
    const choice = isRecord(whole) && Array.isArray(whole.choices) ? whole.choices[0] : undefined;
    // Azure leaves the message out where its filter took all of it.
    const isAnswer = isRecord(choice) && (isRecord(choice.message) || isFilterEnd(choice.finish_reason));
    if (isRecord(whole) && !whole.error && isAnswer)
      return { ...whole, choices: [{ ...choice, delta: choice.message ?? {} }] };
    const refusal = refusalInside(whole);
    throw refusal.message === "" ? notAnAnswer(callee, "something else") : new Refused(refusal);
  }
  let value: unknown;
  try {
    value = JSON.parse(piece.data);
  } catch {
    // Some tell an error in plain words.
    if (piece.event === "error") throw new Refused(refusalInside(piece.data));
    throw cutOff(callee, "is garbled");
  }
  const isError =
    piece.event === "error" ||
    (isRecord(value) &&
      (Boolean(value.error) ||
        value.object === "error" ||
        (value.choices === undefined && (Array.isArray(value.errors) || value.detail !== undefined))));
  if (isError) throw new Refused(refusalInside(value));
  return value;
}

const isRecord = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function asModelError(error: unknown, callee: Callee, signal: AbortSignal): ModelError {
  if (signal.aborted) return cancelled();
  if (error instanceof ModelError) return error;
  return error instanceof Refused
    ? classifyServerError(error.refusal, callee)
    : classifyNetworkError(error, callee);
}

/** The request as this provider's model is known to take it. */
function bodyOf(call: Call): {
  body: Record<string, unknown>;
  rung: ResponseRung | null;
  protocol: ToolProtocol | null;
  /** What of a person's wishes is not in it, a sentence each. */
  notes: string[];
} {
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
    (/^https:\/\/(?:api\.openai\.com|[\w-]+\.openai\.azure\.com)\b/.test(call.provider.base_url)
      ? "max_completion_tokens"
      : "max_tokens");
  const pair = protocol === "native" ? capability.effort_with_tools : undefined;
  const effort = pair === undefined ? config.reasoning_effort : pair === "none" ? "none" : undefined;
  const optional: Record<string, unknown> = {
    temperature: config.temperature,
    top_p: config.top_p,
    seed: config.seed,
    stop: stop.length > 0 ? stop : undefined,
    reasoning_effort: effort,
    [tokensName]: maxTokens,
    parallel_tool_calls: protocol === "native" && capability.parallel_tools === false ? false : undefined,
  };
  const refused = new Set([
    ...(capability.refuses ?? []),
    ...(apiOf(call) === "responses" ? UNKNOWN_TO_RESPONSES : []),
  ]);
  const sent = Object.fromEntries(
    Object.entries(optional).filter(([name, value]) => value !== undefined && !refused.has(name)),
  );
  const body = {
    ...(config.extra_body ?? {}),
    model,
    messages: asTaken(
      withShape(
        capability.wants_reasoning
          ? withThoughts(messagesFor(call, protocol), request)
          : messagesFor(call, protocol),
        request,
        rung,
      ),
      capability,
    ),
    ...(protocol === "native" ? { tools: functionsOf(request.tools ?? [], namesFor(request)) } : {}),
    ...sent,
    ...responseFormat(request, rung),
    ...(capability.stream_usage === false ? {} : { stream_options: { include_usage: true } }),
    stream: true,
  };
  return { body, rung, protocol, notes: leftOut(call, sent, protocol) };
}

/** What people call the settings of a request. */
const SETTINGS: Readonly<Record<string, string>> = {
  temperature: "its temperature",
  top_p: "top p",
  seed: "its seed",
  stop: "its stop words",
  reasoning_effort: "its effort",
};

/** What a person set and the request does not hold, as the model was seen to refuse it. */
function leftOut(
  { request, model, capability, max_tokens }: Call,
  sent: Readonly<Record<string, unknown>>,
  protocol: ToolProtocol | null,
): string[] {
  const config = request.llm_config;
  const names = Object.entries(SETTINGS).flatMap(([name, words]) => {
    const wish = config[name as keyof typeof config];
    const isSet = Array.isArray(wish) ? wish.some((word) => word !== "") : wish !== undefined;
    return isSet && sent[name] === undefined ? [words] : [];
  });
  const isLimited = sent.max_tokens !== undefined || sent.max_completion_tokens !== undefined;
  if ((max_tokens ?? config.max_tokens) !== undefined && !isLimited) names.push("its limit of tokens");
  const hasOtherEffort = sent.reasoning_effort !== undefined && config.reasoning_effort !== undefined;
  if (hasOtherEffort && sent.reasoning_effort !== config.reasoning_effort) names.push("its effort");
  const isRefusedNow = capability.learned_at?.native_tools !== undefined;
  return [
    ...(names.length > 0
      ? [
          `${model} was asked without ${names.join(", ")}: it refuses that${capability.effort_with_tools && protocol === "native" ? ", or refuses it together with tools" : ""}.`,
        ]
      : []),
    ...(protocol === "text" && request.tool_protocol !== "text" && isRefusedNow
      ? [`${model} was offered its tools as text: it refused them as functions.`]
      : []),
  ];
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

/**
 * DeepSeek knows JSON but no schemas, and says so only by failing; Anthropic's compatible endpoint passes over any shape
 * without a word. Source: the compatibility notes of both.
 */
function usualRung(baseUrl: string): ResponseRung {
  if (/\bdeepseek\.com\b/.test(baseUrl)) return "json_object";
  return /\bapi\.anthropic\.com\b/.test(baseUrl) ? "prompt" : "strict";
}

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

function messagesFor(
  { request, provider, model }: Pick<Call, "request" | "provider" | "model">,
  protocol: ToolProtocol | null,
): WireMessage[] {
  const { messages, tools = [] } = request;
  if (protocol === "native")
    return withFunctions(messages, namesFor(request), { provider_id: provider.id, model });
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

/** The messages as a model takes them that knows fewer roles or fields than others. */
function asTaken(messages: WireMessage[], { system_role, refuses = [] }: Capability): WireMessage[] {
  const nameless = refuses.includes("name")
    ? messages.map(({ name: _name, ...message }) => message)
    : messages;
  return system_role === false ? withoutSystem(nameless) : nameless;
}

/** Instructions become the beginning of what the user says; such models want the two sides to take turns. */
function withoutSystem(messages: readonly WireMessage[]): WireMessage[] {
  const merged: WireMessage[] = [];
  for (const message of messages) {
    const own = message.role === "system" ? { ...message, role: "user" } : message;
    const before = merged.at(-1);
    if (own.role === "user" && before?.role === "user")
      merged[merged.length - 1] = { ...before, content: `${before.content}\n\n${own.content}` };
    else merged.push(own);
  }
  return merged;
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

function asPiece(piece: Partial<z.infer<typeof CalledPiece>>): CallPiece {
  const { index, id, function: called, type: _always, ...more } = piece;
  return {
    index: index ?? undefined,
    id: id ?? undefined,
    name: called?.name ?? undefined,
    args: called?.arguments ?? undefined,
    // It came as JSON.
    ...(Object.keys(more).length > 0 ? { more: more as JsonObject } : {}),
  };
}

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
  usage: Counted | undefined;
  ttft_ms: number | null;
  /** Thoughts as the service wants them back. */
  details: JsonObject[];
  items: JsonObject[];
}

/** Longer than any answer; thoughts count, too. */
const MAX_CHARS = 4 * 1024 * 1024;

/** Puts the pieces of a stream together and hands them on. */
function newCollector(io: ModelIo, callee: Callee, hasTools: boolean) {
  const started = performance.now();
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
    details: [],
    items: [],
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
    /** Throws a ModelError where far too much came. */
    add(raw: unknown) {
      const parsed = Chunk.safeParse(raw);
      if (!parsed.success) return;
      got.usage = readChatUsage(parsed.data.usage) ?? readChatUsage(parsed.data.x_groq?.usage) ?? got.usage;
      const choice = parsed.data.choices?.find(({ index }) => index === 0);
      if (!choice) return;
      give("reasoning", choice.delta?.reasoning_content ?? choice.delta?.reasoning ?? "");
      const said = readContent(choice.delta?.content);
      give("reasoning", said.reasoning);
      if (said.content) split(splitter.push(said.content));
      got.refusal += choice.delta?.refusal ?? "";
      for (const detail of choice.delta?.reasoning_details ?? [])
        addDetail(got.details, detail as JsonObject);
      got.items.push(...((choice.delta?.carried?.items ?? []) as JsonObject[]));
      const { tool_calls: calls, function_call: only } = choice.delta ?? {};
      // Some servers tell the same call in both ways.
      if (calls?.length) tellsCalls = true;
      const isOld = !tellsCalls && Boolean(only?.name || only?.arguments);
      const pieces = calls?.length ? calls : isOld ? [{ function: only }] : [];
      give("tool_args", got.calls.add(pieces.map(asPiece)).grown);
      got.finish = choice.finish_reason || got.finish;
      if (got.text.length + got.reasoning.length + got.tool_args.length > MAX_CHARS) throw tooLarge(callee);
    },
    isFinished: () => got.finish !== null,
    hasBegun: () => got.ttft_ms !== null || got.calls.size > 0,
    taken: (isAccepted: boolean): Taken => takenOf(got, isAccepted),
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

const takenOf = (got: Collected, isAccepted: boolean): Taken => ({
  isAccepted,
  usage: got.usage,
  written: got.text + got.refusal + got.tool_args,
  reasoning: got.reasoning,
});

/** A message's content: text, or parts of which some are thoughts. */
function readContent(content: z.infer<typeof Content>): { content: string; reasoning: string } {
  const read = { content: "", reasoning: "" };
  if (typeof content === "string") return { ...read, content };
  for (const part of content ?? []) {
    if (typeof part === "string") read.content += part;
    if (!isRecord(part)) continue;
    const isThought = typeof part.type === "string" && /think|reason/i.test(part.type);
    read[isThought ? "reasoning" : "content"] += textIn(part);
  }
  return read;
}

/** The text of a part; thoughts are lists of parts again. */
function textIn(part: unknown): string {
  if (typeof part === "string") return part;
  if (Array.isArray(part)) return part.map(textIn).join("");
  if (!isRecord(part)) return "";
  return textIn(part.text ?? part.thinking ?? part.reasoning ?? part.content ?? "");
}

function finished(
  got: Collected,
  isDone: boolean,
  request: ModelRequest,
  { rung, protocol }: { rung: ResponseRung | null; protocol: ToolProtocol | null },
  callee: Callee,
): RawAnswer {
  const end = readFinish(got.finish);
  if (end === "filter")
    throw new ModelError({
      code: "CONTENT_FILTER",
      message: `A content filter of ${callee.provider} stopped the answer. Word the task differently, or choose another model.`,
      retryable: false,
      user_action: "edit_graph",
    });
  if (end === "error") throw cutOff(callee, "ended with an error");
  const invalid = (message: string) =>
    new ModelError({ code: "OUTPUT_INVALID", message, retryable: true, user_action: "retry" });
  if (end === "garbled")
    throw invalid(
      `${callee.model} wrote something that ${callee.provider} could not read as a call of a tool.`,
    );
  const { content, calls } = called(got, request, protocol, end === "length" || end === null);
  const isBlank = content.trim() === "" && got.refusal === "" && calls.length === 0;
  // Whoever says that the stream is over, but not why, may still have said all; a cut call shows.
  if (end === null && (!isDone || isBlank || calls.some(({ fault }) => fault !== undefined)))
    throw cutOff(callee, "ended in the middle");
  const unoffered = isBlank && protocol === null ? toolsCalled(got, request) : [];
  if (unoffered.length > 0)
    throw invalid(
      `${callee.model} called ${unoffered.join(" and ")}, but it was offered no tools here. Give the role what it needs, or word the task differently.`,
    );
  if (isBlank && end !== "length")
    throw invalid(
      got.reasoning.trim() === ""
        ? `${callee.model} answered with nothing.`
        : `${callee.model} only thought, and answered with nothing. More tokens for an answer, or less effort for its thoughts, may help.`,
    );
  return {
    content,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(protocol === null ? {} : { tool_protocol: protocol }),
    ...(got.reasoning.trim() === "" ? {} : { reasoning: got.reasoning }),
    ...carriedBy(got, calls),
    ...(got.refusal === "" ? {} : { refusal: got.refusal }),
    // Servers end calls with "stop", and answers without any with "tool_calls".
    finish_reason: end === "length" ? "length" : calls.length > 0 ? "tool_calls" : "stop",
    taken: takenOf(got, true),
    ttft_ms: got.ttft_ms,
    response_format: rung === null ? "text" : rung === "strict" ? "json_schema" : rung,
    notes: end === "unknown" ? [unknownEnd(callee, got.finish ?? "")] : [],
  };
}

/** A piece of a thought belongs to the one before it of the same place and kind. */
function addDetail(details: JsonObject[], piece: JsonObject): void {
  const before = details.at(-1);
  if (!before || before.index === undefined || before.index !== piece.index || before.type !== piece.type)
    return void details.push({ ...piece });
  for (const [key, value] of Object.entries(piece)) {
    const known = before[key];
    const grows = ["text", "summary", "data"].includes(key);
    before[key] = grows && typeof known === "string" && typeof value === "string" ? known + value : value;
  }
}

/** Larger than any signature or sealed thought; the log of a run should not carry more. */
const MAX_CARRIED_CHARS = 256 * 1024;

/** What the service wants back with this message: what stood in its calls, and its thoughts as it wrote them. */
function carriedBy(got: Collected, calls: readonly ToolCall[]): { carried?: JsonObject } {
  const extras = got.calls.extras();
  const isOwn = extras.length === calls.length;
  const ofCalls = Object.fromEntries(
    extras.flatMap((more, at) =>
      isOwn && Object.keys(more).length > 0 ? [[present(calls[at], "calls[at]").id, more] as const] : [],
    ),
  );
  const carried: JsonObject = {
    ...(Object.keys(ofCalls).length > 0 ? { calls: ofCalls } : {}),
    ...(got.details.length > 0 ? { reasoning_details: got.details } : {}),
    ...(got.items.length > 0 ? { items: got.items } : {}),
  };
  const isSome = Object.keys(carried).length > 0;
  return isSome && JSON.stringify(carried).length <= MAX_CARRIED_CHARS ? { carried } : {};
}

const unknownEnd = ({ provider }: Callee, reason: string) =>
  `${provider} ended an answer with “${reason.slice(0, 60)}”, which is not known here; the answer may not be complete.`;

/** What an answer calls, and what it says besides. Text calls count only where the server made none of its own. */
/** The names of tools that a model called although none was offered. */
const toolsCalled = (got: Collected, request: ModelRequest): string[] => [
  ...new Set(
    got.calls.end(namesFor(request), callIds(request.messages), false).map(({ tool_name }) => tool_name),
  ),
];

function called(
  got: Collected,
  request: ModelRequest,
  protocol: ToolProtocol | null,
  isCut: boolean,
): { content: string; calls: ToolCall[] } {
  if (protocol === null) return { content: got.text, calls: [] };
  const idOf = callIds(request.messages);
  const own = got.calls.end(namesFor(request), idOf, isCut);
  const written = readWrittenCalls(got.text, { tools: request.tools ?? [], isCut });
  const calls = own.length > 0 ? own : written.calls.map((call) => ({ id: idOf(), ...call }));
  return { content: written.content, calls };
}
