import { present } from "@/server/domain/base/must";
import type { CrewConfig } from "./crew";
import { type ParallelGroup, parallelGroups } from "./pattern";
import { type ExecutionPlan, planFaults, Task } from "./plan";

/** What of a plan a crew begins with: nothing done yet, and tasks where groups bring their work together. */
export function startingPlan(plan: ExecutionPlan, crew: CrewConfig): ExecutionPlan {
  const fresh = plan.tasks.map(
    ({ output: _output, error_message: _error, tokens_used: _tokens, cost_usd: _cost, ...task }) => {
      const {
        started_at: _started,
        completed_at: _completed,
        progress_percentage: _progress,
        artifacts_created: _artifacts,
        ...metadata
      } = task.metadata;
      return { ...task, metadata, status: "pending" as const };
    },
  );
  const tasks = parallelGroups(crew.collaboration_patterns).reduce<Task[]>(
    (so_far, group) => withSyncPoints(so_far, group, crew),
    fresh,
  );
  return { ...plan, overall_status: "pending", tasks };
}

/**
 * The tasks with those where the agents of a group wait for each other. At a sync point the group's tasks that carry
 * its word as a tag meet; where none carries one, the last point is where all of the group's work meets. The
 * coordination agent, if there is one, brings it together; what comes after waits for that.
 */
function withSyncPoints(tasks: readonly Task[], group: ParallelGroup, crew: CrewConfig): Task[] {
  const isOfGroup = (task: Task) => group.agents.some((id) => isFor(task, id, crew));
  let all = [...tasks];
  for (const [at, point] of group.sync_points.entries()) {
    const own = all.filter(isOfGroup);
    const tagged = own.filter(({ metadata }) => metadata.tags?.includes(point));
    const isLast = at === group.sync_points.length - 1;
    const meeting = tagged.length > 0 ? tagged : isLast ? own : [];
    if (meeting.length === 0) continue;
    const ids = meeting.map(({ task_id }) => task_id);
    const { coordination_agent } = group;
    const sync = coordination_agent ? freeId(`sync_${slug(point)}`, all) : null;
    const gate = sync === null ? ids : [sync];
    const changed = all.map((task) =>
      !ids.includes(task.task_id) && task.dependencies.some((id) => ids.includes(id))
        ? { ...task, dependencies: [...new Set([...task.dependencies, ...gate])] }
        : task,
    );
    if (sync === null || !coordination_agent) {
      all = changed;
      continue;
    }
    all = [
      ...changed,
      Task.parse({
        task_id: sync,
        description: `Bring together the work of ${group.name} for "${point}": check that the results fit together, say what does not, and sum up what the others must know.`,
        assigned_agent: coordination_agent,
        dependencies: ids,
        metadata: { tags: [point] },
      }),
    ];
    if (planFaults(all).length > 0) all = changed.filter((task) => task.task_id !== sync);
  }
  return all;
}

function isFor(task: Task, agentId: string, crew: CrewConfig): boolean {
  if (task.assigned_agent) return task.assigned_agent === agentId;
  const agent = crew.agents.find(({ agent_id }) => agent_id === agentId);
  return task.required_role !== undefined && agent?.role_name === task.required_role;
}

function freeId(wanted: string, tasks: readonly Task[]): string {
  for (let count = 1; ; count++) {
    const id = count === 1 ? wanted : `${wanted}_${count}`;
    if (!tasks.some(({ task_id }) => task_id === id)) return id;
  }
}

const PRIORITY = { critical: 0, high: 1, medium: 2, low: 3 } as const;

/** Tasks in the order in which they should begin: by priority, then by deadline, then as written. */
export function byUrgency(tasks: readonly Task[]): Task[] {
  return tasks
    .map((task, at) => ({ task, at, due: deadlineOf(task) }))
    .sort(
      (a, b) =>
        PRIORITY[a.task.priority] - PRIORITY[b.task.priority] ||
        (a.due === b.due ? 0 : a.due - b.due) ||
        a.at - b.at,
    )
    .map(({ task }) => task);
}

/** `metadata.deadline`, Unix time in milliseconds; never, where there is none. */
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
    order.push(present(task, "task"));
    placed.add(present(task, "task").task_id);
  }
  return order;
}

/** Tasks that nothing else waits for. */
export function lastTasks(tasks: readonly Task[]): Task[] {
  const needed = new Set(tasks.flatMap(({ dependencies }) => dependencies));
  return inOrder(tasks).filter(({ task_id }) => !needed.has(task_id));
}

/** The point at which a person is to be asked about this task: `before_X`, `after_X`, where X names it. */
export function interventionPoint(
  task: Task,
  when: "before" | "after",
  points: readonly string[],
): string | undefined {
  const names = new Set(
    [task.task_id, slug(task.description), ...(task.metadata.tags ?? []).map(slug)].map(slug),
  );
  return points.find(
    (point) => point.startsWith(`${when}_`) && names.has(slug(point.slice(when.length + 1))),
  );
}

/** Words as an identifier: lower case, joined by underscores. */
export function slug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "");
}
