import { z } from "zod";
import type { ForkSettings, Usage } from "@/server/domain/agent/outcome";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { Json, StateKey } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { PlanEdit } from "../commands/plan-edit";
import type { CalledWorkflow } from "../events/child-events";
import type { ForeignText } from "../foreign-text";
import type { Sender } from "../started-by";

/** Values of the state that a person sets or takes away. */
export const StatePatch = z.strictObject({
  set: z.record(StateKey, Json).default({}),
  remove: z.array(StateKey).max(1_000).default([]),
});
export type StatePatch = z.infer<typeof StatePatch>;

/** A message of an agent's transcript that says something else in the fork. `at`: its place in it, from 0. */
export const MessagePatch = z.strictObject({
  agent: z.string().min(1).max(400).meta({ description: "Key of the agent: activation/agent/task" }),
  at: z.int().min(0),
  content: z.string().max(1_000_000),
});
export type MessagePatch = z.infer<typeof MessagePatch>;

/** A change of a running crew's plan. */
export const PlanPatch = z.strictObject({ activation_id: z.string(), edit: PlanEdit });

/** What a fork does differently from its original, from the moment at which it leaves that one's ways. */
export const ForkPatches = z.strictObject({
  state: StatePatch.optional(),
  messages: z.array(MessagePatch).max(100).optional(),
  plan: z.array(PlanPatch).max(100).optional(),
});
export type ForkPatches = z.infer<typeof ForkPatches>;

/** The workflow version that a fork continues with: that of the original, the draft, or the published one. */
export const ForkGraph = z.enum(["original", "latest", "published"]);
export type ForkGraph = z.infer<typeof ForkGraph>;

/** What a replay does where it is asked what was never recorded: it ends there, or asks a person before it calls. */
export const ReplayMode = z.enum(["strict", "lenient"]);
export type ReplayMode = z.infer<typeof ReplayMode>;

/** Where a run comes from that begins as another one went. */
export interface ForkOrigin extends Sender {
  from_run: string;
  /** The first of the lineage. */
  root_run: string;
  /** As which run the log before the fork was written: the original, or one that it comes from itself. */
  as: string;
  /** The last event that both have, at least: what follows from it without anything being asked is the same, too. */
  at_seq: number;
  /** When the fork was made, Unix time in milliseconds. */
  at: number;
  graph: ForkGraph;
  patches: ForkPatches;
  /** Where it stops and how far it goes from there on, as far as that is another than the original's. */
  config?: ForkSettings;
  /** The run takes all its answers from the original's log. */
  replay?: ReplayMode;
  /** The workflow version that it continues with, if it changed, and the roles that it names. */
  latest?: {
    graph: WorkflowGraph;
    roles: RoleDefinition[];
    foreign?: ForeignText | undefined;
    workflows?: Record<string, CalledWorkflow> | undefined;
    /** Absent for a draft. */
    workflow_version?: number | undefined;
  };
  /** Calls that only read and failed are made again. */
  retries?: true;
  /** From the fork on no pin of the original holds: pins are for trying things out in the editor. */
  without_pins?: true;
}

/** What was paid before, by the runs that a run comes from. Costs in US dollars. */
export interface Inherited {
  usage: Usage;
  cost_usd: number;
  unknown_cost_calls: number;
}

/**
 * As which run a log is written just now: as the one that wrote it first, so that the logs of a fork and of its original
 * agree up to the fork.
 */
export const writtenAs = ({
  id,
  forks,
  forked = 0,
}: {
  id: string;
  forks?: readonly Pick<ForkOrigin, "as">[];
  forked?: number;
}): string => forks?.[forked]?.as ?? id;
