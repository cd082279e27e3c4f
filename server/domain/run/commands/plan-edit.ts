import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import { Id } from "@/server/domain/base/values";
import { type ExecutionPlan, MOST_TASKS, planErrors, Task, type TaskStatus } from "@/server/domain/crew/plan";

/** In these states a task has not begun: what runs or ran is not rewritten. */
const OPEN: ReadonlySet<TaskStatus> = new Set(["pending", "blocked", "awaiting_human"]);

/** Whether a task can still be changed. */
export const isOpen = ({ status }: Pick<Task, "status">): boolean => OPEN.has(status);

const { description, priority, dependencies, estimated_duration } = Task.shape;
/** Without the defaults of a task: what a change does not name stays as it is. */
const Settings = z.object({
  description: description.exactOptional(),
  priority: priority.unwrap().exactOptional(),
  dependencies: dependencies.unwrap().exactOptional(),
  assigned_agent: z.string().nullable().exactOptional(),
  required_role: z.string().exactOptional(),
  /** An empty text takes them away. */
  expected_output: z.string().exactOptional(),
  estimated_duration: estimated_duration.unwrap().exactOptional(),
  tags: z.array(z.string().max(200)).max(50).exactOptional(),
});

/** What a person changes about a plan while it is carried out. */
export const PlanEdit = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("add"), task: Settings.extend({ description }) }),
  z.strictObject({ kind: z.literal("change"), task_id: Id, patch: Settings }),
  z.strictObject({ kind: z.literal("cancel"), task_id: Id }),
]);
export type PlanEdit = z.infer<typeof PlanEdit>;

/** Tasks that come in, and fields of tasks that change. */
export interface PlanChange {
  added?: Task[];
  /** Fields that changed, by task. */
  changed?: Record<string, Partial<Task>>;
}

export interface PlanEditError {
  /** As a tool would answer. */
  status: 400 | 404 | 409;
  message: string;
}
type Outcome<T> = ({ ok: true } & T) | ({ ok: false } & PlanEditError);

/** A plan with one more task; `task_id` is made up where it is absent. */
export function addTask(
  plan: ExecutionPlan,
  input: Omit<z.input<typeof Task>, "task_id"> & { task_id?: string | undefined },
): Outcome<{ change: PlanChange; task_id: string }> {
  if (plan.tasks.length >= MOST_TASKS)
    return { ok: false, status: 400, message: `A plan can have at most ${MOST_TASKS} tasks.` };
  const read = Task.safeParse({ ...input, task_id: input.task_id ?? nextId(plan) });
  if (!read.success)
    return { ok: false, status: 400, message: read.error.issues.map(({ message }) => message).join("; ") };
  const errors = planErrors([...plan.tasks, read.data]);
  if (errors.length > 0)
    return { ok: false, status: 400, message: errors.map(({ message }) => message).join(" ") };
  return { ok: true, change: { added: [read.data] }, task_id: read.data.task_id };
}

/** A plan with other settings of a task that has not begun. */
export function changeTask(
  plan: ExecutionPlan,
  task_id: string,
  patch: Partial<Task>,
): Outcome<{ change: PlanChange }> {
  const task = openTask(plan, task_id);
  if (!task.ok) return task;
  const errors = planErrors(
    plan.tasks.map((other) => (other.task_id === task_id ? { ...other, ...patch } : other)),
  );
  if (errors.length > 0)
    return { ok: false, status: 400, message: errors.map(({ message }) => message).join(" ") };
  return { ok: true, change: { changed: { [task_id]: patch } } };
}

function openTask(plan: ExecutionPlan, task_id: string): Outcome<{ task: Task }> {
  const task = plan.tasks.find((other) => other.task_id === task_id);
  if (!task) return { ok: false, ...unknownTask(plan, task_id) };
  if (!isOpen(task))
    return {
      ok: false,
      status: 409,
      message: `Task "${task_id}" is ${task.status.replace("_", " ")} and can no longer be edited.`,
    };
  return { ok: true, task };
}

export function unknownTask(plan: ExecutionPlan | undefined, task_id: string): PlanEditError {
  const ids = plan?.tasks.map((task) => task.task_id).join(", ");
  return { status: 400, message: `There is no task "${task_id}". The plan has: ${ids ?? "no tasks"}.` };
}

/** Who can do the tasks of a plan: `members` by id, and teams by name. */
interface Workers {
  members: readonly { agent_id: string; role_name: string }[];
  teams: Readonly<Record<string, unknown>>;
}

/** The error if the crew lacks the agent, team or role that a task names. */
function unknownWorker(
  { members, teams }: Workers,
  { assigned_agent: agent, required_role: role }: { assigned_agent?: string | null; required_role?: string },
): string | null {
  if (agent && !members.some(({ agent_id }) => agent_id === agent) && !Object.hasOwn(teams, agent))
    return `This crew has no agent or team "${agent}".`;
  if (role && !members.some(({ role_name }) => role_name === role))
    return `No member of this crew has the role "${role}".`;
  return null;
}

/** The change of a plan by a person's edit. `cancelled`: the task that no one does any longer. */
export function editPlan(
  plan: ExecutionPlan,
  crew: Workers,
  edit: PlanEdit,
): Outcome<{ change: PlanChange | null; cancelled?: Task }> {
  if (edit.kind === "cancel") {
    const found = openTask(plan, edit.task_id);
    if (!found.ok) return found;
    if (found.task.status === "awaiting_human")
      return {
        ok: false,
        status: 409,
        message: "This task is waiting for a person's approval. Reject it there instead.",
      };
    return { ok: true, change: null, cancelled: found.task };
  }
  const { assigned_agent, required_role, tags, ...rest } = edit.kind === "add" ? edit.task : edit.patch;
  const who = defined({ assigned_agent, required_role });
  const unknown = unknownWorker(crew, who);
  if (unknown !== null) return { ok: false, status: 404, message: unknown };
  if (edit.kind === "add" && !assigned_agent && !required_role)
    return { ok: false, status: 400, message: "Assign the task to an agent, a team or a role." };
  const before =
    edit.kind === "change" ? plan.tasks.find(({ task_id }) => task_id === edit.task_id) : undefined;
  // An absent agent stays as it was; with null, anyone with the role does the task.
  const more = {
    ...rest,
    ...who,
    ...defined({ metadata: tags === undefined ? undefined : { ...before?.metadata, tags } }),
  };
  return edit.kind === "add"
    ? addTask(plan, { ...more, description: edit.task.description })
    : changeTask(plan, edit.task_id, more);
}

function nextId(plan: ExecutionPlan): string {
  for (let count = plan.tasks.length + 1; ; count++) {
    const id = `task_${String(count).padStart(3, "0")}`;
    if (!plan.tasks.some(({ task_id }) => task_id === id)) return id;
  }
}
