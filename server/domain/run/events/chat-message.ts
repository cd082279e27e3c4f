import type { JsonObject } from "@/server/domain/base/values";
import type { ToolCall } from "@/server/domain/tool/tool";

/** One message of an agent's transcript, the same whichever protocol carried it. */
export interface ChatMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string;
  name?: string;
  /** What an assistant's message calls. */
  tool_calls?: ToolCall[];
  /** Which call a tool's message answers; every call has exactly one answer. */
  tool_call_id?: string;
  /** What a model thought before its message: some want it back with the message. */
  reasoning?: string;
  /** What a service gave with its message and wants back with it: sealed thoughts, signatures of calls. Nobody else reads it. */
  carried?: ProviderMetadata;
}

/** Opaque parts of a message, for the one model of the one provider that they came from. */
export interface ProviderMetadata {
  provider_id: string;
  model: string;
  parts: JsonObject;
}
