import { z } from "zod";
import { Guardrail } from "@/server/domain/agent/role";
import { Expr, Id, Json, JsonSchema } from "@/server/domain/base/values";

const lowerCase = (value: unknown) => (typeof value === "string" ? value.toLowerCase() : value);

export const TaskStatus = z.preprocess(
  lowerCase,
  z.enum([
    "pending",
    "in_progress",
    "completed",
    "failed",
    "blocked",
    "skipped",
    "cancelled",
    "awaiting_human",
  ]),
);
export type TaskStatus = z.infer<typeof TaskStatus>;

export const Task = z.object({
  task_id: Id,
  description: z.string().min(1, "A task needs a description"),
  raw_instruction: z.string().optional(),
  /** Routes the task to an agent of that role. */
  required_role: z.string().optional(),
  /** Routes the task to one agent; wins over required_role. */
  assigned_agent: z.string().nullish(),
  status: TaskStatus.default("pending"),
  priority: z.preprocess(lowerCase, z.enum(["low", "medium", "high", "critical"])).default("medium"),
  dependencies: z.array(Id).default([]),
  /** Shown with the plan; nothing waits for it, or begins earlier. */
  estimated_duration: z
    .string()
    .regex(/^(\d+(\.\d+)?(s|m|h|d))?$/, "Enter a duration like 15m or 2h")
    .optional(),
  expected_output: z.string().optional(),
  output_schema: JsonSchema.optional(),
  condition: Expr.optional(),
  guardrails: z.array(Guardrail).default([]),
  human_review: z.boolean().default(false),
  output: Json.optional(),
  error_message: z.string().nullish(),
  /** Of everybody who worked on it, delegates included. */
  tokens_used: z.number().int().min(0).optional(),
  /** In US dollars; null once a price among it is unknown. */
  cost_usd: z.number().min(0).nullable().optional(),
  /** Kept as a file brings it; what agents think is in the run's log. */
  reasoning_log: z.array(z.string()).default([]),
  metadata: z
    .object({
      started_at: z.string().exactOptional(),
      completed_at: z.string().exactOptional(),
      progress_percentage: z.number().min(0).max(100).exactOptional(),
      artifacts_created: z.array(z.string()).exactOptional(),
      tags: z.array(z.string()).exactOptional(),
    })
    .catchall(Json)
    .default({}),
});
export type Task = z.infer<typeof Task>;

/** As many tasks as a plan may hold. */
export const MOST_TASKS = 100;

/** plan.json: tasks with their dependencies, and how to execute them. */
export const ExecutionPlan = z
  .object({
    plan_id: Id.optional(),
    user_instruction: z.string().default(""),
    parsed_intent: z.record(z.string(), Json).optional(),
    tasks: z.array(Task).max(MOST_TASKS, `A plan can have at most ${MOST_TASKS} tasks`),
    overall_status: TaskStatus.default("pending"),
    /**
     * When a person is asked in addition to the intervention points. autonomous: never; step: before every task;
     * breakpoint: after a failed task; hitl: about every result.
     */
    execution_mode: z.enum(["autonomous", "step", "breakpoint", "hitl"]).default("autonomous"),
    human_intervention_points: z.array(z.string()).default([]),
    success_criteria: z.array(z.string()).default([]),
    version: z.number().int().default(1),
  })
  .superRefine((plan, ctx) => {
    for (const { at, message } of planErrors(plan.tasks))
      ctx.addIssue({ code: "custom", path: ["tasks", at], message });
  });
export type ExecutionPlan = z.infer<typeof ExecutionPlan>;

/** Why a task list can't be executed: duplicate ids, unknown dependencies, a cycle. */
export function planErrors(
  tasks: readonly Pick<Task, "task_id" | "dependencies">[],
): { at: number; message: string }[] {
  const errors: { at: number; message: string }[] = [];
  const position = new Map<string, number>();
  tasks.forEach((task, at) => {
    if (position.has(task.task_id)) errors.push({ at, message: `Two tasks are called "${task.task_id}".` });
    position.set(task.task_id, at);
  });
  tasks.forEach((task, at) => {
    for (const dependency of task.dependencies)
      if (!position.has(dependency))
        errors.push({
          at,
          message: `Task "${task.task_id}" waits for "${dependency}", which is not in the plan.`,
        });
  });
  const circle = errors.length > 0 ? null : findCircle(tasks);
  if (circle)
    errors.push({
      at: position.get(circle[0] ?? "") ?? 0,
      message: `Circular dependency between tasks: ${circleText(circle)}.`,
    });
  return errors;
}

/** Tasks that wait for each other in a cycle; null if there are none. */
export function findCircle(tasks: readonly Pick<Task, "task_id" | "dependencies">[]): string[] | null {
  const waitsFor = new Map(tasks.map(({ task_id, dependencies }) => [task_id, dependencies]));
  const clear = new Set<string>();
  for (const { task_id } of tasks) {
    // The way down from this task, each with those of its dependencies that are still to be looked at.
    const way = [{ id: task_id, left: [...(waitsFor.get(task_id) ?? [])] }];
    for (let last = way.at(-1); last && !clear.has(task_id); last = way.at(-1)) {
      const next = last.left.shift();
      if (next === undefined) {
        clear.add(last.id);
        way.pop();
      } else if (!clear.has(next)) {
        const at = way.findIndex(({ id }) => id === next);
        if (at >= 0) return way.slice(at).map(({ id }) => id);
        way.push({ id: next, left: [...(waitsFor.get(next) ?? [])] });
      }
    }
  }
  return null;
}

/** `a waits for b, b for c, c for a` */
export function circleText(circle: readonly string[]): string {
  return circle
    .map((id, at) => `${id}${at === 0 ? " waits" : ""} for ${circle[(at + 1) % circle.length] ?? id}`)
    .join(", ");
}
