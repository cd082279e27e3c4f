import { z } from "zod";
import { AgentConfig, LlmConfig, OnLimit } from "@/server/domain/agent/role";
import { Id } from "@/server/domain/base/values";
import { CollaborationPattern } from "./pattern";
import { CrewQuestions } from "./questions";

export const CrewProcess = z.enum([
  "sequential",
  "parallel",
  "hierarchical",
  "swarm",
  "consensus",
  "sample",
  "custom",
]);
export type CrewProcess = z.infer<typeof CrewProcess>;

/** Several agents and the way in which they share out the work. */
export const CrewConfig = z.object({
  crew_id: Id.default("crew"),
  agents: z.array(AgentConfig).min(1, "A crew needs at least one agent"),
  process: CrewProcess.default("sequential"),
  manager: z.object({ agent_id: Id.optional(), llm_config: LlmConfig.optional() }).optional(),
  entry_agent: Id.optional(),
  max_rounds: z.number().int().default(12),
  max_handoffs: z.number().int().default(12),
  max_stalls: z.number().int().default(3),
  max_replans: z.number().int().default(2),
  /** Every agent may hand off, not only those whose roles name `handoff`. A swarm's agents always may. */
  allow_handoffs: z.boolean().optional(),
  max_parallel: z.number().int().min(1).max(16).default(3),
  on_task_failure: z.enum(["stop", "continue_independent", "replan", "escalate"]).default("stop"),
  /** What happens when a member reaches a limit of the run; by default what the member's role says, then the run. */
  on_limit: OnLimit.optional(),
  planning: z.boolean().default(false),
  memory: z.boolean().default(true),
  /**
   * The tools of a delegate. own: those of its role; shared: only those that both roles may use. Default: own; in runs
   * before edition 5, shared.
   */
  delegate_tools: z.enum(["shared", "own"]).optional(),
  consensus: z
    .object({
      rule: z.enum(["majority", "two_thirds", "unanimous", "weighted"]).default("majority"),
      quorum: z.number().default(0.5),
      rounds: z.number().int().default(2),
      tie: z.enum(["reject", "chair", "human"]).default("human"),
      weights: z.record(z.string(), z.number()).default({}),
    })
    .prefault({}),
  /** Of the process `sample`: how often its agent answers. */
  samples: z.number().int().min(2).max(15).default(5),
  /** On which terms it asks people. */
  questions: CrewQuestions.optional(),
  collaboration_patterns: z.array(CollaborationPattern).default([]),
});
export type CrewConfig = z.infer<typeof CrewConfig>;
