"use client";

import { NumberField, type NumberFieldProps } from "@/components/ui/number-field";
import { Switch } from "@/components/ui/switch";
import type { RunConfig } from "@/server/domain/agent/outcome";

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

const ROWS: readonly ({ key: Exclude<keyof Limits, "asks"> } & Omit<
  NumberFieldProps,
  "value" | "onValueChange"
>)[] = [
  { key: "max_cost_usd", label: "Cost", unit: "US$", placeholder: "No limit", min: 0, step: 0.1 },
  { key: "max_total_tokens", label: "Tokens", placeholder: "No limit", min: 0, step: 1000 },
  { key: "minutes", label: "Running time", unit: "min", min: 0.1, max: 1440, step: 5 },
  { key: "max_steps", label: "Node runs", min: 1, max: 5000, step: 10 },
  { key: "max_loop_iterations", label: "Rounds of a loop", min: 1, max: 1000, step: 1 },
  { key: "max_global_iterations", label: "Model turns", min: 1, max: 2000, step: 10 },
];

/** How far a run may go before it stops and asks. */
export function LimitsForm({ limits, onChange }: { limits: Limits; onChange: (limits: Limits) => void }) {
  return (
    <div className="flex flex-col gap-4">
      <p className="text-[13px] text-ink-2">
        A run that reaches a limit stops there; raise it and the run goes on.
      </p>
      <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
        {ROWS.map(({ key, ...row }) => (
          <NumberField
            key={key}
            {...row}
            value={limits[key]}
            onValueChange={(value) => onChange({ ...limits, [key]: value })}
          />
        ))}
      </div>
      <Switch
        label="Ask before the run stops at a limit"
        hint="A person raises it, lets the agent go on with a model that costs less, or stops the run. Without an answer it stops."
        checked={limits.asks}
        onCheckedChange={(asks) => onChange({ ...limits, asks })}
      />
    </div>
  );
}
