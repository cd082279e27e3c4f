import type { CrewConfig } from "@/server/domain/crew";
import type { Flow } from "@/server/domain/durable";
import type { AgentAnswer } from "@/server/domain/nodes/define";
import { ExecutionPlan } from "@/server/domain/plan";
import type { AgentConfig } from "@/server/domain/role";
import type { Json, JsonSchema } from "@/server/domain/values";
import { runAgent } from "../agent/loop";
import type { NodeRun } from "../node-run";

/** The agent that writes the plan: the named manager, else a role that sounds like one, else the first. */
export function plannerOf(crew: CrewConfig): AgentConfig {
  return (
    crew.agents.find(({ agent_id }) => agent_id === crew.manager?.agent_id) ??
    crew.agents.find(({ role_name }) => /plan|manage|lead/i.test(role_name)) ??
    crew.agents[0]!
  );
}

/** Lets the crew's planner write a plan whose tasks the crew's other roles can carry out. */
export function* writePlan(
  run: NodeRun,
  crew: CrewConfig,
  goal: string,
): Flow<{ plan: ExecutionPlan; by: string; answer: AgentAnswer }> {
  const planner = plannerOf(crew);
  const others = crew.agents.filter((agent) => agent !== planner);
  const workers = others.length > 0 ? others : [planner];
  const roles = [...new Set(workers.map(({ role_name }) => role_name))];
  const about = roles.map((name) => `- ${name}: ${run.findRole(name)?.description ?? ""}`).join("\n");
  const answer = yield* runAgent(run, {
    agent_id: planner.agent_id,
    required_role: planner.role_name,
    purpose: "plan",
    task: `Write a plan that reaches this goal: ${goal}\nDivide it into tasks. Give each task to exactly one of these roles:\n${about}\nA task may depend on earlier tasks by their task_id. Use at most 8 tasks.`,
    output_keys: [],
    answer_schema: planSchema(roles),
    check: (value) => findPlanFaults(value),
    ...((crew.manager?.llm_config ?? planner.llm_config)
      ? { llm_config: crew.manager?.llm_config ?? planner.llm_config }
      : {}),
    ...(planner.backstory ? { backstory: planner.backstory } : {}),
  });
  return {
    plan: ExecutionPlan.parse({ user_instruction: goal, ...answer.output }),
    by: planner.agent_id,
    answer,
  };
}

const planSchema = (roles: readonly string[]): JsonSchema => ({
  type: "object",
  properties: {
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
        },
        required: ["task_id", "description", "required_role", "dependencies", "expected_output"],
        additionalProperties: false,
      },
    },
  },
  required: ["tasks"],
  additionalProperties: false,
});

function findPlanFaults(value: Json): string[] {
  const result = ExecutionPlan.safeParse(value);
  return result.success
    ? []
    : result.error.issues.slice(0, 5).map(({ path, message }) => `${path.join(".")}: ${message}`);
}
