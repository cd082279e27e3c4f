import { must } from "@/server/domain/base/must";
import type { CrewConfig } from "./crew";
import type { ExecutionPlan, Task, TaskStatus } from "./plan";
import { type SyncDiagnostic, withSyncPoints } from "./sync-points";

/** What stays of a task whose work is over. */
const OVER: ReadonlySet<TaskStatus> = new Set(["completed", "skipped", "cancelled"]);

/**
 * The plan that a crew starts with, with the tasks of its sync points added, and diagnostics of these. A plan in
 * progress continues: completed tasks keep their results, and running ones are repeated. A failed task is retried if
 * one failure stops the crew; otherwise it stays failed, and the crew acts as configured.
 */
export function startingPlan(
  plan: ExecutionPlan,
  crew: CrewConfig,
): { plan: ExecutionPlan; diagnostics: SyncDiagnostic[] } {
  const isKept = ({ status }: Task) =>
    OVER.has(status) || (status === "failed" && crew.on_task_failure !== "stop");
  const { tasks, diagnostics } = withSyncPoints(
    plan.tasks.map((task) => (isKept(task) ? task : asNew(task))),
    crew,
  );
  return { plan: { ...plan, overall_status: "pending", tasks }, diagnostics };
}

/** The plan with nothing done yet. */
export function freshPlan(plan: ExecutionPlan): ExecutionPlan {
  return { ...plan, overall_status: "pending", tasks: plan.tasks.map(asNew) };
}

/** Tasks of a plan in progress, by what happens to them when a crew resumes it; null for a new plan. */
export function resumedTasks(plan: ExecutionPlan): { done: Task[]; again: Task[]; failed: Task[] } | null {
  const of = (...statuses: TaskStatus[]) => plan.tasks.filter(({ status }) => statuses.includes(status));
  const all = {
    done: of("completed", "skipped", "cancelled"),
    again: of("in_progress", "awaiting_human"),
    failed: of("failed"),
  };
  return all.done.length + all.again.length + all.failed.length > 0 ? all : null;
}

function asNew({
  output: _output,
  error_message: _error,
  tokens_used: _tokens,
  cost_usd: _cost,
  ...task
}: Task): Task {
  const {
    started_at: _started,
    completed_at: _completed,
    progress_percentage: _progress,
    artifacts_created: _artifacts,
    ...metadata
  } = task.metadata;
  return { ...task, metadata, status: "pending" };
}

const PRIORITY = { critical: 0, high: 1, medium: 2, low: 3 } as const;

/**
 * Tasks in the order in which they should begin: by priority, then by deadline, then as written. `passedOn`: a task is
 * as urgent as the most urgent task that waits for it.
 */
export function byUrgency(tasks: readonly Task[], { passedOn }: { passedOn: boolean }): Task[] {
  const urgencies = new Map<string, { rank: number; due: number }>(
    tasks.map((task) => [task.task_id, { rank: PRIORITY[task.priority], due: deadlineOf(task) }]),
  );
  // Those that wait come first, so that what they pass on is final.
  for (const { task_id, dependencies } of passedOn ? inOrder(tasks).reverse() : [])
    for (const id of dependencies) {
      const [waiting, before] = [must(urgencies, task_id), urgencies.get(id)];
      if (!before) continue;
      before.rank = Math.min(before.rank, waiting.rank);
      before.due = Math.min(before.due, waiting.due);
    }
  return tasks
    .map((task, at) => ({ task, at, ...must(urgencies, task.task_id) }))
    .sort((a, b) => a.rank - b.rank || (a.due === b.due ? 0 : a.due - b.due) || a.at - b.at)
    .map(({ task }) => task);
}

/** `metadata.deadline`, Unix time in milliseconds; Infinity if there is none. */
function deadlineOf({ metadata }: Task): number {
  const at = typeof metadata.deadline === "string" ? Date.parse(metadata.deadline) : Number.NaN;
  return Number.isNaN(at) ? Number.POSITIVE_INFINITY : at;
}

/** Dependencies first, otherwise as written. */
export function inOrder(tasks: readonly Task[]): Task[] {
  const order: Task[] = [];
  const placed = new Set<string>();
  const rest = [...tasks];
  while (rest.length > 0) {
    const at = rest.findIndex((task) => task.dependencies.every((id) => placed.has(id)));
    const [task] = rest.splice(Math.max(at, 0), 1);
    if (!task) break;
    order.push(task);
    placed.add(task.task_id);
  }
  return order;
}

/** Tasks that nothing else waits for. */
export function lastTasks(tasks: readonly Task[]): Task[] {
  const needed = new Set(tasks.flatMap(({ dependencies }) => dependencies));
  return inOrder(tasks).filter(({ task_id }) => !needed.has(task_id));
}
