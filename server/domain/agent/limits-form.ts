import type { FormPart } from "@/server/domain/base/form";
import { SIZES } from "@/server/domain/base/sizes";
import { ESCALATE_FORM } from "./escalate";
import type { RunConfig } from "./outcome";

const COST = {
  label: "Cost",
  as: "decimal",
  unit: "US$",
  min: 0,
  step: 0.1,
  placeholder: "No limit",
} as const;
const TOKENS = { label: "Tokens", as: "number", min: 0, placeholder: "No limit" } as const;
const STEPS = { label: "Node runs", as: "number", min: 1, max: 5000 } as const;
const LOOPS = { label: "Loop iterations", as: "number", min: 1, max: 1000 } as const;
const TURNS = { label: "Model turns", as: "number", min: 1, max: 2000 } as const;
const ASKS = {
  label: "Ask before stopping",
  as: "switch",
  hint: "Raise the limit, use a cheaper model or stop; no answer stops the run",
} as const;
const SIZE = { as: "number", hint: "In thousands of characters", per: 1000 } as const;
const thousands = (characters: number) => Math.floor(characters / 1000);

/** What each run of a workflow may take at most. */
export const WORKFLOW_LIMITS: readonly FormPart<RunConfig>[] = [
  {
    as: "columns",
    most: 2,
    parts: [
      { key: "budget.max_cost_usd", ...COST, empty: null },
      { key: "budget.max_total_tokens", ...TOKENS, step: 10_000, empty: null },
      { key: "max_steps", ...STEPS, empty: 1 },
      { key: "max_loop_iterations", ...LOOPS, empty: 1 },
      { key: "max_global_iterations", ...TURNS, empty: 1 },
      { key: "max_parallel_nodes", label: "Max parallel nodes", as: "number", min: 1, max: 256, empty: 1 },
      {
        key: "max_subrun_depth",
        label: "Sub-workflow depth",
        as: "number",
        hint: "Levels of workflows within workflows",
        min: 0,
        max: 5,
        empty: 5,
      },
      {
        key: "max_state_chars",
        label: "State size",
        ...SIZE,
        min: 1,
        max: thousands(SIZES.state.most),
        empty: 1000,
      },
      {
        key: "max_log_chars",
        label: "Log size",
        ...SIZE,
        min: 10,
        max: thousands(SIZES.log.most),
        empty: 10_000,
      },
    ],
  },
  {
    key: "max_active_ms",
    label: "Running time",
    as: "milliseconds",
    hint: "Excludes waiting time",
    max: 24 * 3_600_000,
    empty: 30 * 60_000,
  },
  {
    key: "strict_state",
    label: "Strict state schema",
    as: "switch",
    hint: "Type mismatches are errors instead of warnings",
  },
  { key: "on_limit", ...ASKS, on: "ask", off: "stop" },
  ...ESCALATE_FORM,
];

/** The limits of one run; null where there is none. Time in minutes. */
export interface Limits {
  max_cost_usd: number | null;
  max_total_tokens: number | null;
  minutes: number | null;
  max_steps: number | null;
  max_loop_iterations: number | null;
  max_global_iterations: number | null;
  /** A person is asked before a limit stops the run. */
  asks: boolean;
}

/** How far one run may go. */
export const RUN_LIMITS: readonly FormPart<Limits>[] = [
  { text: "Runs stop at a limit. Raise it to resume." },
  {
    as: "columns",
    most: 2,
    parts: [
      { key: "max_cost_usd", ...COST, empty: null },
      { key: "max_total_tokens", ...TOKENS, step: 1000, empty: null },
      {
        key: "minutes",
        label: "Running time",
        as: "decimal",
        unit: "min",
        min: 0.1,
        max: 1440,
        step: 5,
        empty: null,
      },
      { key: "max_steps", ...STEPS, step: 10, empty: null },
      { key: "max_loop_iterations", ...LOOPS, empty: null },
      { key: "max_global_iterations", ...TURNS, step: 10, empty: null },
    ],
  },
  { key: "asks", ...ASKS },
];

export function toLimits(config: RunConfig): Limits {
  return {
    max_cost_usd: config.budget.max_cost_usd ?? null,
    max_total_tokens: config.budget.max_total_tokens ?? null,
    minutes: config.max_active_ms / 60_000,
    max_steps: config.max_steps,
    max_loop_iterations: config.max_loop_iterations,
    max_global_iterations: config.max_global_iterations,
    asks: config.on_limit === "ask",
  };
}

/** The run's settings with these limits; an emptied field keeps what was set. */
export function withLimits(config: RunConfig, limits: Limits): RunConfig {
  return {
    ...config,
    ...(limits.asks || config.on_limit ? { on_limit: limits.asks ? "ask" : "stop" } : {}),
    max_steps: limits.max_steps ?? config.max_steps,
    max_loop_iterations: limits.max_loop_iterations ?? config.max_loop_iterations,
    max_global_iterations: limits.max_global_iterations ?? config.max_global_iterations,
    max_active_ms: limits.minutes === null ? config.max_active_ms : Math.round(limits.minutes * 60_000),
    budget: {
      ...config.budget,
      max_cost_usd: limits.max_cost_usd,
      max_total_tokens: limits.max_total_tokens,
    },
  };
}
