import { defined } from "@/server/domain/base/defined";
import type { JsonObject } from "@/server/domain/base/values";
import type { WireMessage } from "../tool-calls/functions";

/**
 * The Responses protocol, translated to and from Chat Completions: a request is rewritten before it is sent, and each
 * event of an answer becomes the chunk that Chat Completions would send. So limits, costs, detected capabilities and
 * calls are handled in one place. Source: the public reference of the Responses endpoint (streaming events, function
 * calling, reasoning items).
 */

/** A request of Chat Completions, as far as it is translated here. */
export interface ChatRequest {
  readonly messages: readonly WireMessage[];
  readonly response_format?: JsonObject;
  readonly [setting: string]: unknown;
}

/**
 * A request of Chat Completions as the Responses endpoint takes it. It keeps nothing at the service: `store` is false.
 * `refuses`: what the model was seen to refuse of what is only asked for there.
 */
export function asResponsesRequest(
  body: ChatRequest,
  refuses: readonly string[] = [],
): Record<string, unknown> {
  const {
    messages,
    tools,
    response_format,
    reasoning_effort,
    max_tokens,
    max_completion_tokens,
    stream_options: _usageAlwaysComes,
    stop: _unknownThere,
    seed: _unknownHere,
    ...same
  } = body;
  const limit = max_completion_tokens ?? max_tokens;
  return {
    ...same,
    input: messages.flatMap(itemsOf),
    store: false,
    ...(refuses.includes(SEALED_THOUGHTS) ? {} : { include: ["reasoning.encrypted_content"] }),
    ...defined({ max_output_tokens: limit }),
    ...(reasoning_effort === undefined
      ? {}
      : {
          reasoning: {
            effort: reasoning_effort,
            ...defined({ summary: refuses.includes(SUMMARIES) ? undefined : "auto" }),
          },
        }),
    ...(Array.isArray(tools) ? { tools: tools.map(asFunction) } : {}),
    ...defined({ text: response_format && { format: asFormat(response_format) } }),
  };
}

/** What is asked for there only, under the names by which a model's refusal of it is known. */
export const SUMMARIES = "reasoning.summary";
export const SEALED_THOUGHTS = "include";

/** Settings of a model that the Responses endpoint has no word for. */
export const UNKNOWN_TO_RESPONSES: readonly string[] = ["stop", "seed"];

/** Responses has functions without a wrapper. Not strict: strict mode would require every argument. */
const asFunction = (tool: { function: JsonObject }) => ({
  type: "function",
  ...tool.function,
  strict: false,
});

/** Responses has a schema without a wrapper. */
function asFormat(format: JsonObject): JsonObject {
  const { json_schema, ...rest } = format;
  return typeof json_schema === "object" && json_schema !== null && !Array.isArray(json_schema)
    ? { ...rest, ...json_schema }
    : rest;
}

/** A message as items: sealed thoughts first, then what was said, then the calls that came of it. */
function itemsOf({ role, content, tool_calls, tool_call_id, carried }: WireMessage): JsonObject[] {
  if (role === "tool")
    return [{ type: "function_call_output", call_id: tool_call_id ?? "", output: content ?? "" }];
  const thoughts = Array.isArray(carried?.items) ? carried.items.filter(isRecord) : [];
  const messages = content === null || content === "" ? [] : [{ role, content }];
  const calls = (tool_calls ?? []).map(({ id, function: called }) => ({
    type: "function_call",
    call_id: id,
    name: called.name,
    arguments: called.arguments,
  }));
  return [...thoughts, ...messages, ...calls];
}

/** A chunk of Chat Completions, as far as it is produced here. */
export interface ChatChunk {
  choices?: [{ index: 0; delta: JsonObject; finish_reason?: string }];
  usage?: JsonObject;
  error?: JsonObject;
}

/**
 * Reads the events of one answer. `chunk` translates an event, null if it only repeats another one; a whole answer,
 * from a service that doesn't stream, is one chunk.
 */
export function newResponsesReader(): { chunk(value: unknown): ChatChunk | null } {
  /** What came in pieces already, by its place: the whole that follows it says the same again. */
  const streamed = new Set<string>();
  let calls = 0;
  const callAt = new Map<string, number>();

  /** Everything of one item that did not come in pieces before. */
  function whole(item: JsonObject, key: string): JsonObject {
    const isNew = (part: string) => !streamed.has(`${key}/${part}`);
    switch (item.type) {
      case "message": {
        const parts = recordsIn(item.content);
        const text = parts.flatMap((part) => (part.type === "output_text" ? textOf(part.text) : [])).join("");
        const refusal = parts
          .flatMap((part) => (part.type === "refusal" ? textOf(part.refusal) : []))
          .join("");
        return {
          ...defined({
            content: text !== "" && isNew("text") ? text : undefined,
            refusal: refusal !== "" && isNew("refusal") ? refusal : undefined,
          }),
        };
      }
      case "function_call":
        return isNew("call") ? { tool_calls: [callOf(item, key, textOf(item.arguments).join(""))] } : {};
      case "reasoning": {
        const parts = [...recordsIn(item.summary), ...recordsIn(item.content)];
        const thought = parts.flatMap((part) => textOf(part.text)).join("\n\n");
        return {
          ...defined({ reasoning: thought !== "" && isNew("thought") ? thought : undefined }),
          // Only a sealed thought can be given back: the service kept nothing.
          ...defined({
            carried: typeof item.encrypted_content === "string" ? { items: [sealed(item)] } : undefined,
          }),
        };
      }
      default:
        return {};
    }
  }

  function callOf(item: JsonObject, key: string, args: string): JsonObject {
    const index = callAt.get(key) ?? calls++;
    callAt.set(key, index);
    return {
      index,
      id: typeof item.call_id === "string" ? item.call_id : "",
      type: "function",
      function: { name: typeof item.name === "string" ? item.name : "", arguments: args },
    };
  }

  const once = (event: JsonObject, part: string) => streamed.add(`${keyOf(event)}/${part}`);

  function ended(response: JsonObject, delta: JsonObject = {}): ChatChunk {
    const details = isRecord(response.incomplete_details) ? response.incomplete_details : {};
    const why = typeof details.reason === "string" ? details.reason : "incomplete";
    const reason = response.status === "incomplete" ? why : "stop";
    return {
      ...chunkOf(delta, reason),
      ...usageIn(response),
    };
  }

  return {
    chunk(value) {
      if (!isRecord(value)) return null;
      const { type } = value;
      const delta = textOf(value.delta).join("");
      const item = isRecord(value.item) ? value.item : {};
      switch (type) {
        case "response.output_text.delta":
          once(value, "text");
          return chunkOf({ content: delta });
        case "response.refusal.delta":
          once(value, "refusal");
          return chunkOf({ refusal: delta });
        case "response.reasoning_summary_text.delta":
        case "response.reasoning_text.delta":
          once(value, "thought");
          return chunkOf({ reasoning: delta });
        case "response.reasoning_summary_part.added":
          return streamed.has(`${keyOf(value)}/thought`) ? chunkOf({ reasoning: "\n\n" }) : null;
        case "response.output_item.added":
          if (item.type !== "function_call") return null;
          return chunkOf({ tool_calls: [callOf(item, keyOf(value), "")] });
        case "response.function_call_arguments.delta": {
          once(value, "call");
          const index = callAt.get(keyOf(value));
          return index === undefined
            ? null
            : chunkOf({ tool_calls: [{ index, function: { arguments: delta } }] });
        }
        case "response.output_item.done":
          return chunkOf(whole(item, keyOf(value)));
        case "response.completed":
        case "response.incomplete":
          return isRecord(value.response) ? ended(value.response) : chunkOf({}, "stop");
        case "response.failed": {
          const failed =
            isRecord(value.response) && isRecord(value.response.error) ? value.response.error : {};
          return { error: failed, ...(isRecord(value.response) ? usageIn(value.response) : {}) };
        }
        case "error":
          return { error: isRecord(value.error) ? value.error : value };
        default:
          return value.object === "response" ? wholeAnswer(value) : null;
      }
    },
  };

  function wholeAnswer(response: JsonObject): ChatChunk {
    if (isRecord(response.error)) return { error: response.error, ...usageIn(response) };
    const parts = recordsIn(response.output).map((item, at) => whole(item, String(at)));
    const joined = (key: string) => parts.flatMap((part) => textOf(part[key])).join("");
    return ended(response, {
      content: joined("content"),
      reasoning: joined("reasoning"),
      refusal: joined("refusal"),
      tool_calls: parts.flatMap((part) => (Array.isArray(part.tool_calls) ? part.tool_calls : [])),
      ...passthroughOf(parts),
    });
  }
}

/** The items of several pieces together. */
function passthroughOf(parts: readonly JsonObject[]): JsonObject {
  const items = parts.flatMap(({ carried }) =>
    isRecord(carried) && Array.isArray(carried.items) ? carried.items : [],
  );
  return items.length > 0 ? { carried: { items } } : {};
}

/** A sealed thought as the service wants it back: without the state that only its own streams have. */
const sealed = ({ type, id, summary, encrypted_content }: JsonObject): JsonObject => ({
  type: type ?? "reasoning",
  ...defined({ id }),
  summary: summary ?? [],
  encrypted_content: encrypted_content ?? null,
});

/** Which item an event is about: its place among the items. */
const keyOf = ({ output_index, item_id }: JsonObject) =>
  typeof output_index === "number" ? String(output_index) : typeof item_id === "string" ? item_id : "";

const chunkOf = (delta: JsonObject, finish_reason?: string): ChatChunk => ({
  choices: [{ index: 0, delta, ...defined({ finish_reason }) }],
});

const usageIn = ({ usage }: JsonObject): Pick<ChatChunk, "usage"> =>
  isRecord(usage) ? { usage: usageOf(usage) } : {};

function usageOf({ input_tokens, output_tokens, total_tokens, ...details }: JsonObject): JsonObject {
  return {
    prompt_tokens: input_tokens ?? 0,
    completion_tokens: output_tokens ?? 0,
    total_tokens: total_tokens ?? 0,
    prompt_tokens_details: details.input_tokens_details ?? null,
    completion_tokens_details: details.output_tokens_details ?? null,
  };
}

const FIELD_NAMES: readonly (readonly [there: RegExp, here: string])[] = [
  [/\breasoning\.effort\b/g, "reasoning_effort"],
  [/\bmax_output_tokens\b/g, "max_completion_tokens"],
  [/\btext\.format(?:\.\w+){0,9}/g, "response_format"],
  [/\binput\[(\d+)\]/g, "messages[$1]"],
];

/** A refusal's words for parts of a request, in the words of Chat Completions, so that the same lessons are learned. */
export const toChatFields = (text: string): string =>
  FIELD_NAMES.reduce((result, [there, here]) => result.replace(there, here), text);

const isRecord = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const recordsIn = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isRecord) : []);
const textOf = (value: unknown): string[] => (typeof value === "string" ? [value] : []);
