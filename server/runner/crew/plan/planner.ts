import { z } from "zod";
import type { RunError } from "@/server/domain/agent/outcome";
import type { AgentConfig } from "@/server/domain/agent/role";
import type { Flow } from "@/server/domain/base/durable";
import { isRaw, withoutNulls } from "@/server/domain/base/lenient-reader";
import type { Json, JsonSchema } from "@/server/domain/base/values";
import type { CrewConfig } from "@/server/domain/crew/crew";
import { leaderOf } from "@/server/domain/crew/leader";
import { parallelGroups } from "@/server/domain/crew/pattern";
import { ExecutionPlan, planErrors, Task } from "@/server/domain/crew/plan";
import { syncDiagnosticText, withSyncPoints } from "@/server/domain/crew/sync-points";
import type { Crew } from "../crew";

/** Lets the crew's planner write a plan whose tasks the other roles can do. */
export function* writePlan(crew: Crew): Flow<{ plan: ExecutionPlan; by: string }> {
  const planner = leaderOf(crew.config);
  const roles = workersOf(crew, planner);
  const answer = yield* crew.work(planner, {
    purpose: "plan",
    may_use_tools: false,
    task: `Write a plan that reaches the goal.\nFirst state in parsed_intent what the goal asks for and how complex it is: ${sizes}. Divide it into tasks accordingly. Assign each task to exactly one of these roles: ${roles.join(", ")}.\nA task can depend on earlier tasks by their task_id; whoever does it sees the goal, the inputs, the plan and the results of these tasks, nothing else. Leave out priority, estimated_duration and tags, unless they are asked for. Use at most 8 tasks.${wishes(crew)}`,
    output_keys: [],
    answer_schema: planSchema(roles, { parsed_intent: INTENT, success_criteria: CRITERIA }),
    check: (value) => validatePlan(crew, value),
    ...managerModel(crew.config),
  });
  return {
    plan: ExecutionPlan.parse({ user_instruction: crew.goal, ...asPlan(answer.output) }),
    by: planner.agent_id,
  };
}

/** What the crew and its people expect of a plan: tags where groups meet, and tasks that their points mean. */
function wishes({ config, request }: Crew): string {
  const points = parallelGroups(config.collaboration_patterns).flatMap(({ sync_points }) => sync_points);
  const asked = (request.plan?.human_intervention_points ?? []).filter((point) => !/^on_error$/i.test(point));
  return [
    points.length > 0
      ? `\nResults are combined at these points; tag each task that contributes to one with its name: ${points.join(", ")}.`
      : "",
    asked.length > 0
      ? `\nA person is asked at these points: ${asked.join(", ")}. Tag the task that each refers to with its name.`
      : "",
  ].join("");
}

/** What a planner wrote, as a plan has it: tags are among a task's metadata. */
function asPlan(value: Json): { tasks?: unknown; parsed_intent?: unknown } {
  if (!isRaw(value)) return {};
  const plan = withoutNulls(value);
  if (!Array.isArray(plan.tasks)) return plan;
  return {
    ...plan,
    tasks: plan.tasks.map((task: unknown) => {
      if (!isRaw(task)) return task;
      const { tags, ...rest } = withoutNulls(task);
      return tags === undefined ? rest : { ...rest, metadata: { tags } };
    }),
  };
}

/** Lets the planner replace what is left of the plan after a task failed; false if it sees no way. */
export function* replan(
  crew: Crew,
  failed: string,
  error: RunError,
  outputs: Readonly<Record<string, Json>>,
): Flow<boolean> {
  const { plan } = crew;
  if (!plan) return false;
  const planner = leaderOf(crew.config);
  const roles = workersOf(crew, planner);
  const isOpen = ({ status }: Task) => status === "pending" || status === "blocked";
  const kept = plan.tasks.filter((task) => !isOpen(task));
  const ids = new Set(kept.map(({ task_id }) => task_id));
  const fits = (value: Json): string[] => {
    const read = Task.array().safeParse(asPlan(value).tasks);
    if (!read.success) return read.error.issues.slice(0, 5).map(({ message }) => message);
    const doubled = read.data.filter(({ task_id }) => ids.has(task_id));
    if (doubled.length > 0) return doubled.map(({ task_id }) => `"${task_id}" is taken; use a new task_id.`);
    const lost = read.data.filter(({ dependencies }) => dependencies.includes(failed));
    if (lost.length > 0) return [`No new task may depend on "${failed}", which failed.`];
    return [
      ...planErrors([...kept, ...read.data]).map(({ message }) => message),
      ...takenIds(crew, read.data),
    ];
  };
  const version = plan.version + 1;
  const answer = yield* crew.work(planner, {
    task_id: crew.idBesideTasks(`replan-${version}`),
    purpose: "plan",
    may_use_tools: false,
    task: `The task "${failed}" failed:\n${crew.fences.fence("failure", error.message)}\nThe plan is in crew_status. Replace the unfinished tasks with tasks that reach the goal another way. Assign each task to exactly one of these roles: ${roles.join(", ")}.\nNew tasks need new ids and may depend on completed tasks. Use at most 8 tasks.`,
    output_keys: [],
    answer_schema: planSchema(roles),
    check: fits,
    inputs: { completed: Object.keys(outputs) },
    ...managerModel(crew.config),
  });
  const added = Task.array().parse(asPlan(answer.output).tasks);
  const changed = Object.fromEntries(
    plan.tasks.filter(isOpen).map(({ task_id }) => [task_id, { status: "cancelled" as const }]),
  );
  crew.run.emit({
    type: "plan_changed",
    agent_id: planner.agent_id,
    payload: { version, by: planner.agent_id, added, changed, reason: error.message },
  });
  return true;
}

/** The roles that can get tasks; the team's description says what each is for. */
function workersOf(crew: Crew, planner: AgentConfig): string[] {
  const others = crew.config.agents.filter((agent) => agent !== planner);
  const workers = others.length > 0 ? others : [planner];
  return [...new Set(workers.map(({ role_name }) => role_name))];
}

const managerModel = ({ manager }: CrewConfig) =>
  manager?.llm_config ? { llm_config: manager.llm_config } : {};

/** How many tasks a goal of each complexity is divided into, at most. */
const MOST_TASKS = { simple: 2, moderate: 5, complex: 8 } as const;
const Complexity = z.enum(["simple", "moderate", "complex"]);
const sizes = Object.entries(MOST_TASKS)
  .map(([complexity, most]) => `${complexity} (at most ${most} tasks)`)
  .join(", ");

const INTENT: JsonSchema = {
  type: "object",
  properties: {
    goal: { type: "string", description: "What the goal asks for, in one sentence" },
    complexity: { type: "string", enum: [...Complexity.options] },
  },
  required: ["goal", "complexity"],
  additionalProperties: false,
};

const planSchema = (roles: readonly string[], more: Record<string, JsonSchema> = {}): JsonSchema => ({
  type: "object",
  properties: {
    ...more,
    tasks: {
      type: "array",
      minItems: 1,
      maxItems: 8,
      items: {
        type: "object",
        properties: {
          task_id: { type: "string", pattern: "^[A-Za-z_][A-Za-z0-9_]{0,40}$" },
          description: { type: "string", minLength: 1 },
          required_role: { type: "string", enum: [...roles] },
          dependencies: { type: "array", items: { type: "string" } },
          expected_output: { type: "string" },
          priority: { type: "string", enum: ["low", "medium", "high", "critical"] },
          estimated_duration: {
            type: "string",
            pattern: "^\\d+(\\.\\d+)?(s|m|h|d)$",
            description: "Estimated duration, such as 15m or 2h",
          },
          tags: { type: "array", items: { type: "string" }, maxItems: 8 },
        },
        required: ["task_id", "description", "required_role", "dependencies", "expected_output"],
        additionalProperties: false,
      },
    },
  },
  required: ["tasks"],
  additionalProperties: false,
});

const CRITERIA: JsonSchema = {
  type: "array",
  description: "How to tell at the end that the goal is reached; empty if the goal does not say",
  items: { type: "string" },
  maxItems: 5,
};

/** Ids of tasks that would hide what the crew was given under the same name. */
const takenIds = ({ run }: Crew, tasks: readonly Task[]): string[] =>
  tasks.flatMap(({ task_id }) =>
    Object.hasOwn(run.input, task_id) ? [`"${task_id}" is the name of an input; use another task_id.`] : [],
  );

function validatePlan(crew: Crew, value: Json): string[] {
  const result = ExecutionPlan.safeParse(asPlan(value));
  if (!result.success)
    return result.error.issues.slice(0, 5).map(({ path, message }) => `${path.join(".")}: ${message}`);
  const { tasks, parsed_intent } = result.data;
  const complexity = Complexity.safeParse(parsed_intent?.complexity).data;
  const most = complexity && MOST_TASKS[complexity];
  const errors = [
    ...takenIds(crew, tasks),
    ...withSyncPoints(tasks, crew.config).diagnostics.flatMap((diagnostic) =>
      diagnostic.kind === "circle" ? [syncDiagnosticText(diagnostic)] : [],
    ),
  ];
  if (errors.length > 0) return errors;
  return most !== undefined && tasks.length > most
    ? [
        `A ${complexity} goal allows at most ${most} tasks, and these are ${tasks.length}. Combine some of them, or rate the goal as more complex.`,
      ]
    : [];
}
