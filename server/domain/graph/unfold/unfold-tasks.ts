import type { AgentConfig } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { must } from "@/server/domain/base/must";
import type { ExecutionPlan, Task } from "@/server/domain/crew/plan";
import { freshPlan, inOrder, lastTasks, startingPlan } from "@/server/domain/crew/starting-plan";
import { syncDiagnosticText } from "@/server/domain/crew/sync-points";
import { asTemplate } from "@/server/domain/text/template/template";
import { keyOf, orElse, type Unfolded } from "./unfolded";

/** The tasks of a written plan, each after those that it depends on. */
export function drawTasks(drawn: Unfolded, written: ExecutionPlan): void {
  const { crew } = drawn;
  // Includes the tasks in which groups combine their results.
  const { plan, diagnostics } = startingPlan(freshPlan(written), crew);
  for (const diagnostic of diagnostics)
    drawn.findings.changed("crew.collaboration_patterns", syncDiagnosticText(diagnostic));
  const order = inOrder(plan.tasks);
  const keys = new Map(order.map(({ task_id }) => [task_id, drawn.key(task_id)]));
  const ids = new Map<string, string>();
  for (const [at, task] of order.entries()) {
    const before = order[at - 1];
    const previous = crew.process === "sequential" && before ? [before.task_id] : [];
    const reads = task.dependencies.length > 0 ? task.dependencies : previous;
    const key = must(keys, task.task_id);
    const id = drawn.task(task.task_id, agentOf(drawn, task), roleOf(task) ?? "", {
      task: asTemplate(task.description),
      key,
      reads: reads.flatMap((other) => keys.get(other) ?? []),
      schema: {
        type: "object",
        properties: { [key]: task.output_schema ?? { type: "string" } },
        required: [key],
      },
      ...defined({ when: task.condition || undefined }),
      expected_output: task.expected_output,
      guardrails: task.guardrails,
    });
    ids.set(task.task_id, id);
    const name = task.description.replace(/\n.*/s, "").slice(0, 60);
    drawn.added.set(id, { ...must(drawn.added, id), name });
    const after = crew.process === "sequential" ? previous : task.dependencies;
    if (after.length === 0) drawn.first.push(id);
    for (const other of after) {
      const from = ids.get(other);
      if (from) drawn.connect(from, id);
    }
    reportTask(drawn, task, at, key);
  }
  reportLosses(drawn, plan);
  const sinks = crew.process === "sequential" ? order.slice(-1) : lastTasks(order);
  const over = drawn.results("Result", outputsOf(drawn.node.output_keys, sinks, keys));
  for (const { task_id } of sinks) drawn.connect(must(ids, task_id), over);
}

function reportTask({ findings }: Unfolded, task: Task, at: number, key: string): void {
  if (task.condition && key !== task.task_id)
    findings.changed(
      `plan.tasks.${at}.condition`,
      `The result of "${task.task_id}" is now in "${key}". Check the conditions that use it.`,
    );
  if (task.human_review)
    findings.dropped(
      `plan.tasks.${at}.human_review`,
      `A person no longer reviews the result of "${task.task_id}".`,
    );
}

/** What nodes can't do as the crew did with this plan. */
function reportLosses({ crew, findings }: Unfolded, plan: ExecutionPlan): void {
  if (plan.human_intervention_points.length > 0 || plan.execution_mode !== "autonomous")
    findings.dropped("plan.execution_mode", "People are no longer asked before or after tasks.");
  if (plan.success_criteria.length > 0)
    findings.dropped("plan.success_criteria", "The success criteria are no longer checked at the end.");
  if (crew.on_task_failure !== "stop")
    findings.changed(
      "crew.on_task_failure",
      "A failed task now ends the run. You can change this under “Error handling”.",
    );
}

/** The value of each output key: the result of the task of that name, or the results of the last tasks. */
function outputsOf(
  outputs: readonly string[],
  sinks: readonly Task[],
  keys: ReadonlyMap<string, string>,
): Record<string, string> {
  const shown = sinks.map(({ task_id }) => [task_id, must(keys, task_id)] as const);
  const whole =
    shown.length === 1
      ? orElse(must(shown, 0)[1])
      : `{${shown.map(([id, key]) => `${keyOf(id)}: ${orElse(key)}`).join(", ")}}`;
  const isOwn = (output: string) =>
    keys.has(output) && (outputs.length > 1 || sinks.some(({ task_id }) => task_id === output));
  return Object.fromEntries(
    outputs.map((output) => [output, isOwn(output) ? orElse(must(keys, output)) : whole]),
  );
}

const roleOf = ({ required_role, assigned_agent }: Task): string | undefined =>
  required_role ?? assigned_agent ?? undefined;

function agentOf(drawn: Unfolded, task: Task): AgentConfig | undefined {
  const { agents } = drawn.crew;
  const wanted = task.assigned_agent ?? undefined;
  const named = agents.find(({ agent_id }) => agent_id === wanted);
  if (named) return named;
  const role = roleOf(task);
  const fitting = agents.filter(({ role_name }) => role_name === role);
  if (fitting.length > 1)
    drawn.findings.changed(
      `plan.tasks.${task.task_id}`,
      `"${task.task_id}" could be assigned to any of ${fitting.map(({ agent_id }) => agent_id).join(", ")}. It is now assigned to ${must(fitting, 0).agent_id}.`,
    );
  if (fitting.length === 0)
    drawn.findings.changed(
      `plan.tasks.${task.task_id}`,
      `No crew member has the role "${role ?? "?"}". Choose a role for "${task.task_id}".`,
    );
  return fitting[0];
}
