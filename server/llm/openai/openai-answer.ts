import type { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import { must } from "@/server/domain/base/must";
import type { JsonObject } from "@/server/domain/base/values";
import type { Provider, ResponseRung } from "@/server/domain/model/provider";
import type { ToolCall, ToolProtocol } from "@/server/domain/tool/tool";
import { ModelError, type ModelIo, type ModelRequest } from "../model";
import { readWrittenCalls } from "../tool-calls/call-dialects";
import { findLeak } from "../tool-calls/call-dialects-leaks";
import { callIds, newCallAssembler } from "../tool-calls/functions";
import { parseOutput } from "../tool-calls/structured-output";
import { newCallSplitter } from "../tool-calls/text-protocol";
import { newThinkSplitter, splitUnopened } from "../tool-calls/think";
import { type Callee, cutOff, endedUnknown, tooLarge } from "./errors";
import { readFinish, takesEnd } from "./finish";
import type { RawAnswer, Taken } from "./openai-call";
import { asPiece, Chunk, readContent } from "./openai-chunk";
import { namesFor } from "./openai-request";
import { type Counted, readChatUsage } from "./usage";

interface Collected {
  /** The whole text, including calls in text. */
  text: string;
  /** The part of it that was streamed as the answer. */
  content: string;
  tool_args: string;
  /** The part of `tool_args` that came as functions: the rest is in the text, too. */
  own_args: string;
  /** The part of the text that was streamed as calls before it was clear whether it is one. */
  held: string;
  /** Streams more of the answer. */
  show(content: string): void;
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

type Delta = NonNullable<NonNullable<z.infer<typeof Chunk>["choices"]>[number]["delta"]>;

/** Collects the pieces of a stream and passes them on. */
export class Collector {
  private readonly started = performance.now();
  private readonly got: Collected = {
    text: "",
    content: "",
    tool_args: "",
    own_args: "",
    held: "",
    show: (content) => this.give("content", content),
    calls: newCallAssembler(),
    reasoning: "",
    refusal: "",
    finish: null,
    usage: undefined,
    ttft_ms: null,
    details: [],
    items: [],
  };
  private readonly thoughts = newThinkSplitter();
  private readonly textCalls = newCallSplitter();
  private hasToolCalls = false;

  constructor(
    private readonly io: ModelIo,
    private readonly callee: Callee,
    private readonly hasTools: boolean,
  ) {}

  /** Throws a ModelError if the answer is far too long. */
  add(raw: unknown): void {
    const { got } = this;
    const parsed = Chunk.safeParse(raw);
    if (!parsed.success) return;
    got.usage = readChatUsage(parsed.data.usage) ?? readChatUsage(parsed.data.x_groq?.usage) ?? got.usage;
    const choice = parsed.data.choices?.find(({ index }) => index === 0);
    if (!choice) return;
    if (choice.delta) this.addDelta(choice.delta);
    got.finish = choice.finish_reason || got.finish;
    if (got.text.length + got.reasoning.length + got.tool_args.length > MAX_CHARS)
      throw tooLarge(this.callee);
  }

  isFinished(): boolean {
    return this.got.finish !== null;
  }

  hasBegun(): boolean {
    return this.got.ttft_ms !== null || this.got.calls.size > 0;
  }

  taken(isAccepted: boolean): Taken {
    return takenOf(this.got, isAccepted);
  }

  end(): Collected {
    const { got } = this;
    this.split(this.thoughts.end());
    if (this.hasTools) this.show(this.textCalls.end());
    const unopened = splitUnopened(got.text);
    if (unopened) {
      got.text = unopened.content;
      got.reasoning += unopened.reasoning;
    }
    return got;
  }

  private addDelta(delta: Delta): void {
    const { got } = this;
    this.give("reasoning", delta.reasoning_content ?? delta.reasoning ?? "");
    const parts = readContent(delta.content);
    this.give("reasoning", parts.reasoning);
    if (parts.content) this.split(this.thoughts.push(parts.content));
    got.refusal += delta.refusal ?? "";
    for (const detail of delta.reasoning_details ?? []) addDetail(got.details, detail);
    got.items.push(...(delta.carried?.items ?? []));
    this.addCalls(delta);
  }

  private addCalls({ tool_calls: calls, function_call: only }: Delta): void {
    // Some servers send the same call in both fields.
    if (calls?.length) this.hasToolCalls = true;
    const isOld = !this.hasToolCalls && Boolean(only?.name || only?.arguments);
    const pieces = calls?.length ? calls : isOld ? [{ function: only }] : [];
    const { grown } = this.got.calls.add(pieces.map(asPiece));
    this.got.own_args += grown;
    this.give("tool_args", grown);
  }

  private split({ content, reasoning }: { content: string; reasoning: string }): void {
    this.give("reasoning", reasoning);
    this.got.text += content;
    if (this.hasTools) this.show(this.textCalls.push(content));
    else this.give("content", content);
  }

  private show({ content, calls }: { content: string; calls: string }): void {
    this.give("content", content);
    this.give("tool_args", calls);
    this.got.held += calls;
  }

  private give(channel: "content" | "reasoning" | "tool_args", piece: string): void {
    const { got } = this;
    if (piece === "") return;
    got.ttft_ms ??= Math.round(performance.now() - this.started);
    this.io.delta(channel, got[channel].length, piece);
    got[channel] += piece;
  }
}

const takenOf = (got: Collected, isAccepted: boolean): Taken => ({
  isAccepted,
  usage: got.usage,
  written: got.text + got.refusal + got.own_args,
  reasoning: got.reasoning,
});

interface EndedCall {
  /** Whether the service said that the stream is over. */
  isDone: boolean;
  rung: ResponseRung | null;
  protocol: ToolProtocol | null;
  provider: Provider;
}

/** The collected answer. Throws a ModelError if it ended too soon, with an error or with nothing. */
export function finished(got: Collected, request: ModelRequest, ended: EndedCall, callee: Callee): RawAnswer {
  const { rung, protocol } = ended;
  const end = readFinish(got.finish);
  rejectFailed(end, callee);
  const { content, calls } = called(got, request, protocol, end === "length" || end === null);
  const isBlank = content.trim() === "" && got.refusal === "" && calls.length === 0;
  // A stream that ended without a reason may be complete; a truncated call isn't.
  const mayBeComplete = ended.isDone && !isBlank && calls.every(({ fault }) => fault === undefined);
  if (end === null && !mayBeComplete) throw cutOff(callee, "ended early");
  if (!takesEnd(end, ended.provider)) throw endedUnknown(callee, got.finish);
  if (protocol === null) rejectUnoffered(isBlank ? toolsCalled(got, request) : leaked(got, request), callee);
  if (isBlank && end !== "length") throw blank(got, callee);
  got.show(unseen(got, content, calls.length > 0));
  return {
    content,
    ...defined({
      tool_calls: calls.length > 0 ? calls : undefined,
      tool_protocol: protocol ?? undefined,
      reasoning: got.reasoning.trim() === "" ? undefined : got.reasoning,
    }),
    ...passthroughOf(got, calls),
    ...defined({ refusal: got.refusal || undefined }),
    // Servers end calls with "stop", and answers without any with "tool_calls".
    finish_reason: end === "length" ? "length" : calls.length > 0 ? "tool_calls" : "stop",
    taken: takenOf(got, true),
    ttft_ms: got.ttft_ms,
    response_format: RESPONSE_FORMATS[rung ?? "none"],
    notes: end === "unknown" || end === null ? [unknownEnd(callee, got.finish)] : [],
  };
}

const RESPONSE_FORMATS = {
  none: "text",
  strict: "json_schema",
  json_schema: "json_schema",
  json_object: "json_object",
  prompt: "prompt",
} as const satisfies Record<ResponseRung | "none", RawAnswer["response_format"]>;

const invalid = (message: string) =>
  new ModelError({ code: "OUTPUT_INVALID", message, retryable: true, user_action: "retry" });

const blank = ({ reasoning }: Collected, { model }: Callee) =>
  invalid(
    reasoning.trim() === ""
      ? `${model} returned an empty response.`
      : `${model} returned only reasoning and no answer. Raise Max output tokens, or lower the reasoning effort.`,
  );

/** Throws if the server itself reports that the answer failed. */
function rejectFailed(end: ReturnType<typeof readFinish>, callee: Callee): void {
  if (end === "filter")
    throw new ModelError({
      code: "CONTENT_FILTER",
      message: `${callee.provider}'s content filter stopped the response. Rephrase the task, or choose another model.`,
      retryable: false,
      user_action: "edit_graph",
    });
  if (end === "error") throw cutOff(callee, "ended with an error");
  if (end === "garbled")
    throw invalid(`${callee.provider} couldn't parse ${callee.model}'s output as a tool call.`);
}

/** Throws if the model called tools although none were offered. */
function rejectUnoffered(names: string[] | null, { model }: Callee): void {
  if (names)
    throw invalid(
      `${model} called ${names.join(" and ") || "a tool"}, but no tools were available to it here. Add the tools to the role, or rephrase the task.`,
    );
}

/** The part of an answer that was held back as calls, but isn't any. */
function unseen(got: Collected, content: string, hasCalls: boolean): string {
  if (got.held === "") return "";
  if (content.startsWith(got.content)) return content.slice(got.content.length);
  return hasCalls || got.content.includes(content) ? "" : content;
}

/** Appends a piece of a thought to the one before it if both have the same index and type. */
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

/** Larger than any signature or encrypted thought; a run's log should not hold more. */
const MAX_PASSTHROUGH_CHARS = 256 * 1024;

/** What the service needs back with this message: extra fields of its calls, and its thoughts as it sent them. */
function passthroughOf(got: Collected, calls: readonly ToolCall[]): { carried?: JsonObject } {
  const extras = got.calls.extras();
  const isOwn = extras.length === calls.length;
  const ofCalls = Object.fromEntries(
    extras.flatMap((more, at) =>
      isOwn && Object.keys(more).length > 0 ? [[must(calls, at).id, more] as const] : [],
    ),
  );
  const passthrough: JsonObject = {
    ...defined({
      calls: Object.keys(ofCalls).length > 0 ? ofCalls : undefined,
      reasoning_details: got.details.length > 0 ? got.details : undefined,
      items: got.items.length > 0 ? got.items : undefined,
    }),
  };
  const isSome = Object.keys(passthrough).length > 0;
  return isSome && JSON.stringify(passthrough).length <= MAX_PASSTHROUGH_CHARS
    ? { carried: passthrough }
    : {};
}

const unknownEnd = ({ provider }: Callee, reason: string | null) =>
  reason === null
    ? `${provider} doesn't report why responses end, so they may be incomplete.`
    : `${provider} ended a response with the unknown reason “${reason.slice(0, 60)}”; it may be incomplete.`;

/** The names of tools that a model called although none was offered; null where it called none. */
function toolsCalled(got: Collected, request: ModelRequest): string[] | null {
  const calls = got.calls.end(namesFor(request), callIds(request.messages), false);
  return calls.length > 0 ? [...new Set(calls.map(({ tool_name }) => tool_name))] : null;
}

/** The names of tools called in text, unless that is the JSON that was asked for. */
function leaked(got: Collected, { response }: ModelRequest): string[] | null {
  const leak = findLeak(got.text);
  const isAsked = leak?.isJson && response && parseOutput(got.text, response.schema).ok;
  return leak && !isAsked ? leak.names : null;
}

/** The calls of an answer, and its other text. Text calls count only if the server returned none of its own. */
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
