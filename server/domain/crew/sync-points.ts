import { freshId, toId } from "@/server/domain/base/ids";
import type { CrewConfig } from "./crew";
import { type ParallelGroup, parallelGroups } from "./pattern";
import { circleText, findCircle, Task } from "./plan";
import { slug } from "./terms";

/** What is wrong with the points where a group meets. */
export type SyncDiagnostic =
  /** No task of the group has the sync point's tag, so nothing waits there. */
  | { kind: "nobody_meets"; group: string; point: string }
  /** Tasks and meetings would wait for each other; each waits for the next, the last for the first. */
  | { kind: "circle"; group: string; circle: string[] };

/** Where the agents of a group wait for each other. */
interface Meeting {
  point: string;
  /** The task that brings the work together; null where the group has no coordination agent. */
  sync: string | null;
  /** The tasks that meet. */
  ids: readonly string[];
}

/**
 * The tasks, with tasks added for sync points, where the agents of a group wait for each other. At a sync point, the
 * group's tasks with its tag meet; at the last one, if no task has its tag, those without any sync point's tag. The
 * coordination agent, if any, combines the results, and tasks after a meeting wait for it. If the tasks leave the order
 * of two sync points open, they follow the group's list.
 */
export function withSyncPoints(
  tasks: readonly Task[],
  crew: CrewConfig,
): { tasks: Task[]; diagnostics: SyncDiagnostic[] } {
  const diagnostics: SyncDiagnostic[] = [];
  let all = [...tasks];
  for (const group of parallelGroups(crew.collaboration_patterns)) {
    const meetings = meetingsOf(group, all, crew, diagnostics);
    const added = meetings.flatMap((meeting) => syncTask(group, meeting, all));
    const before = priorsOf(all);
    const waiting = [...all.map((task) => waitingFor(task, meetings, before)), ...added];
    const circle = findCircle(waiting);
    if (circle) diagnostics.push({ kind: "circle", group: group.name, circle });
    else all = inListedOrder(waiting, meetings);
  }
  return { tasks: all, diagnostics };
}

function meetingsOf(
  group: ParallelGroup,
  tasks: readonly Task[],
  crew: CrewConfig,
  diagnostics: SyncDiagnostic[],
): Meeting[] {
  const points = [...new Map(group.sync_points.map((point) => [slug(point), point])).values()];
  const own = tasks.filter((task) => !isSyncTask(task) && group.agents.some((id) => isFor(task, id, crew)));
  const hasTag = ({ metadata }: Task, point: string) =>
    metadata.tags?.some((tag) => slug(tag) === slug(point)) ?? false;
  const untagged = own.filter((task) => !points.some((point) => hasTag(task, point)));
  const taken = new Set(tasks.map(({ task_id }) => task_id));
  return points.flatMap((point, at): Meeting[] => {
    const tagged = own.filter((task) => hasTag(task, point));
    const meeting = tagged.length > 0 || at < points.length - 1 ? tagged : untagged;
    if (meeting.length === 0) {
      if (own.length > 0) diagnostics.push({ kind: "nobody_meets", group: group.name, point });
      return [];
    }
    const known = tasks.find(
      (task) => isSyncTask(task) && syncMark(group, point) === task.metadata.sync_point,
    );
    const sync = group.coordination_agent
      ? (known?.task_id ?? freshId(toId(`sync_${slug(point)}`) || "sync", taken))
      : null;
    if (sync !== null) taken.add(sync);
    return [{ point, sync, ids: meeting.map(({ task_id }) => task_id) }];
  });
}

/** Marks the sync point of a task, for plans that are resumed. */
const syncMark = (group: ParallelGroup, point: string) => `${group.name}: ${point}`;
const isSyncTask = ({ metadata }: Task) => typeof metadata.sync_point === "string";

/** The task that combines a sync point's results; empty if there is no agent for it, or the plan already has it. */
function syncTask(group: ParallelGroup, { point, sync, ids }: Meeting, tasks: readonly Task[]): Task[] {
  if (sync === null || tasks.some(({ task_id }) => task_id === sync)) return [];
  return [
    Task.parse({
      task_id: sync,
      description: `Bring together the work of ${group.name} for "${point}": check that the results fit together, say what does not, and sum up what the others must know.`,
      assigned_agent: group.coordination_agent,
      dependencies: ids,
      metadata: { tags: [point], sync_point: syncMark(group, point) },
    }),
  ];
}

/** A task that comes after one that meets waits for the meeting, unless the meeting waits for it. */
function waitingFor(
  task: Task,
  meetings: readonly Meeting[],
  before: ReadonlyMap<string, ReadonlySet<string>>,
): Task {
  const { task_id, dependencies } = task;
  const gates = meetings.flatMap(({ sync, ids }) => {
    const comesAfter = dependencies.some((id) => ids.includes(id)) && task_id !== sync;
    const meetsItself = ids.some((id) => id === task_id || before.get(id)?.has(task_id));
    return comesAfter && !meetsItself ? (sync === null ? ids : [sync]) : [];
  });
  return gates.length === 0 ? task : { ...task, dependencies: [...new Set([...dependencies, ...gates])] };
}

/** Each meeting also waits for the one that is listed before it, unless that one comes later by what waits for what. */
function inListedOrder(tasks: readonly Task[], meetings: readonly Meeting[]): Task[] {
  let all = [...tasks];
  const syncs = meetings.flatMap(({ sync }) => sync ?? []);
  for (const [at, sync] of syncs.entries()) {
    const prior = syncs[at - 1];
    if (prior === undefined || priorsOf(all).get(prior)?.has(sync)) continue;
    all = all.map((task) =>
      task.task_id === sync && !task.dependencies.includes(prior)
        ? { ...task, dependencies: [...task.dependencies, prior] }
        : task,
    );
  }
  return all;
}

/** For each task those that must be done before it, by whatever way. Reads a plan without circles; others to no end. */
function priorsOf(tasks: readonly Task[]): Map<string, ReadonlySet<string>> {
  const direct = new Map(tasks.map(({ task_id, dependencies }) => [task_id, dependencies]));
  const priors = new Map<string, ReadonlySet<string>>();
  for (const { task_id } of tasks) {
    const found = new Set<string>();
    const open = [...(direct.get(task_id) ?? [])];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (found.has(id)) continue;
      found.add(id);
      open.push(...(direct.get(id) ?? []));
    }
    priors.set(task_id, found);
  }
  return priors;
}

function isFor(task: Task, agentId: string, crew: CrewConfig): boolean {
  if (task.assigned_agent) return task.assigned_agent === agentId;
  const agent = crew.agents.find(({ agent_id }) => agent_id === agentId);
  return task.required_role !== undefined && agent?.role_name === task.required_role;
}

/** A diagnostic of sync points as a message, with its fix. */
export function syncDiagnosticText(diagnostic: SyncDiagnostic): string {
  return diagnostic.kind === "circle"
    ? `The sync points of “${diagnostic.group}” create a circular dependency: ${circleText(diagnostic.circle)}. Change their tags or dependencies.`
    : `Sync point “${diagnostic.point}” of “${diagnostic.group}” has no tasks. Add the tag “${diagnostic.point}” to the tasks whose results you want to combine, or remove the sync point.`;
}
