import { z } from "zod";
import type { RunError } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import { must } from "@/server/domain/base/must";
import { Json, type JsonObject, type JsonSchema } from "@/server/domain/base/values";
import type { Task } from "@/server/domain/crew/plan";
import type { Work } from "./crew";

/** The error of a task that failed by what somebody said of it. */
export const failedTask = (message: string): RunError => ({
  code: "REJECTED",
  message,
  retryable: false,
  user_action: "edit_graph",
});

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
