import { brief, type Detector, type Finding, named, of, placeOf } from "./finding";

/** A task went to a member of another role than it asks for, or who said that it cannot be done. */
export const wrongWorker: Detector = ({ events, activations, state }) => {
  const found: Finding[] = [];
  for (const event of of(events, "agent_finished"))
    if (event.payload.status === "rejected")
      found.push({
        kind: "wrong_worker",
        ...placeOf(event),
        said: `${named(event.agent_id)} rejected its task as impossible.`,
        advice: "Check its prompt. Assign the task to another role, or provide what is missing.",
      });
  for (const [id, own] of activations) {
    const tasks = new Map((state.plans[id]?.tasks ?? []).map((task) => [task.task_id, task]));
    const roleOf = new Map(state.crews[id]?.members.map((member) => [member.agent_id, member.role_name]));
    for (const event of of(own, "task_status_changed")) {
      const { to, assigned_agent } = event.payload;
      const task = tasks.get(event.task_id ?? "");
      const role = roleOf.get(assigned_agent ?? "");
      if (to !== "in_progress" || !task?.required_role || role === undefined || role === task.required_role)
        continue;
      // No member has that role, or the plan assigns the task explicitly: both are intended by the workflow.
      if (task.assigned_agent === assigned_agent && ![...roleOf.values()].includes(task.required_role))
        continue;
      found.push({
        kind: "wrong_worker",
        ...placeOf(event),
        agent_id: assigned_agent ?? "",
        said: `“${brief(task.description, 80)}” needs the role ${task.required_role}, but ${named(assigned_agent)} (${role}) did it.`,
        advice: "Assign the task to that role, or to a member that has it.",
      });
    }
  }
  return found;
};
