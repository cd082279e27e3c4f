import type { AgentConfig } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { asJson, canonicalJson } from "@/server/domain/base/json";
import type { CrewConfig } from "./crew";
import type { CrewDiagnostic } from "./crew-diagnostics";
import { memberNamed } from "./member";
import { customPatterns, outcomesOf, type PatternStep, parallelGroups, targetOf } from "./pattern";
import type { ExecutionPlan, Task } from "./plan";
import { lastTasks } from "./starting-plan";

/*
 * What is known of crews that do not help: work that is one line loses by being shared out, errors multiply where nobody
 * brings the work together, a debate among copies of one model costs more than it brings, and whoever made something is
 * its worst judge. All of it is advice: the crew works as it is drawn.
 */

/** So many members work together without anybody who coordinates, at most. */
const MOST_UNLED = 4;
/** Fewer tasks are no matter of advice. */
const LEAST_TASKS = 3;
const VERIFIES = /\b(?:review|verif|check|test|audit|critici|proofread|approv|quality|qa|judge)/i;

/** What is known of roles beside their names. */
export interface RoleFacts {
  /** Tools with an external effect that can't be undone. */
  effects: readonly string[];
  /** It has guardrails of its own for its output. */
  isGuarded: boolean;
}

/** Advice on a crew and its plan; empty if there is none. */
export function crewAdvice(
  crew: CrewConfig,
  plan: ExecutionPlan | undefined,
  factsOf: (role: string) => RoleFacts,
): CrewDiagnostic[] {
  const tasks = followsPlans(crew) && !crew.planning ? (plan?.tasks ?? []) : [];
  return [
    ...oneLine(crew, tasks),
    ...sameVoters(crew),
    ...idleSamplers(crew),
    ...nobodyLeads(crew, plan, tasks),
    ...nobodyVerifies(crew, plan, tasks, factsOf),
    ...ownJudges(crew, tasks),
    ...noEnd(crew),
    ...sameEffect(crew, factsOf),
  ];
}

const followsPlans = ({ process }: CrewConfig) => process === "sequential" || process === "parallel";
const advice = (code: string, message: string, repair?: CrewDiagnostic["repair"]): CrewDiagnostic[] => [
  { severity: "warning", code, message, ...defined({ repair }) },
];
const list = (items: readonly string[]) => items.join(" and ");

/** Who does a task, where that is one agent. */
function workerOf({ agents }: CrewConfig, { assigned_agent, required_role }: Task): AgentConfig | undefined {
  const named = assigned_agent ? memberNamed(agents, assigned_agent) : undefined;
  const ofRole = agents.filter(({ role_name }) => role_name === required_role);
  return named ?? (ofRole.length === 1 ? ofRole[0] : undefined);
}

function oneLine(crew: CrewConfig, tasks: readonly Task[]): CrewDiagnostic[] {
  if (tasks.length < LEAST_TASKS || crew.agents.length < 2) return [];
  const depend = tasks.filter(({ dependencies }) => dependencies.length > 0);
  const isByOrder = depend.length === 0 && crew.process === "sequential";
  if (!isByOrder && !isChain(tasks)) return [];
  const why =
    "Crews help when work runs in parallel. When each step needs the previous one, a single agent does better, because every handoff loses information.";
  return isByOrder
    ? advice(
        "W_CREW_LINE",
        `These ${tasks.length} tasks run one after another, but none depends on another. ${why} Run independent tasks in parallel.`,
        { label: "Run in parallel", path: ["crew", "process"], value: "parallel" },
      )
    : advice(
        "W_CREW_LINE",
        `These ${tasks.length} tasks form a single chain. ${why} Remove dependencies where possible, or give all the work to one agent.`,
      );
}

/** Whether every task waits for all that came before, so that never two can be done at once. */
function isChain(tasks: readonly Task[]): boolean {
  const reach = new Map<string, Set<string>>();
  const ids = new Set(tasks.map(({ task_id }) => task_id));
  const below = (task: Task): Set<string> => {
    const known = reach.get(task.task_id);
    if (known) return known;
    const found = new Set<string>();
    reach.set(task.task_id, found);
    for (const id of task.dependencies) {
      const before = tasks.find(({ task_id }) => task_id === id);
      if (!before || !ids.has(id)) continue;
      found.add(id);
      for (const deeper of below(before)) found.add(deeper);
    }
    return found;
  };
  const depths = tasks.map((task) => below(task).size);
  return depths.toSorted((a, b) => a - b).every((depth, at) => depth === at);
}

function sameVoters({ process, agents }: CrewConfig): CrewDiagnostic[] {
  if (process !== "consensus" || agents.length < 2) return [];
  const minds = new Set(
    agents.map(({ role_name, backstory, llm_config }) =>
      canonicalJson([role_name, backstory?.trim() ?? "", llm_config ?? {}]),
    ),
  );
  return minds.size > 1
    ? []
    : advice(
        "W_CREW_SAME_VOTERS",
        `All ${agents.length} members have the same role, backstory and model, so they vote alike. A debate among identical agents costs 2 to 3 times as much and does no better than one agent that corrects itself. Give them different roles or models, or sample one agent instead.`,
        { label: "Sample one agent", path: ["crew", "process"], value: "sample" },
      );
}

function idleSamplers({ process, agents, manager }: CrewConfig): CrewDiagnostic[] {
  const who = agents.find(({ agent_id }) => agent_id === manager?.agent_id) ?? agents[0];
  if (process !== "sample" || agents.length < 2 || !who) return [];
  return advice(
    "W_CREW_IDLE",
    `Only ${who.agent_id} answers in a “Sample and vote” crew. The other agents do nothing.`,
    { label: `Keep only ${who.agent_id}`, path: ["crew", "agents"], value: asJson([who]) },
  );
}

function nobodyLeads(
  crew: CrewConfig,
  plan: ExecutionPlan | undefined,
  tasks: readonly Task[],
): CrewDiagnostic[] {
  const { agents, process, manager, planning } = crew;
  if (agents.length <= MOST_UNLED || (!followsPlans(crew) && process !== "swarm")) return [];
  if (manager?.agent_id || planning || (followsPlans(crew) && !plan)) return [];
  if (parallelGroups(crew.collaboration_patterns).some(({ coordination_agent }) => coordination_agent))
    return [];
  const [last, ...others] = lastTasks(tasks);
  if (last && others.length === 0 && last.dependencies.length > 1) return [];
  return advice(
    "W_CREW_UNLED",
    `${agents.length} members work without a coordinator. Errors multiply about 17-fold, compared to about 4-fold with a coordinator. Add a manager, or end with a task that combines the results.`,
    tasks.length === 0
      ? { label: "Use hierarchical process", path: ["crew", "process"], value: "hierarchical" }
      : undefined,
  );
}

function nobodyVerifies(
  crew: CrewConfig,
  plan: ExecutionPlan | undefined,
  tasks: readonly Task[],
  factsOf: (role: string) => RoleFacts,
): CrewDiagnostic[] {
  if (!plan || tasks.length < LEAST_TASKS) return [];
  const { success_criteria, human_intervention_points, execution_mode } = plan;
  const isVerified =
    success_criteria.some((criterion) => criterion.trim() !== "") ||
    human_intervention_points.length > 0 ||
    execution_mode !== "autonomous" ||
    parallelGroups(crew.collaboration_patterns).some(({ coordination_agent }) => coordination_agent) ||
    tasks.some((task) => task.human_review || task.guardrails.length > 0 || verifies(crew, task)) ||
    crew.agents.some(({ role_name }) => factsOf(role_name).isGuarded);
  return isVerified
    ? []
    : advice(
        "W_CREW_UNCHECKED",
        "Nothing checks this crew's output: no success criteria, no reviewer, no human review. Add a success criterion, or a task that reviews the result.",
        {
          label: "Add success criterion",
          path: ["plan", "success_criteria"],
          value: ["The result does everything the goal asks for."],
        },
      );
}

const verifies = (crew: CrewConfig, task: Task): boolean =>
  VERIFIES.test(task.description) ||
  VERIFIES.test(workerOf(crew, task)?.role_name ?? task.required_role ?? "");

function ownJudges(crew: CrewConfig, tasks: readonly Task[]): CrewDiagnostic[] {
  const inPlan = tasks.flatMap((task, at) => {
    const judge = workerOf(crew, task);
    if (!judge || !isReview(task.description)) return [];
    const made = tasks.filter(
      ({ task_id, ...other }) =>
        task.dependencies.includes(task_id) && workerOf(crew, { task_id, ...other }) === judge,
    );
    if (made.length === 0) return [];
    const other = crew.agents.find((agent) => agent !== judge);
    return advice(
      "W_CREW_OWN_JUDGE",
      `${judge.agent_id} reviews its own work: “${task.task_id}” checks “${made[0]?.task_id}”. Agents often miss their own mistakes. Assign another agent.`,
      other && {
        label: `Assign ${other.agent_id}`,
        path: ["plan", "tasks", at, "assigned_agent"],
        value: other.agent_id,
      },
    );
  });
  return [...inPlan, ...(crew.process === "custom" ? ownJudgesInPattern(crew) : [])];
}

/** Whether a description begins by asking to look something over. */
const isReview = (text: string) =>
  /^\W*(?:please )?(?:review|verify|check|test|audit|proofread)\b/i.test(text);

function ownJudgesInPattern({ agents, collaboration_patterns }: CrewConfig): CrewDiagnostic[] {
  const [pattern] = customPatterns(collaboration_patterns);
  const steps = pattern?.workflow ?? [];
  return steps.flatMap((step) => {
    if (!isReview(step.description ?? step.step.replaceAll("_", " "))) return [];
    const judge = memberNamed(agents, step.agent);
    const made = steps.find(
      (other) =>
        other !== step && memberNamed(agents, other.agent) === judge && nextOf(other, steps).includes(step),
    );
    return judge && made
      ? advice(
          "W_CREW_OWN_JUDGE",
          `${judge.agent_id} reviews its own work: “${step.step}” checks “${made.step}”. Agents often miss their own mistakes. Assign another agent.`,
        )
      : [];
  });
}

const nextOf = (step: PatternStep, steps: readonly PatternStep[]): PatternStep[] =>
  outcomesOf(step).flatMap(({ target }) => {
    const found = targetOf(target, steps);
    const next = "step" in found ? steps[found.step] : undefined;
    return next ? [next] : [];
  });

function noEnd({ process, collaboration_patterns, max_rounds }: CrewConfig): CrewDiagnostic[] {
  const [pattern] = customPatterns(collaboration_patterns);
  if (process !== "custom" || !pattern) return [];
  const steps = pattern.workflow;
  const reached = new Set(steps.slice(0, 1));
  for (const step of reached) for (const next of nextOf(step, steps)) reached.add(next);
  const ends = [...reached].some(
    (step) => outcomesOf(step).length === 0 || nextOf(step, steps).length < outcomesOf(step).length,
  );
  return ends
    ? []
    : advice(
        "W_CREW_NO_END",
        `No outcome of “${pattern.name}” leads to an end, so it reaches its limit of ${max_rounds} steps and fails. Connect the success outcome to an end.`,
      );
}

function sameEffect({ process, agents }: CrewConfig, factsOf: (role: string) => RoleFacts): CrewDiagnostic[] {
  if (process !== "parallel" && process !== "swarm") return [];
  const holders = new Map<string, string[]>();
  for (const { agent_id, role_name } of agents)
    for (const effect of factsOf(role_name).effects)
      holders.set(effect, [...(holders.get(effect) ?? []), agent_id]);
  const shared = [...holders].filter(([, who]) => who.length > 1);
  return shared.length === 0
    ? []
    : advice(
        "W_CREW_SAME_EFFECT",
        shared
          .map(([effect, who]) => `${list(who)} can each use ${effect}, so it may take effect twice.`)
          .join(" ")
          .concat(" Give the tool to only one role."),
      );
}
