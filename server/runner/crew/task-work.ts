import { z } from "zod";
import type { RunError } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import { must } from "@/server/domain/base/must";
import { Json, type JsonObject, type JsonSchema } from "@/server/domain/base/values";
import { interventionPoint } from "@/server/domain/crew/intervention";
import type { ExecutionPlan, Task } from "@/server/domain/crew/plan";
import type { Work } from "./crew";

/** The error of a task that the plan says has failed. */
export const failedTask = (id: string, message: string | null | undefined): RunError => ({
  code: "REJECTED",
  message: message || `Task "${id}" failed earlier.`,
  retryable: false,
  user_action: "edit_graph",
});

/** Why a person reviews a task's result; undefined if no one does. */
export function reviewReason(plan: ExecutionPlan | undefined, task: Task): string | undefined {
  const after = plan && interventionPoint(task, "after", plan);
  if (after) return `The plan says ${after}.`;
  if (task.human_review) return "The plan requires a person's review of this task.";
  return plan?.execution_mode === "hitl" ? "The plan runs in human-in-the-loop mode." : undefined;
}

/** How a task is to be answered: as its own schema says, else its role's, else in one text. */
export function shapeOf(
  task: Task,
  ofRole: JsonSchema | undefined,
): Pick<Work, "output_keys" | "output_schema" | "answer_schema"> {
  const schema = task.output_schema ?? ofRole;
  const isWhole = schema?.type === "object" && schema.properties !== undefined;
  if (isWhole) return { output_keys: [], answer_schema: schema };
  return {
    output_keys: [task.task_id],
    ...defined({ output_schema: task.output_schema }),
  };
}

/**
 * A task's raw instruction as values: those of a JSON object by name, or the text. `output_from_<task>` stands for that
 * task's result.
 */
export function instructionOf(
  { raw_instruction }: Task,
  outputs: Readonly<Record<string, Json>>,
): JsonObject {
  if (!raw_instruction) return {};
  const read = parseInstruction(raw_instruction);
  if (!read) return { raw_instruction };
  return Object.fromEntries(
    Object.entries(read).map(([key, value]) => {
      const from = typeof value === "string" ? /^output_from_(.+)$/.exec(value)?.[1] : undefined;
      return [key, from !== undefined && Object.hasOwn(outputs, from) ? must(outputs, from) : value];
    }),
  );
}

function parseInstruction(text: string): JsonObject | null {
  try {
    return z.record(z.string(), Json).safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
