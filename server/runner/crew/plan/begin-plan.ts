import type { Flow } from "@/server/domain/base/durable";
import { present } from "@/server/domain/base/must";
import { pointDiagnostics, pointDiagnosticText } from "@/server/domain/crew/intervention";
import type { ExecutionPlan } from "@/server/domain/crew/plan";
import { startingPlan } from "@/server/domain/crew/starting-plan";
import { syncDiagnosticText } from "@/server/domain/crew/sync-points";
import { NodeFailure } from "@/server/domain/nodes";
import { askForCrew } from "../ask";
import type { Crew } from "../crew";
import { writePlan } from "./planner";

/** Gives the crew its plan: the workflow's own, or one that its planner writes. */
export function* beginPlan(crew: Crew): Flow<void> {
  const { run, config, request } = crew;
  const own = request.plan && !config.planning && request.plan.tasks.length > 0 ? request.plan : undefined;
  const written = own ? undefined : yield* writePlan(crew);
  const wanted = written ? { ...written.plan, ...settingsOf(request.plan, written.plan) } : own;
  const { plan, diagnostics } = startingPlan(present(wanted, "wanted"), config);
  run.emit({ type: "plan_created", payload: { plan, by: written?.by ?? "workflow" } });
  for (const diagnostic of diagnostics) {
    const text = syncDiagnosticText(diagnostic);
    if (diagnostic.kind === "circle") throw new NodeFailure("CONFIG", text, { user_action: "edit_graph" });
    run.warn("SYNC_POINT_EMPTY", text);
  }
  const missed = pointDiagnostics(plan).map(pointDiagnosticText);
  for (const text of missed) run.warn("POINT_UNMATCHED", text);
  // The author of a workflow's own plan has seen these diagnostics in the editor.
  if (written && missed.length > 0) yield* confirmPlan(crew, written.by, missed);
}

/** Asks a person whether to follow a plan that doesn't ask them where they wanted it. Throws if they decline. */
function* confirmPlan(crew: Crew, agent_id: string, missed: readonly string[]): Flow<void> {
  const answer = yield* askForCrew(crew, "plan/points", {
    about: { agent_id },
    kind: "review",
    title: "Skip the requested reviews?",
    why: missed.join(" "),
  });
  if (answer.answer === "approve" || answer.answer === "approve_always") return;
  throw new NodeFailure(
    answer.answer === "expired" ? "HUMAN_TIMEOUT" : "HUMAN_REJECTED",
    `${crew.name}'s plan was rejected${answer.message ? `: ${answer.message}` : "."}`,
  );
}

/** A plan's settings besides its tasks. What people wrote takes precedence over a planner's criteria. */
const settingsOf = (own: ExecutionPlan | undefined, written: ExecutionPlan) =>
  own && {
    execution_mode: own.execution_mode,
    human_intervention_points: own.human_intervention_points,
    success_criteria: own.success_criteria.length > 0 ? own.success_criteria : written.success_criteria,
  };
