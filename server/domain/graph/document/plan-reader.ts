import { builtinRoles, findBuiltinRole } from "@/server/domain/agent/builtin-roles";
import { RoleDefinition } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { freshId, toId } from "@/server/domain/base/ids";
import type { Findings, Raw } from "@/server/domain/base/lenient-reader";
import { Id } from "@/server/domain/base/values";
import type { ExecutionPlan } from "@/server/domain/crew/plan";
import { readPlan } from "@/server/domain/crew/read-plan";
import { WorkflowGraph } from "../graph";

/** Reads a bare plan.json as a workflow with one crew that executes it. `known`: the roles that come with it. */
export function readPlanAsWorkflow(
  source: Raw,
  findings: Findings,
  known: readonly RoleDefinition[] = [],
): { graph: WorkflowGraph; roles: RoleDefinition[] } | null {
  const plan = readPlan(source, findings);
  if (!plan) return null;
  const agents = agentsOf(plan);
  // A plan may name an agent by a text that can't be an id.
  for (const task of plan.tasks)
    if (task.assigned_agent)
      task.assigned_agent = agents.get(task.assigned_agent)?.agent_id ?? task.assigned_agent;
  const roles = [...new Set([...agents.values()].map(({ role_name }) => role_name))]
    .filter((name) => !findBuiltinRole(name) && !known.some((role) => role.name === name))
    .map((name) =>
      RoleDefinition.parse({
        name: name.slice(0, 80),
        description: `Executes the plan tasks assigned to "${name}".`,
      }),
    );
  findings.info(
    "",
    `Imported a plan with ${plan.tasks.length} ${plan.tasks.length === 1 ? "task" : "tasks"} as a workflow with 1 crew of ${agents.size} ${agents.size === 1 ? "agent" : "agents"}.`,
  );
  if (roles.length > 0)
    findings.changed(
      "tasks",
      `The plan doesn't describe ${roles.map(({ name }) => name).join(", ")}. Created ${roles.length === 1 ? "a basic role" : "a basic role for each"}.`,
    );
  const done = plan.tasks.filter(({ status }) => status !== "pending").length;
  if (done > 0)
    findings.info(
      "tasks",
      `${done} ${done === 1 ? "task is" : "tasks are"} marked as started or completed. Runs continue from there: completed tasks keep their results, and started tasks run again.`,
    );
  return { graph: graphOf(plan, [...agents.values()]), roles };
}

type PlannedAgent = { agent_id: string; role_name: string };

/** The agents that do the tasks of a plan, by the name that the plan gives them, else by their role. */
function agentsOf(plan: ExecutionPlan): Map<string, PlannedAgent> {
  const agents = new Map<string, PlannedAgent>();
  const ids = new Set<string>();
  for (const { assigned_agent, required_role } of plan.tasks) {
    const who = assigned_agent || required_role || "Planner";
    if (agents.has(who)) continue;
    const agent_id = freshId(
      assigned_agent && Id.safeParse(assigned_agent).success ? assigned_agent : toId(who) || "agent",
      ids,
    );
    ids.add(agent_id);
    const role = required_role || who;
    const own = builtinRoles.find(({ name }) => name.toLowerCase() === role.toLowerCase());
    agents.set(who, { agent_id, role_name: own?.name ?? role });
  }
  return agents;
}

/** A start, one crew that follows the plan, and an end. */
function graphOf(plan: ExecutionPlan, agents: readonly PlannedAgent[]): WorkflowGraph {
  const user_request = plan.user_instruction || undefined;
  return WorkflowGraph.parse({
    graph_id: plan.plan_id ?? "imported_plan",
    description: plan.user_instruction.slice(0, 4000) || undefined,
    start_node_id: "start",
    nodes: {
      start: {
        id: "start",
        node_type: "start",
        name: "Start",
        ...defined({
          output_keys: user_request && ["user_request"],
          config: user_request && { user_request },
        }),
      },
      carry_out: {
        id: "carry_out",
        node_type: "crew_task",
        name: "Carry out the plan",
        ...defined({ input_keys: user_request && ["user_request"] }),
        output_keys: ["plan_result"],
        config: {
          plan_description_template: user_request ? "{{user_request}}" : "Execute the plan.",
          crew: { crew_id: "crew", agents },
          plan,
        },
      },
      end: { id: "end", node_type: "end", name: "End", input_keys: ["plan_result"] },
    },
    edges: [
      { id: "edge_1", source_node_id: "start", target_node_id: "carry_out" },
      { id: "edge_2", source_node_id: "carry_out", target_node_id: "end" },
    ],
  });
}
