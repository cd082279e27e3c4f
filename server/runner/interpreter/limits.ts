import {
  type ErrorCode,
  limitRaiseError,
  type RaisableLimit,
  type RunError,
} from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import { isObject } from "@/server/domain/base/guards";
import { sizeText } from "@/server/domain/base/sizes";
import type { Json, JsonSchema } from "@/server/domain/base/values";
import type { RunState } from "@/server/domain/run";
import type { Payloads } from "@/server/domain/run/events";
import type { AnswerOption } from "@/server/domain/tool/person-question";
import type { PersonQuestion } from "../node/ports";

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
      return `The run reached its limit of ${value} node executions. Raise the limit to continue.`;
    case "max_global_iterations":
      return `The run reached its limit of ${value} model calls. Raise the limit to continue.`;
    case "max_active_ms":
      return `The run reached its limit of ${Math.round((value ?? 0) / 1000)} s of active time. Raise the limit to continue.`;
    case "max_log_chars":
      return `The run reached its log limit of ${sizeText(value ?? 0)}. Raise the limit to continue, or store less data in its nodes.`;
    case "max_cost_usd":
      return `The next model call could exceed the budget of $${value}. Raise the budget to continue.`;
    case "max_total_tokens":
      return `The next model call could exceed the budget of ${value} tokens. Raise the budget to continue.`;
  }
}

const RAISE = "raise";
const STOP = "stop";

/** What to raise a limit to where a person does not say: twice as much. */
const FACTOR = 2;

/** The unit in which a person enters a limit, and its size in the limit's own unit. */
const UNITS: Record<RaisableLimit, { unit: string; size: number }> = {
  max_steps: { unit: "node runs", size: 1 },
  max_global_iterations: { unit: "model calls", size: 1 },
  max_active_ms: { unit: "seconds of active time", size: 1000 },
  max_log_chars: { unit: "characters", size: 1 },
  max_cost_usd: { unit: "US dollars", size: 1 },
  max_total_tokens: { unit: "tokens", size: 1 },
};

/** Whether limits of this run ask wherever they are met; in older runs only where an agent calls a model. */
export const limitsAskEverywhere = ({ run }: RunState): boolean => run.people?.limits_ask === "everywhere";

/** The open question about that limit, if there is one. */
export const openLimitQuestion = (s: RunState, limit: RaisableLimit) =>
  Object.values(s.interactions).find(
    ({ status, requested }) =>
      status === "open" && requested.kind === "budget" && requested.args?.limit === limit,
  );

/** Asks whether a limit is to be raised. `between`: what else one can choose. */
export function limitQuestion(
  limit: RaisableLimit,
  s: RunState,
  title: string,
  between: readonly AnswerOption[] = [],
): Omit<PersonQuestion, "about"> {
  const now = limitValue(limit, s) ?? 0;
  return {
    kind: "budget",
    title,
    why: limitError(limit, s).message,
    args: { limit, now },
    options: [
      ...(mayRaise(limit, now) ? [{ label: "Raise the limit", value: RAISE }] : []),
      ...between,
      { label: "Stop here", value: STOP },
    ],
    response_schema: {
      type: "object",
      properties: { to: limitsAskEverywhere(s) ? field(limit, now) : oldField(limit, now) },
    },
  };
}

/** Whether a person can raise it at all: some limits have one of their own. */
export const mayRaise = (limit: RaisableLimit, now: number): boolean =>
  limitRaiseError(limit, now + 1) === null;

/** What an answer raises the limit to, in the limit's own unit; null where it does not. */
export function raisedTo(
  { answer, option, value }: Pick<Payloads["interaction_answered"], "answer" | "option" | "value">,
  limit: RaisableLimit,
  s: RunState,
): number | null {
  if (answer !== "chosen" || option !== RAISE) return null;
  const now = limitValue(limit, s) ?? 0;
  const to = isObject(value) && typeof value.to === "number" ? value.to : null;
  if (to === null) return usual(limit, now);
  return limitsAskEverywhere(s) ? to * UNITS[limit].size : to;
}

/** The answer of a person who raised a limit by other means: it already has its new value. */
export const raisedNow = (limit: RaisableLimit, s: RunState, by: string): Json => ({
  answer: "chosen",
  option: RAISE,
  value: { to: (limitValue(limit, s) ?? 0) / UNITS[limit].size },
  by,
});

/** The default for a raised limit: twice the current value, up to the maximum. */
function usual(limit: RaisableLimit, now: number): number {
  const wanted = now > 0 ? now * FACTOR : 1;
  return limitRaiseError(limit, wanted) === null ? wanted : (mostOf(limit, now) ?? wanted);
}

/** The most that a limit can be, found by trying what a start may say. */
function mostOf(limit: RaisableLimit, now: number): number | undefined {
  if (limitRaiseError(limit, Number.MAX_SAFE_INTEGER) === null) return undefined;
  let [fits, tooMuch] = [now, Number.MAX_SAFE_INTEGER];
  while (tooMuch - fits > 1) {
    const middle = Math.floor((fits + tooMuch) / 2);
    if (limitRaiseError(limit, middle) === null) fits = middle;
    else tooMuch = middle;
  }
  return fits;
}

function field(limit: RaisableLimit, now: number): JsonSchema {
  const { unit, size } = UNITS[limit];
  const most = mostOf(limit, now);
  return {
    type: limit === "max_cost_usd" ? "number" : "integer",
    title: `New limit, in ${unit}`,
    exclusiveMinimum: now / size,
    ...defined({ maximum: most === undefined ? undefined : Math.floor(most / size) }),
    default: size === 1 ? usual(limit, now) : Math.ceil(usual(limit, now) / size),
  };
}

/** As runs from before asked: in the limit's own unit. */
const oldField = (limit: RaisableLimit, now: number): JsonSchema => ({
  type: limit === "max_cost_usd" ? "number" : "integer",
  title: "New limit",
  exclusiveMinimum: now,
  default: now > 0 ? now * FACTOR : 1,
});
