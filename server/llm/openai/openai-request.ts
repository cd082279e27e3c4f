import { defined } from "@/server/domain/base/defined";
import { entriesOf } from "@/server/domain/base/guards";
import type { Capability, ModelApi, ResponseRung } from "@/server/domain/model/provider";
import type { ToolProtocol } from "@/server/domain/tool/tool";
import type { ModelRequest } from "../model";
import { functionsOf, type WireMessage, wireNames, withFunctions } from "../tool-calls/functions";
import { RESULT_STOP, withoutFunctions, withToolBlock } from "../tool-calls/text-protocol";
import type { ProviderCall } from "./openai-call";
import { type ChatRequest, UNKNOWN_TO_RESPONSES } from "./responses";
import { strictSchema } from "./strict-schema";

/** The API to use for this model: a person's choice, else what a test or a refusal showed. */
export const apiOf = ({ provider, capability }: Pick<ProviderCall, "provider" | "capability">): ModelApi =>
  provider.kind === "offline" ? "chat" : (provider.settings.api ?? capability.api ?? "chat");

/** The request body that this provider's model is known to accept. */
export function bodyOf(call: ProviderCall): {
  body: ChatRequest;
  rung: ResponseRung | null;
  protocol: ToolProtocol | null;
  /** Settings that were left out, a sentence each. */
  notes: string[];
} {
  const { request, model, capability } = call;
  const protocol = protocolFor(call);
  // Many servers can't do both; the schema is requested once the tools are done.
  const rung = request.response && protocol === null ? rungFor(call) : null;
  const sent = settingsOf(call, protocol);
  const extra = Object.entries(request.llm_config.extra_body ?? {});
  const messages = messagesFor(call, protocol);
  const thoughtful = capability.wants_reasoning ? withThoughts(messages, request) : messages;
  const body = {
    // The budget's limit takes precedence over one in the extra body.
    ...Object.fromEntries(extra.filter(([name]) => call.max_tokens === undefined || !CAPS.includes(name))),
    model,
    messages: asTaken(withShape(thoughtful, request, rung), capability),
    ...defined({
      tools: protocol === "native" ? functionsOf(request.tools ?? [], namesFor(request)) : undefined,
    }),
    ...sent,
    ...responseFormat(request, rung),
    ...defined({ stream_options: capability.stream_usage === false ? undefined : { include_usage: true } }),
    stream: true,
  };
  return { body, rung, protocol, notes: leftOut(call, sent, protocol) };
}

/** The settings of a request, without those that the model refuses. */
function settingsOf(call: ProviderCall, protocol: ToolProtocol | null): Record<string, unknown> {
  const { request, capability } = call;
  const config = request.llm_config;
  const stop = [
    // Services reject an empty one, which is a line not filled in yet.
    ...(config.stop ?? []).filter((word) => word !== "").slice(0, protocol === "text" ? 3 : 4),
    ...(protocol === "text" ? [RESULT_STOP] : []),
  ];
  const pair = protocol === "native" ? capability.effort_with_tools : undefined;
  const effort = pair === undefined ? config.reasoning_effort : pair === "none" ? "none" : undefined;
  const optional: Record<string, unknown> = {
    temperature: config.temperature,
    top_p: config.top_p,
    seed: config.seed,
    stop: stop.length > 0 ? stop : undefined,
    reasoning_effort: effort,
    [tokensNameOf(call)]: call.max_tokens ?? config.max_tokens,
    parallel_tool_calls: protocol === "native" && capability.parallel_tools === false ? false : undefined,
  };
  const unsupported = new Set([
    ...(capability.refuses ?? []),
    ...(apiOf(call) === "responses" ? UNKNOWN_TO_RESPONSES : []),
  ]);
  return Object.fromEntries(
    Object.entries(optional).filter(([name, value]) => value !== undefined && !unsupported.has(name)),
  );
}

const tokensNameOf = ({ capability, provider }: ProviderCall): string =>
  capability.max_tokens_name ??
  (/^https:\/\/(?:api\.openai\.com|[\w-]+\.openai\.azure\.com)\b/.test(provider.base_url)
    ? "max_completion_tokens"
    : "max_tokens");

const CAPS = ["max_tokens", "max_completion_tokens", "max_output_tokens"];

/** The settings of a request, as people call them. */
const SETTINGS = {
  temperature: "temperature",
  top_p: "top p",
  seed: "seed",
  stop: "stop sequences",
  reasoning_effort: "reasoning effort",
} as const satisfies Partial<Record<keyof ModelRequest["llm_config"], string>>;

/** Settings that aren't in the request because the model refuses them. */
function leftOut(
  { request, model, capability, max_tokens }: ProviderCall,
  sent: Readonly<Record<string, unknown>>,
  protocol: ToolProtocol | null,
): string[] {
  const config = request.llm_config;
  const names: string[] = entriesOf(SETTINGS).flatMap(([name, label]) => {
    const wish = config[name];
    const isSet = Array.isArray(wish) ? wish.some((word) => word !== "") : wish !== undefined;
    return isSet && sent[name] === undefined ? [label] : [];
  });
  const isLimited = sent.max_tokens !== undefined || sent.max_completion_tokens !== undefined;
  if ((max_tokens ?? config.max_tokens) !== undefined && !isLimited) names.push("a token limit");
  const hasOtherEffort = sent.reasoning_effort !== undefined && config.reasoning_effort !== undefined;
  if (hasOtherEffort && sent.reasoning_effort !== config.reasoning_effort) names.push("reasoning effort");
  const isRejectedNow = capability.learned_at?.native_tools !== undefined;
  return [
    ...(names.length > 0
      ? [
          `${model} was called without ${names.join(", ")}, which it rejects${capability.effort_with_tools && protocol === "native" ? ", at least together with tools" : ""}.`,
        ]
      : []),
    ...(protocol === "text" && request.tool_protocol !== "text" && isRejectedNow
      ? [`${model} received its tools as text, because it rejects native tool calls.`]
      : []),
  ];
}

/** The names that its tools have on the wire. */
export const namesFor = ({ tools, messages }: ModelRequest) => wireNames(tools ?? [], messages);

/** How to offer the tools: as the agent wants it, else the provider's settings, else as the model is known to take it. */
export function protocolFor({
  request,
  capability,
  provider,
}: Pick<ProviderCall, "request" | "capability" | "provider">): ToolProtocol | null {
  if (!request.tools || request.tools.length === 0) return null;
  return chosenProtocol({ request, provider }) ?? (capability.native_tools === false ? "text" : "native");
}

/** The protocol that a person chose; undefined if none. */
export function chosenProtocol({
  request,
  provider,
}: Pick<ProviderCall, "request" | "provider">): ToolProtocol | undefined {
  const { tool_protocol: wish } = request;
  return wish === undefined || wish === "auto" ? provider.settings.tool_protocol : wish;
}

/** Which way of asking for a shape to use: the person's choice, else the best one not known to be refused. */
export function rungFor({
  request,
  capability,
  provider,
}: Pick<ProviderCall, "request" | "capability" | "provider">): ResponseRung {
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
  { request, provider, model }: Pick<ProviderCall, "request" | "provider" | "model">,
  protocol: ToolProtocol | null,
): WireMessage[] {
  const { messages, tools = [] } = request;
  if (protocol === "native")
    return withFunctions(messages, namesFor(request), { provider_id: provider.id, model });
  // Servers reject results of functions that aren't offered, so past calls become text.
  const plain = withoutFunctions(messages);
  return (protocol === "text" ? withToolBlock(plain, tools) : plain).map(({ role, content, name }) => ({
    role,
    content,
    ...defined({ name: name || undefined }),
  }));
}

/** The model's own messages with its thoughts before each; an empty one if it has none. */
function withThoughts(messages: WireMessage[], request: ModelRequest): WireMessage[] {
  const thoughts = request.messages
    .filter(({ role }) => role === "assistant")
    .map((one) => one.reasoning ?? "");
  return messages.map((message) =>
    message.role === "assistant" ? { ...message, reasoning_content: thoughts.shift() ?? "" } : message,
  );
}

/** The messages for a model that supports fewer roles or fields than others. */
function asTaken(messages: WireMessage[], { system_role, refuses = [] }: Capability): WireMessage[] {
  const nameless = refuses.includes("name")
    ? messages.map(({ name: _name, ...message }) => message)
    : messages;
  return system_role === false ? withoutSystem(nameless) : nameless;
}

/** Moves instructions to the start of the user's message; such models require alternating roles. */
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
