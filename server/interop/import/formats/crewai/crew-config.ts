import { defined } from "@/server/domain/base/defined";
import { freshId, toId } from "@/server/domain/base/ids";
import type { Raw } from "@/server/domain/base/lenient-reader";
import type { RoleRegistry } from "../../role-registry";
import type { AgentModel, CrewModel, TaskModel } from "./model";
import { plainName, variablesIn } from "./template";

/** An agent of a file with what it became. */
export interface ImportedAgent {
  agent: AgentModel;
  role: string;
  /** The tools of the agent that there are here. */
  tools: string[];
  variables: string[];
}

/** Makes a role of an agent. */
export function importAgent(agent: AgentModel, roleRegistry: RoleRegistry): ImportedAgent {
  const plain = plainName(agent.role);
  const role = roleRegistry.add({
    name: plain && plain.length <= 80 ? plain : humanize(agent.key),
    description: agent.backstory,
    goals: [agent.goal],
  });
  const variables = variablesIn(agent.role, agent.goal, agent.backstory);
  agent.report.keeps("", `Imported the agent "${agent.key}" as the role "${role}".`);
  if (variables.length > 0)
    agent.report.changed(
      "",
      `Roles can't have variables: ${variables.map((name) => `{${name}}`).join(", ")} ${variables.length === 1 ? "is" : "are"} kept as text in "${role}", and each of its steps gets the ${variables.length === 1 ? "value" : "values"}.`,
    );
  return { agent, role, tools: roleRegistry.wants(role, agent.tools, "tools", agent.report), variables };
}

/** `research_task` -> `Research task`. */
export function humanize(key: string): string {
  const spaced = key.replace(/[_-]+/g, " ").trim() || key;
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

/** Text guardrails, for a judge. */
export const guardrailsOf = ({ guardrails, guardrail_retries }: TaskModel): Raw[] =>
  guardrails.map((spec, place) => ({
    name: guardrails.length === 1 ? "guardrail" : `guardrail_${place + 1}`,
    kind: "llm_judge",
    spec,
    on_fail: "retry",
    max_retries: guardrail_retries ?? 3,
  }));

/**
 * A crew with its plan, as the settings of one step. A crew that is led by a manager gets its tasks as its goal, since the
 * manager gives out the work. `assigneeOf`: the agent of each task, if any.
 */
export function crewSettings(
  model: CrewModel,
  agents: ReadonlyMap<string, ImportedAgent>,
  assigneeOf: (task: TaskModel) => string | null,
  template: (text: string) => string,
): Raw {
  const ids = new Map<string, string>();
  const idOf = (key: string) => ids.get(key) ?? key;
  for (const key of agents.keys()) ids.set(key, freshId(toId(key) || "agent", new Set(ids.values())));
  const isLed = model.process === "hierarchical";
  const numbersOf = (keys: readonly string[]) =>
    keys.map((key) => model.tasks.findIndex((task) => task.key === key) + 1).join(", ");
  const taskIds = new Map<string, string>();
  for (const { key } of model.tasks)
    taskIds.set(key, freshId(toId(key) || "task", new Set(taskIds.values())));
  const crew = {
    crew_id: toId(model.name) || "crew",
    process: model.process,
    planning: model.planning,
    memory: model.memory,
    agents: [...agents.values()].map(({ agent, role }) => ({
      agent_id: idOf(agent.key),
      role_name: role,
      allow_delegation: agent.allow_delegation,
      ...defined({
        max_iterations: agent.max_iter ? Math.min(agent.max_iter, 200) : undefined,
        max_rpm: agent.max_rpm || undefined,
        max_execution_time_s: agent.max_execution_time || undefined,
      }),
    })),
    ...defined({ manager: isLed && model.manager !== null ? { agent_id: idOf(model.manager) } : undefined }),
  };
  if (isLed)
    return {
      crew,
      plan_description_template: model.tasks
        .map(({ description, expected_output, agent, context, guardrails }, place) =>
          template(
            [
              `${place + 1}. ${description}`,
              ...(expected_output ? [`Expected: ${expected_output}`] : []),
              ...(agent ? [`Meant for: ${idOf(agent)}`] : []),
              ...(context?.length ? [`Builds on: ${numbersOf(context)}`] : []),
              ...guardrails.map((rule) => `Its result must satisfy: ${rule}`),
            ].join("\n"),
          ),
        )
        .join("\n\n"),
    };
  return {
    crew,
    plan_description_template: `Do the tasks of ${model.name}.`,
    plan: {
      user_instruction: `The tasks of ${model.name}.`,
      tasks: model.tasks.map((task, place) => {
        const assigned = assigneeOf(task);
        return {
          task_id: taskIds.get(task.key),
          description: task.description || humanize(task.key),
          ...defined({ expected_output: task.expected_output || undefined }),
          ...(assigned === null ? {} : { assigned_agent: idOf(assigned) }),
          dependencies: contextOf(model.tasks, place).map((key) => taskIds.get(key)),
          human_review: task.human_input,
          guardrails: guardrailsOf(task),
        };
      }),
    },
  };
}

/** The tasks whose results a task is given: those that it names, else all before it. */
export const contextOf = (tasks: readonly TaskModel[], place: number): string[] =>
  tasks[place]?.context ?? tasks.slice(0, place).map(({ key }) => key);
