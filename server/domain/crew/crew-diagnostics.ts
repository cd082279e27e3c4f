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
    errors.push(error("E_CREW_PROCESS", "A crew with its own pattern needs the steps of that pattern."));
  if (crew.process === "hierarchical" && crew.agents.length < 2)
    errors.push(
      error("E_CREW_PROCESS", "A crew with a manager needs at least one more agent, who does the work."),
    );
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
        `This crew works "${titleOf(crew)}", where parallel groups do nothing: ${list(groups.map(({ name }) => name))}. Let it work in parallel, or take the groups out.`,
        { label: "Work in parallel", path: ["crew", "process"], value: "parallel" },
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
          `The group "${name}" names ${quoted(unknownAgents)}, and no agent of the crew is called so. Add the agent, or take the name out.`,
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
        `This crew works "${titleOf(crew)}", where the steps of "${name}" do nothing. Let it work by its steps, or take them out.`,
        { label: "Work by its steps", path: ["crew", "process"], value: "custom" },
      ),
    ];
  const errors = workflow.flatMap((step, at) =>
    stepDiagnostics(crew, workflow, step, [first.at, "workflow", at]),
  );
  if (others.length === 0) return errors;
  return [
    error(
      "E_PATTERN_NOT_FOLLOWED",
      `A crew follows one pattern, which is "${name}". Take out ${quoted(others.map(({ pattern }) => pattern.name))}, or give it a crew of its own.`,
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
      message: `The crew names ways of working together that are not known here, or not complete, and do nothing: ${list(unknown.map(nameOf))}. Write them as parallel groups or as steps.`,
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
          message: `The step "${step.step}" is for "${step.agent}", and no agent of the crew is called so. Add the agent, or give the step to another.`,
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
          message: `After "${outcome}" the step "${step.step}" leads to nobody: ${found.nobody}`,
          repair: {
            label: isBad ? "End as failed there" : "End there",
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
        message: `This crew plans its work first, so the ${plan.tasks.length} tasks here are not done; a planner writes others. Let it follow them, or take them out.`,
        repair: { label: "Follow these tasks", path: ["crew", "planning"], value: false },
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
    plan.tasks.length > 0 ? "its tasks" : "",
    plan.human_intervention_points.length > 0 || plan.execution_mode !== "autonomous"
      ? "the points where a person is asked"
      : "",
    plan.success_criteria.length > 0 ? "its criteria" : "",
  ].filter((part) => part !== "");
  return {
    severity: "error",
    code: "E_PLAN_NOT_FOLLOWED",
    message: `A crew that works "${CREW_PROCESSES[process].title.toLowerCase()}" follows no plan: ${list(lost)} would do nothing. Let it work by the plan, or take the plan out.`,
    repair: { label: "Work by the plan", path: ["crew", "process"], value: "sequential" },
  };
}

/** The warning about a plan that was begun, with what happens to its tasks. */
function begun(crew: CrewConfig, plan: ExecutionPlan): CrewDiagnostic[] {
  const found = resumedTasks(plan);
  if (!found) return [];
  const ids = (tasks: ExecutionPlan["tasks"]) => list(tasks.map(({ task_id }) => task_id));
  const missing = found.done.filter(({ status, output }) => status === "completed" && output === undefined);
  const failed = {
    stop: "is tried again",
    continue_independent: "stays failed",
    replan: "is planned anew",
    escalate: "is put to a person",
  }[crew.on_task_failure];
  return [
    {
      severity: "warning",
      code: "W_PLAN_BEGUN",
      message: [
        "This plan was begun, and every run goes on from there:",
        found.done.length > 0 ? ` ${ids(found.done)} ${are(found.done)} not done again;` : "",
        missing.length > 0 ? ` of ${ids(missing)} the plan has no result to pass on;` : "",
        found.again.length > 0 ? ` ${ids(found.again)} ${are(found.again)} done from the beginning;` : "",
        found.failed.length > 0 ? ` what failed (${ids(found.failed)}) ${failed};` : "",
      ]
        .join("")
        .replace(/;$/, "."),
      repair: { label: "Do all of it anew", path: ["plan"], value: asJson(freshPlan(plan)) },
    },
  ];
}

const are = (some: readonly unknown[]) => (some.length === 1 ? "is" : "are");
