import { brief, type Detector, type Finding, type Looked, of, placeOf } from "./finding";

/** A crew ended as done although its plan names criteria that were never checked. */
export const notVerified: Detector = (run) =>
  crewsDone(run).flatMap(({ own, end, plan }) => {
    const checked = new Set(of(own, "criterion_checked").map(({ payload }) => payload.criterion));
    const open = plan.success_criteria.filter((criterion) => !checked.has(criterion));
    return open.length === 0
      ? []
      : [
          {
            kind: "not_verified",
            ...placeOf(end),
            said: `The crew finished without checking: ${open.map((one) => `“${brief(one, 80)}”`).join(", ")}.`,
            advice:
              "Add a step that checks these criteria before the end, or remove those that don't matter.",
          },
        ];
  });

/** The criteria were checked, and work that belongs to the result was finished only afterwards. */
export const verifiedTooEarly: Detector = (run) =>
  crewsDone(run).flatMap(({ own }) => {
    const check = of(own, "criterion_checked")[0];
    const later =
      check &&
      of(own, "task_status_changed").find(
        ({ seq, payload }) => seq > check.seq && payload.to === "completed",
      );
    const again = later && of(own, "criterion_checked").some(({ seq }) => seq > later.seq);
    return check && later && !again
      ? [
          {
            kind: "verified_too_early",
            ...placeOf(check),
            said: `The result was checked before ${later.task_id ?? "the last task"} finished, and not again afterwards.`,
            advice: "Check after the last task that changes the result.",
          },
        ]
      : [];
  });

/** A criterion wasn't met or a guardrail failed, and the work continued as if it had passed. */
export const checkPassedOver: Detector = (run) => {
  const found: Finding[] = crewsDone(run).flatMap(({ own }) => {
    const newest = new Map(of(own, "criterion_checked").map((event) => [event.payload.criterion, event]));
    return [...newest.values()].flatMap((event) =>
      event.payload.met
        ? []
        : [
            {
              kind: "check_passed_over" as const,
              ...placeOf(event),
              said: `“${brief(event.payload.criterion, 80)}” was not met, but the crew completed anyway.${event.payload.evidence ? ` ${brief(event.payload.evidence, 200)}` : ""}`,
              advice: "Route the result back to someone who can fix it, or let a person decide.",
            },
          ],
    );
  });
  for (const event of of(run.events, "guardrail_checked")) {
    const { ok, action, name, reason } = event.payload;
    if (!ok && action === "warn")
      found.push({
        kind: "check_passed_over",
        ...placeOf(event),
        said: `The guardrail "${name}" failed, but only warns.${reason ? ` ${brief(reason, 200)}` : ""}`,
        advice: "If it matters, let the guardrail retry or ask a person.",
      });
  }
  return found;
};

/** Crews that ended as done, with their plans. */
function crewsDone({ activations, state }: Looked) {
  return [...activations].flatMap(([id, own]) => {
    const end = of(own, "crew_finished").at(-1);
    const plan = state.plans[id];
    return end?.payload.status === "completed" && plan ? [{ own, end, plan }] : [];
  });
}
