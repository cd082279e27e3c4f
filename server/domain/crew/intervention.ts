import type { ExecutionPlan, Task } from "./plan";
import { isSameWord, slug, termsIn } from "./terms";

export type PointMoment = "before" | "after";

const POINT = /^(before|after)_(.+)$/i;
const ON_ERROR = "on_error";
/** Max characters of a task's description that count as its title. */
const TITLE = 200;

/** Whether the plan says that a person is asked where a task fails. */
export const asksOnError = ({
  human_intervention_points,
}: Pick<ExecutionPlan, "human_intervention_points">) =>
  human_intervention_points.some((point) => slug(point) === ON_ERROR);

/**
 * The intervention point that applies to this task: `before_X` or `after_X`, where X is the id, a tag or the whole
 * description of tasks, in any spelling; if none matches, the tasks whose id, tags or title contain its words in any
 * form.
 */
export function interventionPoint(
  task: Task,
  when: PointMoment,
  { human_intervention_points: points, tasks }: Pick<ExecutionPlan, "human_intervention_points" | "tasks">,
): string | undefined {
  return points.find((point) => {
    const read = POINT.exec(point.trim());
    return (
      read?.[1]?.toLowerCase() === when &&
      tasksMeant(read[2] ?? "", tasks).some(({ task_id }) => task_id === task.task_id)
    );
  });
}

/** An intervention point that never applies: it is unknown, or matches no task. */
export interface PointDiagnostic {
  point: string;
  isUnknown: boolean;
}

/** The intervention points that never apply. Without tasks, matches are not checked. */
export function pointDiagnostics({
  human_intervention_points: points,
  tasks,
}: Pick<ExecutionPlan, "human_intervention_points" | "tasks">): PointDiagnostic[] {
  return points.flatMap((point): PointDiagnostic[] => {
    if (slug(point) === ON_ERROR) return [];
    const read = POINT.exec(point.trim());
    if (!read || slug(read[2] ?? "") === "") return [{ point, isUnknown: true }];
    return tasks.length > 0 && tasksMeant(read[2] ?? "", tasks).length === 0
      ? [{ point, isUnknown: false }]
      : [];
  });
}

/** A diagnostic of an intervention point as a message, with its fix. */
export const pointDiagnosticText = ({ point, isUnknown }: PointDiagnostic): string =>
  isUnknown
    ? `Intervention point “${point}” never applies. Use before_ or after_ with a task's ID, tag or title, or on_error.`
    : `Intervention point “${point}” matches no task's ID, tag or title. Tag the intended task.`;

function tasksMeant(name: string, tasks: readonly Task[]): Task[] {
  const wanted = slug(name);
  const named = tasks.filter(({ task_id, description, metadata }) =>
    [task_id, description, ...(metadata.tags ?? [])].some((own) => slug(own) === wanted),
  );
  if (named.length > 0) return named;
  const terms = termsIn(name);
  return tasks.filter(({ task_id, description, metadata }) => {
    const title = (description.split("\n")[0] ?? "").slice(0, TITLE);
    const own = [task_id, title, ...(metadata.tags ?? [])].flatMap(termsIn);
    return terms.length > 0 && terms.every((word) => own.some((other) => isSameWord(word, other)));
  });
}
