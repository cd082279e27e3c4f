import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import type { Flow } from "@/server/domain/base/durable";
import { asJson } from "@/server/domain/base/json";
import { must } from "@/server/domain/base/must";
import { Json } from "@/server/domain/base/values";
import { Task, TaskStatus } from "@/server/domain/crew/plan";
import {
  addTask,
  changeTask,
  isOpen,
  type PlanChange,
  unknownTask,
} from "@/server/domain/run/commands/plan-edit";
import { isSince } from "@/server/domain/run/edition";
import type { Caller, RunTool, RunToolResult } from "../../agent/task";
import { defineRunTool, done, rejected } from "../../agent/tools/run-tool";
import type { Crew } from "../crew";
import { failedTask } from "../task-work";
import { fromCoworkers } from "./from-coworkers";

const taskId = z.string().describe("The task's id");
/** The statuses that an agent may set of any task that isn't running. */
const SETTABLE = ["pending", "completed", "skipped", "cancelled", "blocked"] as const;

const Update = z.object({
  task_id: taskId,
  status: z
    .enum([...SETTABLE, "in_progress", "failed"])
    .optional()
    .describe("in_progress and failed only for your own tasks"),
  reason: z.string().min(1).max(4000).optional().describe("Why it failed; required for failed"),
  description: z.string().min(1).max(4000).optional(),
  metadata: z.record(z.string(), Json).optional().describe("Merged into the existing notes"),
});
/** Before edition 5, the run alone set in_progress and failed. */
const UpdateBefore5 = Update.omit({ reason: true }).extend({ status: z.enum(SETTABLE).optional() });

/** The tools for reading and changing plan.json. */
export function planTools(crew: Crew): RunTool[] {
  return [
    defineRunTool({
      name: "plan_read",
      description: "Read the whole plan with the status of every task.",
      read_only: true,
      input: z.object({}),
      *call() {
        return crew.plan ? fromCoworkers(crew, asJson(crew.plan)) : rejected(404, "The crew has no plan.");
      },
    }),
    defineRunTool({
      name: "plan_add_task",
      description: "Add a task to the plan; it runs when its dependencies are done.",
      input: z.object({
        description: z.string().min(1).max(4000),
        priority: z.enum(["low", "medium", "high", "critical"]).default("medium"),
        dependencies: z
          .array(z.string())
          .max(50)
          .default([])
          .describe("Ids of tasks that must be done first"),
        task_id: z.string().optional().describe("The new task's id; generated if omitted"),
        required_role: z.string().optional().describe("The role that does it"),
        assigned_agent: z.string().optional().describe("The agent that does it"),
      }),
      *call({ task_id, ...input }, caller) {
        const { plan } = crew;
        if (!plan) return rejected(404, "The crew has no plan.");
        const added = addTask(plan, {
          task_id,
          ...input,
          ...defined({
            assigned_agent: input.required_role || input.assigned_agent ? undefined : caller.task.agent_id,
          }),
        });
        if (!added.ok) return rejected(added.status, added.message);
        yield* change(crew, caller, added.change);
        return done({ task_id: added.task_id, version: must(crew, "plan").version });
      },
    }),
    defineRunTool({
      name: "plan_update_task",
      description: "Change a task's status or notes.",
      input: isSince(crew.run.s.run, 5) ? Update : UpdateBefore5,
      *call({ task_id, status, description, metadata, ...more }, caller) {
        const { reason }: { reason?: string | undefined } = more;
        const task = crew.plan?.tasks.find((other) => other.task_id === task_id);
        if (!task) {
          const { status: code, message } = unknownTask(crew.plan, task_id);
          return rejected(code, message);
        }
        const error = status && statusError(crew, caller, task, { status, reason });
        if (error) return error;
        const merged = Task.shape.metadata.safeParse({ ...task.metadata, ...metadata });
        if (!merged.success)
          return rejected(400, merged.error.issues.map(({ message }) => message).join("; "));
        const noted = {
          ...defined({ description: description || undefined, metadata: metadata ? merged.data : undefined }),
        };
        noteChange(crew, caller, { changed: { [task_id]: noted } });
        // A caller that waited for the file continues with a status that another agent may have changed meanwhile.
        if (!isSince(crew.run.s.run, 2)) yield* crew.savePlan();
        if (status && status !== task.status) setStatus(crew, caller, task, { status, reason });
        yield* crew.savePlan();
        return done({ task_id, version: must(crew, "plan").version });
      },
    }),
    defineRunTool({
      name: "plan_assign_task",
      description: "Assign a task to an agent, or to a team, whose least busy member does it.",
      input: z.object({ task_id: taskId, agent_name: z.string() }),
      *call({ task_id, agent_name }, caller) {
        const agent = crew.member(agent_name);
        if (!agent && Object.hasOwn(crew.view.teams, agent_name))
          return yield* changePending(crew, caller, task_id, { assigned_agent: agent_name });
        if (!agent)
          return rejected(
            404,
            `Unknown agent: "${agent_name}". The crew has: ${crew.config.agents.map(({ agent_id }) => agent_id).join(", ")}.`,
          );
        return yield* changePending(crew, caller, task_id, { assigned_agent: agent.agent_id });
      },
    }),
    defineRunTool({
      name: "plan_estimate_duration",
      description: "Estimate how long a task takes, such as 15m or 2h.",
      input: z.object({ task_id: taskId, duration: z.string() }),
      *call({ task_id, duration }, caller) {
        const read = Task.shape.estimated_duration.safeParse(duration);
        if (!read.success || duration === "") return rejected(400, "Write a duration like 15m or 2h.");
        return yield* changePending(crew, caller, task_id, { estimated_duration: duration });
      },
    }),
    defineRunTool({
      name: "plan_set_dependencies",
      description: "Set which tasks must be done before this one.",
      input: z.object({ task_id: taskId, dependencies: z.array(z.string()).max(50) }),
      *call({ task_id, dependencies }, caller) {
        return yield* changePending(crew, caller, task_id, { dependencies });
      },
    }),
  ];
}

interface NewStatus {
  status: TaskStatus;
  reason: string | undefined;
}

/** Why an agent may not give a task this status. */
function statusError(
  crew: Crew,
  caller: Caller,
  task: Task,
  { status, reason }: NewStatus,
): RunToolResult | undefined {
  const { task_id } = task;
  const by = caller.task.agent_id;
  if (status !== "in_progress" && status !== "failed")
    return task.status === "in_progress" && crew.taken.get(task_id) !== by
      ? rejected(409, `Task "${task_id}" is in progress, so its status cannot be set.`)
      : undefined;
  if (!isOpen(task) && task.status !== "in_progress")
    return rejected(
      409,
      `Task "${task_id}" is ${task.status}, so it cannot become ${status.replace("_", " ")}.`,
    );
  if (!isOwn(crew, caller, task))
    return rejected(
      403,
      `Task "${task_id}" belongs to ${task.assigned_agent ?? task.required_role}. You can set only your own tasks to ${status}.`,
    );
  if (status === "failed")
    return reason === undefined ? rejected(400, `Give the reason why "${task_id}" failed.`) : undefined;
  const waitsFor = task.dependencies.filter((id) =>
    crew.plan?.tasks.some(
      (other) => other.task_id === id && (isOpen(other) || other.status === "in_progress"),
    ),
  );
  return waitsFor.length > 0
    ? rejected(409, `Task "${task_id}" waits for ${waitsFor.join(", ")}.`)
    : undefined;
}

/** Whether a task is the agent's, or anybody's. */
function isOwn({ view }: Crew, { task: { agent_id, required_role } }: Caller, task: Task): boolean {
  const { assigned_agent: agent, required_role: role } = task;
  if (agent) return agent === agent_id || view.teams[agent]?.agents.includes(agent_id) === true;
  return role === undefined || role === required_role;
}

function setStatus(crew: Crew, caller: Caller, task: Task, { status, reason }: NewStatus): void {
  const { task_id } = task;
  const by = caller.task.agent_id;
  crew.taken.delete(task_id);
  if (status === "in_progress") crew.taken.set(task_id, by);
  crew.run.emit({
    type: "task_status_changed",
    task_id,
    payload: {
      from: TaskStatus.parse(task.status),
      to: status,
      ...defined({
        assigned_agent: status === "in_progress" ? by : undefined,
        error:
          status === "failed"
            ? failedTask(task_id, `${by} set "${task_id}" to failed: ${reason}`)
            : undefined,
      }),
    },
  });
}

/** Changes a task that has not begun. */
function* changePending(
  crew: Crew,
  caller: Caller,
  task_id: string,
  patch: Partial<Task>,
): Flow<RunToolResult> {
  if (!crew.plan) return rejected(404, "The crew has no plan.");
  const changed = changeTask(crew.plan, task_id, patch);
  if (!changed.ok) return rejected(changed.status, changed.message);
  yield* change(crew, caller, changed.change);
  return done({ task_id, version: crew.plan.version });
}

function* change(crew: Crew, caller: Caller, what: PlanChange): Flow<void> {
  noteChange(crew, caller, what);
  yield* crew.savePlan();
}

function noteChange(crew: Crew, caller: Caller, what: PlanChange): void {
  crew.run.emit({
    type: "plan_changed",
    agent_id: caller.task.agent_id,
    payload: { version: (crew.plan?.version ?? 0) + 1, by: caller.task.agent_id, ...what },
  });
}
