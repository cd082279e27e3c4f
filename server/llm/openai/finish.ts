import { entriesOf } from "@/server/domain/base/guards";
import type { Provider } from "@/server/domain/model/provider";
import { isNearby } from "../limits/time-limits";

/**
 * How an answer ended. end: normally. length: at a token limit. filter: stopped by a content filter. garbled: the
 * server couldn't parse the model's output. error: the server failed. unknown: an unrecognized reason. null: no reason
 * given.
 */
export type Finish = "end" | "length" | "filter" | "garbled" | "error" | "unknown" | null;

/** Services' finish reasons, in lower case. */
const FINISH_REASONS: Readonly<Record<Exclude<Finish, "unknown" | null>, readonly string[]>> = {
  end: [
    "stop",
    "tool_calls",
    "function_call",
    "tool_use",
    "tool_call",
    "end_turn",
    "stop_sequence",
    "eos",
    "eos_token",
    "end",
    "complete",
    "completed",
  ],
  length: ["length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"],
  filter: [
    "content_filter",
    "content_filtered",
    "safety",
    "recitation",
    "blocklist",
    "prohibited_content",
    "spii",
    "sensitive",
    "refusal",
    "guardrail_intervened",
  ],
  garbled: ["malformed_function_call", "malformed_tool_call", "unexpected_tool_call"],
  error: ["error", "abort", "aborted", "cancelled", "network_error", "insufficient_system_resource"],
};
const KNOWN = new Map(
  entriesOf(FINISH_REASONS).flatMap(([finish, reasons]) => reasons.map((word) => [word, finish] as const)),
);

/** Reads a service's finish reason; services spell the same word with other letters and strokes. */
export function readFinish(reason: string | null): Finish {
  if (reason === null) return null;
  // Some put the kind before it, after a colon.
  for (const word of reason.toLowerCase().replaceAll("-", "_").split(":").toReversed()) {
    const known = KNOWN.get(word.trim());
    if (known) return known;
  }
  return "unknown";
}

/**
 * Whether an answer with this ending is accepted. Without a known reason it may be truncated. Hosted services always
 * give one; some small self-hosted servers never do, and only end the stream.
 */
export function takesEnd(end: Finish, provider: Provider): boolean {
  if (end !== null && end !== "unknown") return true;
  const { unknown_ends } = provider.settings;
  return unknown_ends === undefined ? end === null && isNearby(provider) : unknown_ends === "take";
}
