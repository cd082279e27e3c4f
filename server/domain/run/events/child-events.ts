import type { FinalStatus, RunError, Usage } from "@/server/domain/agent/outcome";
import type { ConfirmationPolicy, RoleDefinition } from "@/server/domain/agent/role";
import type { JsonObject } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { ForeignText } from "../foreign-text";

/** Who will be asked in a run, as the settings are at its start. */
export interface ProviderSummary {
  name: string;
  model: string;
  simulated: boolean;
}

/** A workflow that a node runs: the version that was in use when the run was created. */
export interface CalledWorkflow {
  name: string;
  /** Absent for a draft, since nothing was published. */
  version?: number;
  graph: WorkflowGraph;
  roles: RoleDefinition[];
  provider_summary: ProviderSummary | null;
  context_windows?: Record<string, number>;
  foreign?: ForeignText | undefined;
  /** Its variables, which override those of the installation. */
  variables?: JsonObject;
}

/** The node of another run that started a run. */
export interface ParentRun {
  run_id: string;
  activation_id: string;
  workflow_name: string;
  /** The item of a map, from 0. */
  item?: number;
  /** How many runs there are above it, from 1. */
  depth: number;
  /** Tools that had brought untrusted content into the parent. */
  taint_sources: readonly string[];
  /** Policies of the runs above it, which also decide when a person is asked. */
  confirmation: readonly ConfirmationPolicy[];
}

/** What one run may use of its parent's budget: US dollars and tokens. */
export interface ChildBudget {
  max_cost_usd: number | null;
  max_total_tokens: number | null;
}

/** Runs that nodes start, each with its own log. */
export interface ChildEvents {
  /** A map begins to go through its items. */
  map_started: { total: number };
  /** Items that were computed here, without separate runs. */
  map_progressed: { done: number; failed: number };
  child_started: {
    run_id: string;
    workflow_name: string;
    item?: number;
    /** Reserved until it ends. */
    budget?: ChildBudget;
  };
  child_finished: {
    run_id: string;
    item?: number;
    final_status: FinalStatus;
    error?: RunError;
    /** The run that gave this answer, if nothing was run again: its usage was paid there. */
    reused?: string;
    /** What it used, which counts as used by this run. */
    usage: Usage;
    cost_usd: number;
    unknown_cost_calls: number;
    /** Tools that brought untrusted content into it. */
    taint_sources: readonly string[];
    simulated: boolean;
  };
}
