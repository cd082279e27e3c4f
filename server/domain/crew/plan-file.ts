import type { ExecutionPlan } from "./plan";

/** Max characters of a task's result in the file, as JSON. Longer results are left out. */
const LONGEST_RESULT = 1000;

/** Path of a crew's plan among its run's files; without a folder if the workflow has only one crew. */
export const planPath = (nodeId: string, isOnlyCrew: boolean): string =>
  isOnlyCrew ? "plan.json" : `${nodeId}/plan.json`;

/** Whether a file is called as plans are. */
export const isPlanFile = (path: unknown): boolean =>
  typeof path === "string" && (path === "plan.json" || path.endsWith("/plan.json"));

/** A path as two writings of it are compared. */
const plainPath = (path: string) =>
  path
    .normalize("NFC")
    .replace(/\/{2,}/g, "/")
    .replace(/^(?:\.\/)+/, "");

/** Whether a path is that of a plan's file, however it is written. */
export const isPlanPath = (path: unknown, plans: readonly string[]): boolean =>
  typeof path === "string" && plans.includes(plainPath(path));

/** plan.json as shown in the workspace: the current plan without long results. */
export function planText(plan: ExecutionPlan): string {
  const tasks = plan.tasks.map((task) => {
    const { output, ...rest } = task;
    const chars = output === undefined ? 0 : JSON.stringify(output).length;
    return chars > LONGEST_RESULT ? { ...rest, metadata: { ...rest.metadata, output_chars: chars } } : task;
  });
  return JSON.stringify({ ...plan, tasks }, null, 2);
}
