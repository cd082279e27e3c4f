import { entriesOf } from "@/server/domain/base/guards";
import type { Provider } from "@/server/domain/model/provider";
import { isNearby } from "../limits/time-limits";

/**
 * How an answer ended. end: by itself. length: at a limit of tokens. filter: a filter stopped it. garbled: the server
 * could not read what the model wrote. error: something broke. unknown: a word that nobody here knows. null: no word.
 */
export type Finish = "end" | "length" | "filter" | "garbled" | "error" | "unknown" | null;

/** The words that services use for it, in small letters. */
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
 * Whether an answer that ended so is used. Without a reason that is known it may have been cut. Hosted services always give
 * one; some small servers of one's own never do, and only say that the stream is over.
 */
export function takesEnd(end: Finish, provider: Provider): boolean {
  if (end !== null && end !== "unknown") return true;
  const { unknown_ends } = provider.settings;
  return unknown_ends === undefined ? end === null && isNearby(provider) : unknown_ends === "take";
}
