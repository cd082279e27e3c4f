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
 * A request of Chat Completions in the format of the Responses endpoint. The service stores nothing: `store` is false.
 * `refuses`: fields of this endpoint that the model is known to refuse.
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

/** Fields of this endpoint only, by the names under which a model's refusal is stored. */
export const SUMMARIES = "reasoning.summary";
export const SEALED_THOUGHTS = "include";

/** Settings that the Responses endpoint doesn't have. */
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

/** A message as items: encrypted thoughts first, then the text, then the calls. */
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

/** Reads the events of one answer. */
export class ResponsesReader {
  /** The parts that came in pieces; the whole that follows repeats them. */
  private readonly streamed = new Set<string>();
  private readonly callAt = new Map<string, number>();
  private calls = 0;

  /**
   * An event as a chunk; null if it only repeats another one. A whole answer, from a service that doesn't stream, is one
   * chunk.
   */
  chunk(value: unknown): ChatChunk | null {
    if (!isRecord(value)) return null;
    const { type } = value;
    const delta = DELTAS.get(type);
    if (delta) return this.delta(value, delta);
    const item = isRecord(value.item) ? value.item : {};
    const response = isRecord(value.response) ? value.response : undefined;
    switch (type) {
      case "response.reasoning_summary_part.added":
        return this.streamed.has(`${keyOf(value)}/thought`) ? chunkOf({ reasoning: "\n\n" }) : null;
      case "response.output_item.added":
        if (item.type !== "function_call") return null;
        return chunkOf({ tool_calls: [this.callOf(item, keyOf(value), "")] });
      case "response.function_call_arguments.delta":
        return this.callDelta(value);
      case "response.output_item.done":
        return chunkOf(this.whole(item, keyOf(value)));
      case "response.completed":
      case "response.incomplete":
        return response ? ended(response) : chunkOf({}, "stop");
      case "response.failed":
        return {
          error: isRecord(response?.error) ? response.error : {},
          ...(response ? usageIn(response) : {}),
        };
      case "error":
        return { error: isRecord(value.error) ? value.error : value };
      default:
        return value.object === "response" ? this.wholeAnswer(value) : null;
    }
  }

  private delta(event: JsonObject, { part, field }: Delta): ChatChunk {
    this.streamed.add(`${keyOf(event)}/${part}`);
    return chunkOf({ [field]: textOf(event.delta).join("") });
  }

  private callDelta(event: JsonObject): ChatChunk | null {
    this.streamed.add(`${keyOf(event)}/call`);
    const index = this.callAt.get(keyOf(event));
    if (index === undefined) return null;
    return chunkOf({ tool_calls: [{ index, function: { arguments: textOf(event.delta).join("") } }] });
  }

  /** The parts of an item that did not come in pieces before. */
  private whole(item: JsonObject, key: string): JsonObject {
    const isNew = (part: string) => !this.streamed.has(`${key}/${part}`);
    switch (item.type) {
      case "message": {
        const parts = recordsIn(item.content);
        const text = parts.flatMap((part) => (part.type === "output_text" ? textOf(part.text) : [])).join("");
        const refusal = parts
          .flatMap((part) => (part.type === "refusal" ? textOf(part.refusal) : []))
          .join("");
        return defined({
          content: text !== "" && isNew("text") ? text : undefined,
          refusal: refusal !== "" && isNew("refusal") ? refusal : undefined,
        });
      }
      case "function_call":
        return isNew("call") ? { tool_calls: [this.callOf(item, key, textOf(item.arguments).join(""))] } : {};
      case "reasoning": {
        const parts = [...recordsIn(item.summary), ...recordsIn(item.content)];
        const thought = parts.flatMap((part) => textOf(part.text)).join("\n\n");
        return defined({
          reasoning: thought !== "" && isNew("thought") ? thought : undefined,
          // Only an encrypted thought can be sent back: the service kept nothing.
          carried: typeof item.encrypted_content === "string" ? { items: [sealed(item)] } : undefined,
        });
      }
      default:
        return {};
    }
  }

  private callOf(item: JsonObject, key: string, args: string): JsonObject {
    const index = this.callAt.get(key) ?? this.calls++;
    this.callAt.set(key, index);
    return {
      index,
      id: typeof item.call_id === "string" ? item.call_id : "",
      type: "function",
      function: { name: typeof item.name === "string" ? item.name : "", arguments: args },
    };
  }

  private wholeAnswer(response: JsonObject): ChatChunk {
    if (isRecord(response.error)) return { error: response.error, ...usageIn(response) };
    const parts = recordsIn(response.output).map((item, at) => this.whole(item, String(at)));
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

interface Delta {
  /** The part of an item that comes in pieces, and its field in a chunk. */
  part: "text" | "refusal" | "thought";
  field: "content" | "refusal" | "reasoning";
}

const DELTAS: ReadonlyMap<unknown, Delta> = new Map<unknown, Delta>([
  ["response.output_text.delta", { part: "text", field: "content" }],
  ["response.refusal.delta", { part: "refusal", field: "refusal" }],
  ["response.reasoning_summary_text.delta", { part: "thought", field: "reasoning" }],
  ["response.reasoning_text.delta", { part: "thought", field: "reasoning" }],
]);

/** The last chunk of an answer. */
function ended(response: JsonObject, delta: JsonObject = {}): ChatChunk {
  const details = isRecord(response.incomplete_details) ? response.incomplete_details : {};
  const why = typeof details.reason === "string" ? details.reason : "incomplete";
  const reason = response.status === "incomplete" ? why : "stop";
  return { ...chunkOf(delta, reason), ...usageIn(response) };
}

/** The items of all parts. */
function passthroughOf(parts: readonly JsonObject[]): JsonObject {
  const items = parts.flatMap(({ carried }) =>
    isRecord(carried) && Array.isArray(carried.items) ? carried.items : [],
  );
  return items.length > 0 ? { carried: { items } } : {};
}

/** An encrypted thought as the service accepts it back: without the status of a stream. */
const sealed = ({ type, id, summary, encrypted_content }: JsonObject): JsonObject => ({
  type: type ?? "reasoning",
  ...defined({ id }),
  summary: summary ?? [],
  encrypted_content: encrypted_content ?? null,
});

/** The item that an event is about: its index. */
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

/** Renames the fields in a refusal to those of Chat Completions, so that the same rules apply. */
export const toChatFields = (text: string): string =>
  FIELD_NAMES.reduce((result, [there, here]) => result.replace(there, here), text);

const isRecord = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const recordsIn = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isRecord) : []);
const textOf = (value: unknown): string[] => (typeof value === "string" ? [value] : []);
