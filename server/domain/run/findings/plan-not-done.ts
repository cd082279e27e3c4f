import { type Detector, of, placeOf } from "./finding";

const OPEN: ReadonlySet<string> = new Set(["pending", "in_progress", "failed", "blocked", "awaiting_human"]);

/** A crew reports that it is done although tasks of its plan are open or failed, and it didn't replan. */
export const planNotDone: Detector = ({ activations, state }) =>
  [...activations].flatMap(([id, own]) => {
    const end = of(own, "crew_finished").at(-1);
    const replanned = of(own, "plan_changed").at(-1)?.seq ?? 0;
    const isReplaced = (task: string) =>
      of(own, "task_status_changed").some(
        ({ seq, task_id, payload }) => seq < replanned && task_id === task && payload.to === "failed",
      );
    const open = (state.plans[id]?.tasks ?? []).filter(
      ({ task_id, status }) => OPEN.has(status) && !isReplaced(task_id),
    );
    if (end?.payload.status !== "completed" || open.length === 0) return [];
    const names = open.map(({ task_id, status }) => `${task_id} (${status.replaceAll("_", " ")})`);
    return [
      {
        kind: "plan_not_done",
        ...placeOf(end),
        said: `The crew completed, but its plan still has open tasks: ${names.join(", ")}.`,
        advice:
          "Find out why these tasks weren't completed. Let the crew replan when one fails, or remove them.",
      },
    ];
  });
