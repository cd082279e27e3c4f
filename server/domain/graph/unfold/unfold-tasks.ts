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
  // With the tasks where groups bring their work together.
  const { plan, diagnostics } = startingPlan(freshPlan(written), crew);
  for (const diagnostic of diagnostics)
    drawn.findings.changed("crew.collaboration_patterns", syncDiagnosticText(diagnostic));
  const order = inOrder(plan.tasks);
  const keys = new Map(order.map(({ task_id }) => [task_id, drawn.key(task_id)]));
  const ids = new Map<string, string>();
  for (const [at, task] of order.entries()) {
    const before = order[at - 1];
    const reads =
      task.dependencies.length > 0
        ? task.dependencies
        : crew.process === "sequential" && before
          ? [before.task_id]
          : [];
    const key = must(keys, task.task_id);
    const agent = agentOf(drawn, task);
    const id = drawn.task(task.task_id, agent, task.required_role ?? task.assigned_agent ?? "", {
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
    const node = must(drawn.added, id);
    drawn.added.set(id, {
      ...node,
      name: (task.description.split("\n")[0] ?? "").slice(0, 60),
    });
    const after = crew.process === "sequential" ? (before ? [before.task_id] : []) : task.dependencies;
    if (after.length === 0) drawn.first.push(id);
    for (const other of after) {
      const from = ids.get(other);
      if (from) drawn.connect(from, id);
    }
    if (task.condition && key !== task.task_id)
      drawn.findings.changed(
        `plan.tasks.${at}.condition`,
        `Its result is now called "${key}"; look at conditions.`,
      );
    if (task.human_review)
      drawn.findings.dropped(
        `plan.tasks.${at}.human_review`,
        `Nobody is asked to look at the result of "${task.task_id}".`,
      );
  }
  if (plan.human_intervention_points.length > 0 || plan.execution_mode !== "autonomous")
    drawn.findings.dropped("plan.execution_mode", "Nobody is asked before or after a task any more.");
  if (plan.success_criteria.length > 0)
    drawn.findings.dropped(
      "plan.success_criteria",
      "The success criteria are not checked at the end any more.",
    );
  if (crew.on_task_failure !== "stop")
    drawn.findings.changed(
      "crew.on_task_failure",
      "A task that fails ends the run, unless you set another way under “When it fails”.",
    );
  const sinks = crew.process === "sequential" ? order.slice(-1) : lastTasks(order);
  const shown = sinks.map(({ task_id }) => [task_id, must(keys, task_id)] as const);
  const whole =
    shown.length === 1
      ? orElse(must(shown, 0)[1])
      : `{${shown.map(([id, key]) => `${keyOf(id)}: ${orElse(key)}`).join(", ")}}`;
  const set = Object.fromEntries(
    drawn.node.output_keys.map((output) => [
      output,
      keys.has(output) &&
      (drawn.node.output_keys.length > 1 || sinks.some(({ task_id }) => task_id === output))
        ? orElse(must(keys, output))
        : whole,
    ]),
  );
  const over = drawn.results("Result", set);
  for (const { task_id } of sinks) drawn.connect(must(ids, task_id), over);
}

function agentOf(drawn: Unfolded, task: Task): AgentConfig | undefined {
  const { agents } = drawn.crew;
  const wanted = task.assigned_agent ?? undefined;
  const named = agents.find(({ agent_id }) => agent_id === wanted);
  if (named) return named;
  const role = task.required_role ?? wanted;
  const fitting = agents.filter(({ role_name }) => role_name === role);
  if (fitting.length > 1)
    drawn.findings.changed(
      `plan.tasks.${task.task_id}`,
      `"${task.task_id}" is for any of ${fitting.map(({ agent_id }) => agent_id).join(", ")}; ${must(fitting, 0).agent_id} does it now.`,
    );
  if (fitting.length === 0)
    drawn.findings.changed(
      `plan.tasks.${task.task_id}`,
      `Nobody in the crew is "${role ?? "?"}"; choose a role for it.`,
    );
  return fitting[0];
}
