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
  /** What was said, calls in text included. */
  text: string;
  /** What of it was streamed as the answer. */
  content: string;
  tool_args: string;
  /** The part of `tool_args` that came as functions: the rest is in the text, too. */
  own_args: string;
  /** What of the text was streamed as calls, before anybody could know whether it is one. */
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

/** Puts the pieces of a stream together and hands them on. */
export function newCollector(io: ModelIo, callee: Callee, hasTools: boolean) {
  const started = performance.now();
  const got: Collected = {
    text: "",
    content: "",
    tool_args: "",
    own_args: "",
    held: "",
    show: (content) => give("content", content),
    calls: newCallAssembler(),
    reasoning: "",
    refusal: "",
    finish: null,
    usage: undefined,
    ttft_ms: null,
    details: [],
    items: [],
  };
  let hasToolCalls = false;
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
    got.held += calls;
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
      const parts = readContent(choice.delta?.content);
      give("reasoning", parts.reasoning);
      if (parts.content) split(splitter.push(parts.content));
      got.refusal += choice.delta?.refusal ?? "";
      for (const detail of choice.delta?.reasoning_details ?? []) addDetail(got.details, detail);
      got.items.push(...(choice.delta?.carried?.items ?? []));
      const { tool_calls: calls, function_call: only } = choice.delta ?? {};
      // Some servers tell the same call in both ways.
      if (calls?.length) hasToolCalls = true;
      const isOld = !hasToolCalls && Boolean(only?.name || only?.arguments);
      const pieces = calls?.length ? calls : isOld ? [{ function: only }] : [];
      const { grown } = got.calls.add(pieces.map(asPiece));
      got.own_args += grown;
      give("tool_args", grown);
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
  written: got.text + got.refusal + got.own_args,
  reasoning: got.reasoning,
});

/** The answer that was collected, where it is one. Throws ModelError where it ended too soon, in an error or with nothing. */
export function finished(
  got: Collected,
  request: ModelRequest,
  call: {
    /** Whether the service said that the stream is over. */
    isDone: boolean;
    rung: ResponseRung | null;
    protocol: ToolProtocol | null;
    provider: Provider;
  },
  callee: Callee,
): RawAnswer {
  const { isDone, rung, protocol, provider } = call;
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
  if (!takesEnd(end, provider)) throw endedUnknown(callee, got.finish);
  const unoffered = protocol !== null ? null : isBlank ? toolsCalled(got, request) : leaked(got, request);
  if (unoffered)
    throw invalid(
      `${callee.model} called ${unoffered.join(" and ") || "a tool"}, but it was offered no tools here. Give the role what it needs, or word the task differently.`,
    );
  if (isBlank && end !== "length")
    throw invalid(
      got.reasoning.trim() === ""
        ? `${callee.model} answered with nothing.`
        : `${callee.model} only thought, and answered with nothing. More tokens for an answer, or less effort for its thoughts, may help.`,
    );
  got.show(unseen(got, content, calls.length > 0));
  return {
    content,
    ...defined({
      tool_calls: calls.length > 0 ? calls : undefined,
      tool_protocol: protocol === null ? undefined : protocol,
      reasoning: got.reasoning.trim() === "" ? undefined : got.reasoning,
    }),
    ...passthroughOf(got, calls),
    ...defined({ refusal: got.refusal === "" ? undefined : got.refusal }),
    // Servers end calls with "stop", and answers without any with "tool_calls".
    finish_reason: end === "length" ? "length" : calls.length > 0 ? "tool_calls" : "stop",
    taken: takenOf(got, true),
    ttft_ms: got.ttft_ms,
    response_format: rung === null ? "text" : rung === "strict" ? "json_schema" : rung,
    notes: end === "unknown" || end === null ? [unknownEnd(callee, got.finish)] : [],
  };
}

/** What of an answer was held back as if it were calls, and is none. */
function unseen(got: Collected, content: string, hasCalls: boolean): string {
  if (got.held === "") return "";
  if (content.startsWith(got.content)) return content.slice(got.content.length);
  return hasCalls || got.content.includes(content) ? "" : content;
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
const MAX_PASSTHROUGH_CHARS = 256 * 1024;

/** What the service wants back with this message: what stood in its calls, and its thoughts as it wrote them. */
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
    ? `${provider} does not say why its answers end; they may not be complete.`
    : `${provider} ended an answer with “${reason.slice(0, 60)}”, which is not known here; the answer may not be complete.`;

/** The names of tools that a model called although none was offered; null where it called none. */
function toolsCalled(got: Collected, request: ModelRequest): string[] | null {
  const calls = got.calls.end(namesFor(request), callIds(request.messages), false);
  return calls.length > 0 ? [...new Set(calls.map(({ tool_name }) => tool_name))] : null;
}

/** The same of calls that were written as text, unless they are the JSON that was asked for. */
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
