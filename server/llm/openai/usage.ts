import { z } from "zod";
import type { Usage } from "@/server/domain/agent/outcome";

/** A server's token counts for a call. */
export interface Counted {
  input: number;
  /** Thoughts included. */
  output: number;
  cached: number;
  reasoning: number;
  /** US dollars; undefined if it reports none. */
  cost: number | undefined;
}

/** A larger number can't be a count. */
const most = 1e12;
const count = z.number().nonnegative().max(most).catch(0);
const optional = z.number().nonnegative().max(most).nullish().catch(undefined);
const ChatUsage = z.object({
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: z.object({ cached_tokens: optional }).nullish().catch(undefined),
  completion_tokens_details: z.object({ reasoning_tokens: optional }).nullish().catch(undefined),
  /** DeepSeek's name for cached tokens. */
  prompt_cache_hit_tokens: optional,
  /** US dollars, from OpenRouter. */
  cost: optional,
});

/** The field `usage` of Chat Completions; undefined if it has no counts. */
export function readChatUsage(value: unknown): Counted | undefined {
  const read = ChatUsage.safeParse(value);
  if (!read.success) return undefined;
  const { prompt_tokens, completion_tokens, total_tokens, ...more } = read.data;
  // Some exclude thoughts from the answer's tokens, but not from the total.
  const uncounted = Math.max(0, total_tokens - prompt_tokens - completion_tokens);
  if (prompt_tokens + completion_tokens + uncounted === 0) return undefined;
  return {
    input: prompt_tokens,
    output: completion_tokens + uncounted,
    cached: more.prompt_tokens_details?.cached_tokens ?? more.prompt_cache_hit_tokens ?? 0,
    reasoning: more.completion_tokens_details?.reasoning_tokens ?? uncounted,
    cost: more.cost ?? undefined,
  };
}

/** A call's usage: the server's counts, else an estimate. */
export function usageOf(
  taken: { usage: Counted | undefined; written: string; reasoning: string },
  prompt: string,
  tokensOf: (text: string) => number,
): Usage {
  const { usage, written, reasoning } = taken;
  if (usage)
    return {
      input_tokens: usage.input,
      output_tokens: usage.output,
      cached_input_tokens: usage.cached,
      reasoning_tokens: usage.reasoning,
      requests: 1,
      estimated: false,
    };
  return {
    input_tokens: tokensOf(prompt),
    output_tokens: tokensOf(written + reasoning),
    cached_input_tokens: 0,
    reasoning_tokens: tokensOf(reasoning),
    requests: 1,
    estimated: true,
  };
}
