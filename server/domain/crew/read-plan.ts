import {
  cleanCopy,
  type Finding,
  Findings,
  isRaw,
  type Raw,
  readLeniently,
  renameField,
  unwrapText,
  withoutNulls,
} from "@/server/domain/base/lenient-reader";
import { ExecutionPlan } from "./plan";

/** Reads a plan.json that is parsed already, as other planners write it too. Null: an error among the findings says why not. */
export function readPlan(source: Raw, findings: Findings): ExecutionPlan | null {
  if (!Array.isArray(source.tasks)) {
    findings.error("tasks", "Not a plan: the list of tasks is missing.");
    return null;
  }
  const plan = readLeniently(ExecutionPlan, { ...source, tasks: source.tasks.map(readTask) }, "", findings);
  if (!plan) {
    findings.error("tasks", "Can't read the plan.");
    return null;
  }
  if (plan.tasks.length === 0) {
    findings.error("tasks", "The plan has no tasks.");
    return null;
  }
  return plan;
}

/** Reads the text of a plan.json. */
export function readPlanText(text: string): { plan: ExecutionPlan | null; findings: Finding[] } {
  const findings = new Findings();
  const nothing = (message: string) => {
    findings.error("", message);
    return { plan: null, findings: findings.all() };
  };
  let value: unknown;
  try {
    value = JSON.parse(unwrapText(text));
  } catch {
    return nothing("Invalid JSON.");
  }
  const copy = cleanCopy(value, findings);
  if (!copy) return nothing("The file is nested too deeply to be a plan.");
  if (!isRaw(copy.value)) return nothing("Not a plan. Expected a JSON object with tasks.");
  const plan = readPlan(copy.value, findings);
  return { plan, findings: findings.all() };
}

/** Other planners call a task's id `id` and number it. */
function readTask(value: unknown): unknown {
  if (!isRaw(value)) return value;
  const raw = withoutNulls(value);
  renameField(raw, ["task_id", "id"]);
  const id = (other: unknown) => (typeof other === "number" ? `task_${other}` : other);
  raw.task_id = id(raw.task_id);
  if (Array.isArray(raw.dependencies)) raw.dependencies = raw.dependencies.map(id);
  return raw;
}
