"use client";

import { countOf } from "@/components/display/format";
import { FormParts } from "@/components/forms/form-parts";
import { breakpointsFor, breakpointsOf } from "@/components/run/breakpoints/breakpoint-store";
import { RUN_MODES } from "@/components/run/start/run-modes";
import { Disclosure } from "@/components/ui/disclosure";
import { Select } from "@/components/ui/input/select";
import { Switch } from "@/components/ui/input/switch";
import { type Limits, RUN_LIMITS, toLimits, withLimits } from "@/server/domain/agent/limits-form";
import type { ForkSettings, RunConfig } from "@/server/domain/agent/outcome";
import type { WorkflowGraph } from "@/server/domain/graph/graph";

/** Where a fork stops, and how far it may go. */
export interface ForkHow {
  mode: RunConfig["mode"];
  limits: Limits;
  /** With the breakpoints that are set in this browser. */
  hasBreakpoints: boolean;
}

export const howOf = (config: RunConfig): ForkHow => ({
  mode: config.mode,
  limits: toLimits(config),
  hasBreakpoints: true,
});

/** This browser's breakpoints for a workflow whose places exist in the graph. */
export const breakpointsHere = (workflowId: string | null, graph: WorkflowGraph) =>
  workflowId === null ? [] : breakpointsFor(breakpointsOf(workflowId).getState().list, graph);

/** What of it is other than the run was set to; undefined where nothing is. */
export function settingsOf(
  config: RunConfig,
  { mode, limits, hasBreakpoints }: ForkHow,
  breakpoints: ReturnType<typeof breakpointsHere>,
): ForkSettings | undefined {
  const isLimited = JSON.stringify(limits) !== JSON.stringify(toLimits(config));
  const next = withLimits(config, limits);
  const settings: ForkSettings = {
    ...(mode === config.mode ? {} : { mode }),
    ...(hasBreakpoints && breakpoints.length > 0 ? { breakpoints } : {}),
    ...(isLimited
      ? {
          max_steps: next.max_steps,
          max_loop_iterations: next.max_loop_iterations,
          max_global_iterations: next.max_global_iterations,
          max_active_ms: next.max_active_ms,
          ...(next.on_limit ? { on_limit: next.on_limit } : {}),
          budget: {
            max_cost_usd: next.budget.max_cost_usd ?? null,
            max_total_tokens: next.budget.max_total_tokens ?? null,
          },
        }
      : {}),
  };
  return Object.keys(settings).length > 0 ? settings : undefined;
}

/** Asks where a fork stops, and how far it may go. */
export function ForkSettingsForm({
  how,
  breakpoints,
  isChanged,
  onChange,
}: {
  how: ForkHow;
  breakpoints: ReturnType<typeof breakpointsHere>;
  isChanged: boolean;
  onChange: (how: ForkHow) => void;
}) {
  return (
    <>
      {breakpoints.length > 0 ? (
        <Switch
          label={`Use this browser's ${countOf(breakpoints.length, "breakpoint")}`}
          checked={how.hasBreakpoints}
          onCheckedChange={(hasBreakpoints) => onChange({ ...how, hasBreakpoints })}
        />
      ) : null}
      <Disclosure variant="box" title="Run mode and limits" aside={isChanged ? "Changed" : "Unchanged"}>
        <Select
          label="Mode"
          options={RUN_MODES}
          value={how.mode}
          onValueChange={(mode) => onChange({ ...how, mode })}
        />
        <FormParts
          parts={RUN_LIMITS}
          value={how.limits}
          onChange={(limits) => onChange({ ...how, limits })}
        />
        <p className="text-[13px] text-ink-2">
          This run's usage doesn't count toward the fork's cost and token limits.
        </p>
      </Disclosure>
    </>
  );
}
