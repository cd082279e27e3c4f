import { defined } from "@/server/domain/base/defined";
import { asJson } from "@/server/domain/base/json";
import type { Json } from "@/server/domain/base/values";
import { escalationError } from "@/server/domain/tool/escalation";
import type { CrewConfig } from "./crew";
import { pointDiagnostics, pointDiagnosticText } from "./intervention";
import { memberNamed } from "./member";
import {
  CustomPattern,
  END_TARGETS,
  outcomesOf,
  ParallelPattern,
  type PatternStep,
  targetOf,
} from "./pattern";
import type { ExecutionPlan } from "./plan";
import { CREW_PROCESSES } from "./processes";
import { freshPlan, resumedTasks, startingPlan } from "./starting-plan";
import { syncDiagnosticText } from "./sync-points";

/** A setting of a crew or its plan that has no effect. Errors keep the crew from working. */
export interface CrewDiagnostic {
  severity: "error" | "warning";
  code: string;
  message: string;
  /** The fix: a value at a path of the node's settings, `["crew", …]` or `["plan", …]`. */
  repair?: { label: string; path: (string | number)[]; value: Json };
}

const followsPlans = ({ process }: CrewConfig) => process === "sequential" || process === "parallel";
const quoted = (items: readonly string[]) => items.map((word) => `"${word}"`).join(", ");
const list = (items: readonly string[]) => items.join(", ");

/** The settings that keep a crew from working as written, in any kind of node. */
export function crewDiagnostics(crew: CrewConfig): CrewDiagnostic[] {
  return [...processErrors(crew), ...groupErrors(crew), ...stepErrors(crew), ...unknownPatterns(crew)];
}

const error = (code: string, message: string, repair?: CrewDiagnostic["repair"]): CrewDiagnostic => ({
  severity: "error",
  code,
  message,
  ...defined({ repair }),
});

const titleOf = ({ process }: CrewConfig) => CREW_PROCESSES[process].title.toLowerCase();

/** The patterns that are written as steps, with their places among all patterns. */
const customsOf = ({ collaboration_patterns }: CrewConfig) =>
  collaboration_patterns.flatMap((pattern, at) => {
    const read = CustomPattern.safeParse(pattern);
    return read.success ? [{ at, pattern: read.data }] : [];
  });

function processErrors(crew: CrewConfig): CrewDiagnostic[] {
  const errors: CrewDiagnostic[] = [];
  if (crew.process === "custom" && customsOf(crew).length === 0)
    errors.push(error("E_CREW_PROCESS", "A crew with custom steps needs at least one step."));
  if (crew.process === "hierarchical" && crew.agents.length < 2)
    errors.push(error("E_CREW_PROCESS", "A hierarchical crew needs at least one agent besides the manager."));
  const unasked = escalationError(crew.questions ?? {});
  if (unasked !== null) errors.push(error("E_CREW_QUESTIONS", unasked));
  return errors;
}

function groupErrors(crew: CrewConfig): CrewDiagnostic[] {
  const errors: CrewDiagnostic[] = [];
  const groups = crew.collaboration_patterns.flatMap(
    (pattern) => ParallelPattern.safeParse(pattern).data?.parallel_groups ?? [],
  );
  if (groups.length > 0 && !followsPlans(crew))
    errors.push(
      error(
        "E_PATTERN_NOT_FOLLOWED",
        `The process “${titleOf(crew)}” ignores parallel groups: ${list(groups.map(({ name }) => name))}. Switch to parallel, or remove the groups.`,
        { label: "Run in parallel", path: ["crew", "process"], value: "parallel" },
      ),
    );
  for (const { name, agents, coordination_agent } of groups) {
    const unknownAgents = [...agents, ...(coordination_agent ? [coordination_agent] : [])].filter(
      (id) => !crew.agents.some(({ agent_id }) => agent_id === id),
    );
    if (unknownAgents.length > 0)
      errors.push(
        error(
          "E_PATTERN_AGENT",
          `Group “${name}” has unknown agents: ${quoted(unknownAgents)}. Add them to the crew, or remove the names.`,
        ),
      );
  }
  return errors;
}

function stepErrors(crew: CrewConfig): CrewDiagnostic[] {
  const [first, ...others] = customsOf(crew);
  if (!first) return [];
  const { name, workflow } = first.pattern;
  if (crew.process !== "custom")
    return [
      error(
        "E_PATTERN_NOT_FOLLOWED",
        `The process “${titleOf(crew)}” ignores the steps of “${name}”. Switch to custom steps, or remove them.`,
        { label: "Use custom steps", path: ["crew", "process"], value: "custom" },
      ),
    ];
  const errors = workflow.flatMap((step, at) =>
    stepDiagnostics(crew, workflow, step, [first.at, "workflow", at]),
  );
  if (others.length === 0) return errors;
  return [
    error(
      "E_PATTERN_NOT_FOLLOWED",
      `A crew can follow only one pattern: "${name}". Remove ${quoted(others.map(({ pattern }) => pattern.name))}, or move ${others.length === 1 ? "it" : "them"} to another crew.`,
      {
        label: `Keep only "${name}"`,
        path: ["crew", "collaboration_patterns"],
        value: crew.collaboration_patterns.filter((_, at) => !others.some((other) => other.at === at)),
      },
    ),
    ...errors,
  ];
}

function unknownPatterns({ collaboration_patterns }: CrewConfig): CrewDiagnostic[] {
  const unknown = collaboration_patterns.filter(
    (pattern) => !ParallelPattern.safeParse(pattern).success && !CustomPattern.safeParse(pattern).success,
  );
  if (unknown.length === 0) return [];
  return [
    {
      severity: "warning",
      code: "W_PATTERN_UNKNOWN",
      message: `These collaboration patterns are unknown or incomplete and have no effect: ${list(unknown.map(nameOf))}. Rewrite them as parallel groups or steps.`,
    },
  ];
}

function nameOf(pattern: Json): string {
  const named = pattern !== null && typeof pattern === "object" && !Array.isArray(pattern) ? pattern : {};
  const name = named.name ?? named.type;
  return typeof name === "string" ? `"${name}"` : JSON.stringify(pattern).slice(0, 60);
}

/** A step whose agent or target doesn't exist. */
function stepDiagnostics(
  crew: CrewConfig,
  steps: readonly PatternStep[],
  step: PatternStep,
  place: (string | number)[],
): CrewDiagnostic[] {
  const unknownAgent: CrewDiagnostic[] = memberNamed(crew.agents, step.agent)
    ? []
    : [
        {
          severity: "error",
          code: "E_PATTERN_AGENT",
          message: `Step “${step.step}” is assigned to unknown agent “${step.agent}”. Add the agent to the crew, or assign another.`,
        },
      ];
  return [
    ...unknownAgent,
    ...outcomesOf(step).flatMap(({ key, outcome, target }): CrewDiagnostic[] => {
      const found = targetOf(target, steps);
      if (!("nobody" in found)) return [];
      const isBad = /fail|err|reject|no|bad|abort/i.test(outcome);
      return [
        {
          severity: "error",
          code: "E_PATTERN_TARGET",
          message: `Outcome “${outcome}” of step “${step.step}” has no valid target: ${found.nobody}`,
          repair: {
            label: isBad ? "End as failed" : "End as completed",
            path: ["crew", "collaboration_patterns", ...place, key],
            value: `${END_TARGETS[isBad ? "failed" : "completed"]}:${target}`,
          },
        },
      ];
    }),
  ];
}

/** The parts of a plan that have no effect in this crew. */
export function planDiagnostics(crew: CrewConfig, plan: ExecutionPlan): CrewDiagnostic[] {
  if (!followsPlans(crew)) return isEmptyPlan(plan) ? [] : [notFollowed(crew, plan)];
  const diagnostics: CrewDiagnostic[] = pointDiagnostics(crew.planning ? { ...plan, tasks: [] } : plan).map(
    (diagnostic) => ({
      severity: "warning",
      code: "W_POINT_UNMATCHED",
      message: pointDiagnosticText(diagnostic),
    }),
  );
  if (plan.tasks.length === 0) return diagnostics;
  if (crew.planning)
    return [
      ...diagnostics,
      {
        severity: "warning",
        code: "W_PLAN_REWRITTEN",
        message: `“Plan first” is on, so a planner replaces the ${plan.tasks.length} tasks here. Turn it off to use these tasks, or remove them.`,
        repair: { label: "Use these tasks", path: ["crew", "planning"], value: false },
      },
    ];
  const sync = startingPlan(plan, crew).diagnostics.map(
    (diagnostic): CrewDiagnostic => ({
      severity: diagnostic.kind === "circle" ? "error" : "warning",
      code: diagnostic.kind === "circle" ? "E_SYNC_CIRCLE" : "W_SYNC_POINT_EMPTY",
      message: syncDiagnosticText(diagnostic),
    }),
  );
  return [...sync, ...diagnostics, ...begun(crew, plan)];
}

/** Whether a plan has nothing that a crew could ignore. */
export const isEmptyPlan = (plan: ExecutionPlan): boolean =>
  plan.tasks.length === 0 &&
  plan.execution_mode === "autonomous" &&
  plan.human_intervention_points.length === 0 &&
  plan.success_criteria.length === 0;

function notFollowed({ process }: CrewConfig, plan: ExecutionPlan): CrewDiagnostic {
  const lost = [
    plan.tasks.length > 0 ? "tasks" : "",
    plan.human_intervention_points.length > 0 || plan.execution_mode !== "autonomous"
      ? "human intervention points"
      : "",
    plan.success_criteria.length > 0 ? "success criteria" : "",
  ].filter((part) => part !== "");
  return {
    severity: "error",
    code: "E_PLAN_NOT_FOLLOWED",
    message: `The process “${CREW_PROCESSES[process].title.toLowerCase()}” ignores plans, including this one's ${list(lost)}. Switch to sequential, or remove the plan.`,
    repair: { label: "Switch to sequential", path: ["crew", "process"], value: "sequential" },
  };
}

/** The warning about a plan that was begun, with what happens to its tasks. */
function begun(crew: CrewConfig, plan: ExecutionPlan): CrewDiagnostic[] {
  const found = resumedTasks(plan);
  if (!found) return [];
  const ids = (tasks: ExecutionPlan["tasks"]) => list(tasks.map(({ task_id }) => task_id));
  const missing = found.done.filter(({ status, output }) => status === "completed" && output === undefined);
  const failed = {
    stop: "are retried",
    continue_independent: "stay failed",
    replan: "are replanned",
    escalate: "are escalated to a person",
  }[crew.on_task_failure];
  return [
    {
      severity: "warning",
      code: "W_PLAN_BEGUN",
      message: [
        "This plan is partly done, and every run continues from there:",
        found.done.length > 0 ? ` ${ids(found.done)} ${are(found.done)} not repeated;` : "",
        missing.length > 0 ? ` the plan has no result for ${ids(missing)};` : "",
        found.again.length > 0 ? ` ${ids(found.again)} ${are(found.again)} restarted;` : "",
        found.failed.length > 0 ? ` failed tasks (${ids(found.failed)}) ${failed};` : "",
      ]
        .join("")
        .replace(/;$/, "."),
      repair: { label: "Reset plan", path: ["plan"], value: asJson(freshPlan(plan)) },
    },
  ];
}

const are = (some: readonly unknown[]) => (some.length === 1 ? "is" : "are");
