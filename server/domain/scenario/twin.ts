import { RoleDefinition } from "@/server/domain/agent/role";
import type { CrewConfig } from "@/server/domain/crew/crew";
import type { ExecutionPlan } from "@/server/domain/crew/plan";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { isCrewNode } from "@/server/domain/nodes";

const MOST_TURNS = 200;

interface Drawn {
  graph: WorkflowGraph;
  roles: readonly RoleDefinition[];
}

/**
 * A workflow in which one agent does what a crew does in the original: with all tools of its members, the same inputs and
 * outputs, the same goal and plan, as many turns as all of them together, and within the same limits of the run.
 */
export function twinOf({ graph, roles }: Drawn, node_id: string): Drawn | { fault: string } {
  const node = graph.nodes[node_id];
  if (!node) return { fault: `There is no node ${node_id} that could have a twin.` };
  const name = node.name || node_id;
  if (!isCrewNode(node)) return { fault: `${name} has no crew: only a crew has a twin.` };
  const { crew, plan, plan_description_template, on_limit } = node.config;
  if (!crew) return { fault: `The crew of ${name} is not known, so that it has no twin.` };
  const role = twinRole(freshName(roles, `Twin of ${name}`), crew, roles);
  const { llm_config } = crew.agents[0] ?? {};
  const config = {
    required_role: role.name,
    task_description_template: taskOf(plan_description_template, plan),
    guardrails: (plan?.tasks ?? []).flatMap(({ guardrails }) => guardrails),
    max_iterations: turnsOf(crew, plan),
    ...(llm_config ? { llm_config } : {}),
    ...(on_limit ? { on_limit } : {}),
  };
  const twin: WorkflowGraph["nodes"][string] = { ...node, node_type: "agent_task", config };
  return { graph: { ...graph, nodes: { ...graph.nodes, [node_id]: twin } }, roles: [...roles, role] };
}

const freshName = (roles: Drawn["roles"], base: string): string => {
  const taken = new Set(roles.map(({ name }) => name));
  const short = base.slice(0, 70);
  for (let n = 1; ; n++) {
    const name = n === 1 ? short : `${short} ${n}`;
    if (!taken.has(name)) return name;
  }
};

/** One role with what all roles of the crew know and may do. */
function twinRole(name: string, { agents }: CrewConfig, roles: Drawn["roles"]): RoleDefinition {
  const names = new Set(agents.map(({ role_name }) => role_name));
  const members = roles.filter((role) => names.has(role.name));
  const all = (of: (role: RoleDefinition) => readonly string[]) => [...new Set(members.flatMap(of))];
  return RoleDefinition.parse({
    name,
    description: [
      "You do alone, from beginning to end, what would take several people:",
      ...members.map((role) => `${role.name}: ${role.description}`.trim()),
    ]
      .join("\n")
      .slice(0, 4000),
    goals: all(({ goals }) => goals),
    responsibilities: all(({ responsibilities }) => responsibilities),
    tools: all(({ tools }) => tools),
    guardrails: members.flatMap(({ guardrails }) => guardrails),
  });
}

/** The crew's goal, with the steps of its plan where somebody wrote one. */
function taskOf(goal: string, plan: ExecutionPlan | undefined): string {
  const steps = (plan?.tasks ?? []).map(({ description, expected_output }, at) =>
    [`${at + 1}. ${description}`, ...(expected_output ? [`   It gives: ${expected_output}`] : [])].join("\n"),
  );
  const wanted = (plan?.success_criteria ?? []).filter((one) => !one.startsWith("cel:"));
  return [
    goal,
    ...(steps.length > 0 ? [`The steps:\n${steps.join("\n")}`] : []),
    ...(wanted.length > 0 ? [`The result has to meet:\n${wanted.map((one) => `- ${one}`).join("\n")}`] : []),
  ]
    .filter((part) => part.trim() !== "")
    .join("\n\n");
}

/** As many turns as the crew has for its tasks. */
const turnsOf = ({ agents }: CrewConfig, plan: ExecutionPlan | undefined): number => {
  const most = Math.max(...agents.map(({ max_iterations }) => max_iterations));
  const own = agents.reduce((sum, { max_iterations }) => sum + max_iterations, 0);
  return Math.min(MOST_TURNS, Math.max(own, most * (plan?.tasks.length ?? 0)));
};
