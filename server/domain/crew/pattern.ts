import { z } from "zod";
import { Id, Json } from "@/server/domain/base/values";
import { slug } from "./terms";

/** Agents that work at the same time, with the one who brings their work together. */
export const ParallelGroup = z.object({
  name: z.string().min(1, "A group needs a name").max(200),
  agents: z.array(Id).min(1, "A group needs at least one agent"),
  coordination_agent: Id.optional(),
  /** Words that tasks carry as tags: all tasks of the group with one wait there for each other. */
  sync_points: z.array(z.string().max(200)).default([]),
});
export type ParallelGroup = z.infer<typeof ParallelGroup>;

const OUTCOME = /^next_on_(.+)$/;

/** One step of a custom pattern. `next_on_<outcome>` names the step, or the agent, that comes after that outcome. */
export const PatternStep = z
  .object({
    step: z.string().min(1, "A step needs a name").max(200),
    agent: z.string().min(1, "A step needs an agent").max(200),
    /** What is to be done; the step's name says it where this is absent. */
    description: z.string().max(8000).optional(),
  })
  .catchall(Json)
  .superRefine((step, ctx) => {
    for (const [key, target] of Object.entries(step))
      if (OUTCOME.test(key) && typeof target !== "string")
        ctx.addIssue({ code: "custom", path: [key], message: `"${key}" must name a step or an agent` });
  });
export type PatternStep = z.infer<typeof PatternStep>;

/** The outcomes of a step with what follows each, in their order. */
export function outcomesOf(step: PatternStep): { key: string; outcome: string; target: string }[] {
  return Object.entries(step).flatMap(([key, target]) => {
    const outcome = OUTCOME.exec(key)?.[1];
    return outcome !== undefined && typeof target === "string" ? [{ key, outcome, target }] : [];
  });
}

/** A way of working together that is written down as steps with outcomes. */
export const CustomPattern = z
  .object({
    name: z.string().max(200).default("pattern"),
    type: z.literal("custom"),
    workflow: z.array(PatternStep).min(1, "A pattern needs at least one step").max(100),
  })
  .catchall(Json);
export type CustomPattern = z.infer<typeof CustomPattern>;

export const ParallelPattern = z.object({ parallel_groups: z.array(ParallelGroup).min(1) }).catchall(Json);
export type ParallelPattern = z.infer<typeof ParallelPattern>;

/**
 * How a crew's members work together, in addition to its process. Unknown patterns are kept unchanged and have no
 * effect.
 */
export const CollaborationPattern = z.union([ParallelPattern, CustomPattern, Json]);
export type CollaborationPattern = z.infer<typeof CollaborationPattern>;

/** The custom patterns among those of a crew. */
export function customPatterns(patterns: readonly CollaborationPattern[]): CustomPattern[] {
  return patterns.flatMap((pattern) => CustomPattern.safeParse(pattern).data ?? []);
}

/** The parallel groups among the patterns of a crew. */
export function parallelGroups(patterns: readonly CollaborationPattern[]): ParallelGroup[] {
  return patterns.flatMap((pattern) => ParallelPattern.safeParse(pattern).data?.parallel_groups ?? []);
}

/** Where an outcome leads: to a step, by index, or to a named end; `nobody`: why to neither. */
export type Target = { step: number } | { end: "completed" | "failed"; name: string } | { nobody: string };

/** What says that the work ends there, well or not. */
const ENDS: Readonly<Record<string, "completed" | "failed">> = {
  end: "completed",
  done: "completed",
  finish: "completed",
  finished: "completed",
  complete: "completed",
  completed: "completed",
  success: "completed",
  user: "completed",
  fail: "failed",
  failed: "failed",
  failure: "failed",
  error: "failed",
  abort: "failed",
  give_up: "failed",
};

/** The words for the end of the work that forms offer. */
export const END_TARGETS = { completed: "end", failed: "fail" } as const;

/**
 * What a target means: a step's name, else an agent who has one step, else a word for the end: `end`, `done` and the
 * like, or `fail`, `abort` and the like, after which the crew has failed. `end:ready` and `fail:broken` name an end.
 */
export function targetOf(target: string, steps: readonly Pick<PatternStep, "step" | "agent">[]): Target {
  const named = steps.findIndex(({ step }) => step === target);
  if (named >= 0) return { step: named };
  const own = [...steps.entries()].filter(([, { agent }]) => agent === target);
  const [only] = own;
  if (only && own.length === 1) return { step: only[0] };
  const word = slug(target);
  const end = Object.hasOwn(ENDS, word) ? ENDS[word] : undefined;
  if (end) return { end, name: target };
  const [, kind, name] = /^(end|fail)\s*:\s*(\S.*)$/i.exec(target) ?? [];
  if (kind && name) return { end: kind.toLowerCase() === END_TARGETS.failed ? "failed" : "completed", name };
  return {
    nobody:
      own.length > 1
        ? `Agent “${target}” has several steps (${own.map(([, { step }]) => step).join(", ")}). Enter a step name.`
        : `“${target}” is neither a step nor an agent with a step. Enter one of these, or use ${END_TARGETS.completed} or ${END_TARGETS.failed} to end the work.`,
  };
}

/** What each field of a step's answer is for, as models see it. */
export const STEP_DESCRIPTIONS = {
  outcome: "How the step turned out",
  summary: "What was done, in a few sentences",
  result: "The complete work itself, not a description of it: the text, code or data that the next step uses",
} as const;
