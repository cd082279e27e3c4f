import type { ErrorCode, RaisableLimit, RunError } from "@/server/domain/agent/outcome";
import { sizeText } from "@/server/domain/base/sizes";
import type { RunState } from "@/server/domain/run";

const LIMIT_REASON: Record<RaisableLimit, ErrorCode> = {
  max_steps: "MAX_STEPS",
  max_global_iterations: "MAX_ITERATIONS",
  max_active_ms: "TIME_LIMIT",
  max_log_chars: "LOG_LIMIT",
  max_cost_usd: "BUDGET",
  max_total_tokens: "BUDGET",
};

/** A run that used up a limit, as an error for people. */
export const limitError = (limit: RaisableLimit, s: RunState): RunError => ({
  code: LIMIT_REASON[limit],
  message: limitText(limit, s),
  retryable: true,
  user_action: "raise_limit",
});

/** What a limit of the run is now; null where it has none. */
export function limitValue(limit: RaisableLimit, s: RunState): number | null {
  const { config } = s.run;
  return limit === "max_cost_usd" || limit === "max_total_tokens"
    ? (config.budget[limit] ?? null)
    : config[limit];
}

function limitText(limit: RaisableLimit, s: RunState): string {
  const value = limitValue(limit, s);
  switch (limit) {
    case "max_steps":
      return `The run used up its ${value} node runs. Raise the limit to go on.`;
    case "max_global_iterations":
      return `The run used up its ${value} model calls. Raise the limit to go on.`;
    case "max_active_ms":
      return `The run was at work for ${Math.round((value ?? 0) / 1000)} s, which is its limit. Raise the limit to go on.`;
    case "max_log_chars":
      return `The run has written down ${sizeText(value ?? 0)}, which is its limit. Raise the limit to go on, or let its nodes keep less.`;
    case "max_cost_usd":
      return `The next model call could exceed the budget of $${value}. Raise the budget to go on.`;
    case "max_total_tokens":
      return `The next model call could exceed the budget of ${value} tokens. Raise the budget to go on.`;
  }
}
