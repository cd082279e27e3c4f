import { defined } from "@/server/domain/base/defined";
import type { PlanEvents } from "../events/crew-events";
import type { Handlers } from "./handlers";
import { setTask } from "./patch";

export const plans: Handlers<keyof PlanEvents> = {
  plan_created(s, event) {
    s.plans[event.activation_id ?? ""] = event.payload.plan;
  },
  plan_changed(s, event) {
    const id = event.activation_id ?? "";
    const plan = s.plans[id];
    const { version, added, changed } = event.payload;
    s.plan_changes[id] = [...(s.plan_changes[id] ?? []), event.payload];
    if (plan)
      s.plans[id] = {
        ...plan,
        version,
        tasks: [...plan.tasks, ...(added ?? [])].map((task) => ({ ...task, ...changed?.[task.task_id] })),
      };
  },
  task_status_changed(s, event) {
    const id = event.activation_id ?? "";
    const plan = s.plans[id];
    const { to, assigned_agent, output, error } = event.payload;
    const at = new Date(event.ts).toISOString();
    if (plan && plan.overall_status === "pending" && to === "in_progress")
      s.plans[id] = { ...plan, overall_status: "in_progress" };
    setTask(s, event, ({ metadata }) => ({
      status: to,
      metadata: {
        ...metadata,
        ...defined({
          started_at: to === "in_progress" ? (metadata.started_at ?? at) : undefined,
          completed_at: to === "completed" ? at : undefined,
        }),
      },
      ...defined({
        assigned_agent: assigned_agent || undefined,
        output,
        error_message: error ? error.message : undefined,
      }),
    }));
  },
  criterion_checked(s, event) {
    const id = event.activation_id ?? "";
    s.criteria[id] = [...(s.criteria[id] ?? []), event.payload];
  },
};
