import { z } from "zod";
import { issueText } from "@/server/domain/base/issues/issue-text";
import { SIZES } from "@/server/domain/base/sizes";
import { Json, Ms } from "@/server/domain/base/values";
import { Breakpoint, MOST_BREAKPOINTS } from "./breakpoint/breakpoint";
import { Escalate } from "./escalate";
import { ConfirmationPolicy, OnLimit } from "./role";

/** How a run ended: reached an end, failed, hit a limit (and may go on), or was stopped by a person. */
export const FinalStatus = z.enum(["COMPLETED", "ERROR", "INCOMPLETE", "CANCELLED"]);
export type FinalStatus = z.infer<typeof FinalStatus>;
/** How a run ended, as people read it everywhere. */
export const FINAL_STATUS_LABELS: Readonly<Record<FinalStatus, string>> = {
  COMPLETED: "Completed",
  ERROR: "Failed",
  INCOMPLETE: "Limit reached",
  CANCELLED: "Cancelled",
};

export const ErrorCode = z.enum([
  "AUTH",
  "QUOTA",
  "RATE_LIMIT",
  "CONFIG",
  "TRANSIENT",
  "TIMEOUT",
  "MODEL_REFUSAL",
  "CONTENT_FILTER",
  "OUTPUT_INVALID",
  "OUTPUT_TRUNCATED",
  "CONTEXT_OVERFLOW",
  "TOOL_FAILED",
  /** An agent says that its task cannot be done. */
  "REJECTED",
  "PERMISSION",
  "GUARDRAIL",
  "STUCK",
  "MAX_ITERATIONS",
  "MAX_STEPS",
  "BUDGET",
  "TIME_LIMIT",
  /** The run has written down as much as it may. */
  "LOG_LIMIT",
  "INPUT_MISSING",
  "STATE_INVALID",
  /** A value, the state or an answer exceeds what a run may keep. */
  "TOO_LARGE",
  "ROUTER_NO_MATCH",
  "ROUTER_FAILED",
  "LOOP_LIMIT",
  "JOIN_SHORTFALL",
  "SUBRUN_FAILED",
  "HUMAN_REJECTED",
  "HUMAN_TIMEOUT",
  "CANCELLED",
  "NO_END_REACHED",
  /** A strict replay came to a call that was never recorded; it ends there, whatever the drawing says of failures. */
  "NOT_RECORDED",
  "INTERNAL",
]);
export type ErrorCode = z.infer<typeof ErrorCode>;

/** Why a run ended as it did: an error code, or END_REACHED. */
export type ReasonCode = ErrorCode | "END_REACHED";

/** A failure in words for people, with what they can do about it. */
export const RunError = z.object({
  code: ErrorCode,
  message: z.string(),
  retryable: z.boolean(),
  user_action: z.enum(["none", "retry", "settings", "edit_graph", "raise_limit"]),
  node_id: z.string().optional(),
  activation_id: z.string().optional(),
  detail: Json.optional(),
});
export type RunError = z.infer<typeof RunError>;

/** Tokens of one or several model calls. `estimated`: the provider did not say, so we counted characters. */
export const Usage = z.object({
  input_tokens: z.number(),
  output_tokens: z.number(),
  cached_input_tokens: z.number().default(0),
  reasoning_tokens: z.number().default(0),
  requests: z.number().default(1),
  estimated: z.boolean().default(false),
});
export type Usage = z.infer<typeof Usage>;

export const NO_USAGE: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  cached_input_tokens: 0,
  reasoning_tokens: 0,
  requests: 0,
  estimated: false,
};

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cached_input_tokens: a.cached_input_tokens + b.cached_input_tokens,
    reasoning_tokens: a.reasoning_tokens + b.reasoning_tokens,
    requests: a.requests + b.requests,
    estimated: a.estimated || b.estimated,
  };
}

/** What models were paid, in US dollars; null once a price among them is unknown, which is not zero. */
export interface Spent {
  usage: Usage;
  cost_usd: number | null;
}

/** Adds a payment to an account, in place. */
export function pay(account: Spent, { usage, cost_usd }: Spent): void {
  account.usage = addUsage(account.usage, usage);
  account.cost_usd = account.cost_usd === null || cost_usd === null ? null : account.cost_usd + cost_usd;
}

/** Where nobody has said when people are asked. */
export const USUAL_CONFIRMATION: ConfirmationPolicy = {
  kind: "risky",
  threshold: "HIGH",
  confirm_unknown: true,
};

/** What models may cost in one run. */
const Budget = z.object({
  max_cost_usd: z.number().nonnegative().nullish(),
  max_total_tokens: z.number().int("must be a whole number").nonnegative().nullish(),
  /** The share of a limit at which a warning is given. */
  warn_at: z.number().min(0).max(1).default(0.8),
  mode: z.enum(["hard", "soft"]).default("hard"),
});

/** Limits and manners of one run. Costs in US dollars, times in milliseconds. */
export const RunConfig = z.object({
  /**
   * continuous: goes on until something asks for a person. step: pauses before each node. breakpoint: pauses where its
   * nodes are marked. hitl: that, and before each call of a tool that does more than read. Breakpoints that it is given
   * hold in every mode.
   */
  mode: z.enum(["continuous", "step", "breakpoint", "hitl"]).default("continuous"),
  breakpoints: z.array(Breakpoint).max(MOST_BREAKPOINTS).optional(),
  /** The node before which the run is paused, one time. */
  stop_at: z.string().min(1).max(200).optional(),
  /** Node runs in the whole run. */
  max_steps: z.number().int().min(1).max(5000).default(200),
  max_loop_iterations: z.number().int().min(1).max(1000).default(25),
  /** Model turns in the whole run, shared by all agents. */
  max_global_iterations: z.number().int().min(1).max(2000).default(100),
  /** Excludes time spent waiting for people or timers. */
  max_active_ms: Ms.max(24 * 3_600_000).default(30 * 60_000),
  /** The state, and each input and output of a node, in characters as sizes.ts counts them. */
  max_state_chars: z.number().int().min(1000).max(SIZES.state.most).default(SIZES.state.standard),
  /** All that the run writes down, counted in the same way. */
  max_log_chars: z.number().int().min(10_000).max(SIZES.log.most).default(SIZES.log.standard),
  max_parallel_nodes: z.number().int().min(1).max(256).default(16),
  /** How many levels of runs within runs there may be below it. */
  max_subrun_depth: z.number().int().min(0).max(5).default(5),
  budget: Budget.prefault({}),
  /** At its limits; `stop` where it is absent. Of those that an agent reaches, its node, crew or role may say otherwise. */
  on_limit: OnLimit.optional(),
  escalate: Escalate.optional(),
  /** Tools that no agent of this run gets, whatever its role says. */
  denied_tools: z.array(z.string().max(200)).default([]),
  confirmation: ConfirmationPolicy.default(USUAL_CONFIRMATION),
  on_stuck: z.enum(["nudge_then_fail", "nudge_then_escalate", "fail"]).default("nudge_then_fail"),
  strict_state: z.boolean().default(false),
});
export type RunConfig = z.infer<typeof RunConfig>;

/** What whoever runs Troupe has set for every run; no workflow, role or file can loosen it. */
export interface InstallationRules {
  /** People are asked at least where this says so. */
  confirmation?: ConfirmationPolicy;
  /** Hosts, e-mail addresses and accounts that agents may always send to. */
  destinations?: string[];
  /** Members that work for others never have more tools than those, whatever their crew says. */
  delegate_tools?: "shared";
}

/**
 * Settings of a run that differ from the workflow's own. Without the defaults: a setting that was not given must not
 * replace the workflow's. Unknown settings are refused by name: a misspelled limit must not be ignored.
 */
export const RunConfigChanges = z.strictObject({
  ...Object.fromEntries(
    Object.entries(RunConfig.shape).map(([key, schema]) => [key, z.optional(withoutDefault(schema))]),
  ),
  budget: Budget.strict().optional(),
  escalate: Escalate.strict().optional(),
  // The fields are those of RunConfig; a record of them has lost which is which.
}) as z.ZodType<Partial<RunConfig>>;

/** Of these, what a run that begins as another one went may have otherwise: where it stops, and how far it goes. */
export const ForkSettings = z.strictObject({
  mode: RunConfig.shape.mode.unwrap().exactOptional(),
  breakpoints: z.array(Breakpoint).max(MOST_BREAKPOINTS).exactOptional(),
  stop_at: z.string().min(1).max(200).exactOptional(),
  max_steps: RunConfig.shape.max_steps.unwrap().exactOptional(),
  max_loop_iterations: RunConfig.shape.max_loop_iterations.unwrap().exactOptional(),
  max_global_iterations: RunConfig.shape.max_global_iterations.unwrap().exactOptional(),
  max_active_ms: RunConfig.shape.max_active_ms.unwrap().exactOptional(),
  on_limit: OnLimit.exactOptional(),
  budget: z
    .strictObject({
      max_cost_usd: z.number().nonnegative().nullable().exactOptional(),
      max_total_tokens: z.int().nonnegative().nullable().exactOptional(),
    })
    .exactOptional(),
});
export type ForkSettings = z.infer<typeof ForkSettings>;

/** A run's settings with those of a fork over them. */
export function withForkSettings(config: RunConfig, { budget, ...settings }: ForkSettings): RunConfig {
  return { ...config, ...settings, budget: { ...config.budget, ...budget } };
}

function withoutDefault(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault ? schema.unwrap() : schema;
}

/** The limits that a person can raise on a run that stopped at one. */
export const RaisableLimit = z.enum([
  "max_steps",
  "max_global_iterations",
  "max_active_ms",
  "max_log_chars",
  "max_cost_usd",
  "max_total_tokens",
]);
export type RaisableLimit = z.infer<typeof RaisableLimit>;

/** Why a limit cannot be raised to that, in words; null where it can: what a raise may say is what a start may say. */
export function limitRaiseError(limit: RaisableLimit, to: number): string | null {
  const isBudget = limit === "max_cost_usd" || limit === "max_total_tokens";
  const read = RunConfig.safeParse(isBudget ? { budget: { [limit]: to } } : { [limit]: to });
  const [issue] = read.error?.issues ?? [];
  return issue ? `${limit}: ${issueText(issue)}` : null;
}

/** Of a question about several calls, those that an answer agrees to, by their places from 0; absent: all. */
export const AgreedCalls = z.array(z.number().int().min(0).max(99)).max(100).exactOptional().meta({
  description:
    "For a question with `calls`: indexes of the approved calls, starting at 0. If omitted, all calls are approved.",
});
