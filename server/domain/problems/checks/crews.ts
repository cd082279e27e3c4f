import { defined } from "@/server/domain/base/defined";
import type { CrewConfig } from "@/server/domain/crew/crew";
import { crewAdvice, type RoleFacts } from "@/server/domain/crew/crew-advice";
import { type CrewDiagnostic, crewDiagnostics, planDiagnostics } from "@/server/domain/crew/crew-diagnostics";
import { lostTools } from "@/server/domain/crew/crew-tools";
import { lastTasks } from "@/server/domain/crew/starting-plan";
import { isAgentNode, isCrewNode } from "@/server/domain/nodes";
import type { NodeCheck } from "../check";
import type { Fix } from "../fixes";
import { quoted } from "../names";

/** Settings of a crew and its plan that have no effect, or another one than they seem to. */
export function checkCrew(check: NodeCheck): void {
  const { node, report, at, here } = check;
  if (isAgentNode(node)) {
    const { required_role: name } = node.config;
    if (canHandOff(check, name))
      report.warning(
        "W_HANDOFF_IDLE",
        { ...at, field: "required_role" },
        `${quoted([name])} can hand off, but works alone here. Use a crew, or remove its handoff tools.`,
      );
  }
  if (!isCrewNode(node)) return;
  const { crew_id_or_config_ref: ref, plan, crew: own } = node.config;
  const crew = (ref ? here.library?.crew(ref) : undefined) ?? own;
  if (!crew) return;
  // A crew of the library is repaired on its own page.
  const fixOf = (repair: CrewDiagnostic["repair"]): Fix | undefined =>
    repair && !(ref && repair.path[0] === "crew")
      ? { kind: "set_config", node_id: node.id, ...repair }
      : undefined;
  const add = (field: "crew" | "plan", { severity, code, message, repair }: CrewDiagnostic) =>
    report[severity](code, { ...at, field }, message, fixOf(repair));
  for (const diagnostic of crewDiagnostics(crew)) add("crew", diagnostic);
  for (const diagnostic of plan ? planDiagnostics(crew, plan) : []) add("plan", diagnostic);
  for (const diagnostic of [...lostByDelegates(check, crew), ...idleHandoffs(check, crew)])
    add("crew", diagnostic);
  for (const { code, message, repair } of crewAdvice(crew, plan, (name) => roleFacts(check, name)))
    report.advice(code, { ...at, field: repair?.path[0] === "plan" ? "plan" : "crew" }, message, {
      fix: fixOf(repair),
    });
  if (plan && !crew.planning) checkNames(check, node);
}

function roleFacts({ roleByName, here }: NodeCheck, name: string): RoleFacts {
  const { tools = [], guardrails = [] } = roleByName.get(name) ?? {};
  return {
    effects: tools.filter((tool) => here.actsOutside?.(tool)),
    isGuarded: guardrails.some(({ target }) => target === "output"),
  };
}

/** Which tools agents lose when others delegate to them, where the crew or the admin wants that. */
function lostByDelegates({ roleByName, here }: NodeCheck, crew: CrewConfig): CrewDiagnostic[] {
  const forbidden = here.delegatesMayKeepTools === false;
  if (crew.delegate_tools !== "shared" && !forbidden) return [];
  const toolsOf = (name: string) => roleByName.get(name)?.tools ?? [];
  const lost = crew.agents.flatMap((from) => {
    const own = toolsOf(from.role_name);
    if (!from.allow_delegation && !own.includes("parallel_handoff")) return [];
    return crew.agents.flatMap((to) => {
      const without = to === from ? [] : lostTools(own, toolsOf(to.role_name));
      return without.length > 0
        ? [`${to.agent_id} loses ${without.join(", ")} when working for ${from.agent_id}`]
        : [];
    });
  });
  if (lost.length === 0) return [];
  return [
    {
      severity: "warning",
      code: "W_DELEGATE_TOOLS",
      message: `Delegates get only the tools that both roles allow${forbidden ? ", as the admin requires" : ""}: ${lost.slice(0, 5).join("; ")}${lost.length > 5 ? `; and ${lost.length - 5} more` : ""}. Add these tools to the delegating roles${forbidden ? "." : ", or let delegates keep their own."}`,
      ...defined({
        repair: forbidden
          ? undefined
          : {
              label: "Let delegates keep tools",
              path: ["crew", "delegate_tools"],
              value: "own",
            },
      }),
    },
  ];
}

const canHandOff = ({ roleByName }: NodeCheck, name: string): boolean =>
  roleByName.get(name)?.tools.some((tool) => tool === "handoff" || tool === "parallel_handoff") ?? false;

/** Where agents vote, no one can take over. */
function idleHandoffs(check: NodeCheck, crew: CrewConfig): CrewDiagnostic[] {
  if (crew.process !== "consensus") return [];
  const named = [...new Set(crew.agents.map(({ role_name }) => role_name))].filter((name) =>
    canHandOff(check, name),
  );
  return named.length === 0
    ? []
    : [
        {
          severity: "warning",
          code: "W_HANDOFF_IDLE",
          message: `${quoted(named)} can hand off, but members vote without tools, so handoffs have no effect in this crew.`,
        },
      ];
}

/** Tasks with the name of an input or output that means something else. */
function checkNames({ report, at }: NodeCheck, node: Extract<NodeCheck["node"], { node_type: "crew_task" }>) {
  const tasks = node.config.plan?.tasks ?? [];
  const last = new Set(lastTasks(tasks).map(({ task_id }) => task_id));
  const middle = tasks.filter(({ task_id }) => !last.has(task_id) && node.output_keys.includes(task_id));
  if (node.output_keys.length === 1)
    for (const { task_id } of middle)
      report.warning(
        "W_TASK_NAMED_AS_OUTPUT",
        { ...at, field: "plan" },
        `The output "${task_id}" returns the last task's result, not the result of the task "${task_id}", because other tasks follow it. Rename the task or the output key.`,
      );
  const given = new Set([
    "goal",
    ...node.input_keys,
    ...node.optional_input_keys,
    ...Object.keys(node.input_mapping ?? {}),
  ]);
  for (const { task_id } of tasks)
    if (given.has(task_id))
      report.warning(
        "W_TASK_NAMED_AS_INPUT",
        { ...at, field: "plan" },
        `The task "${task_id}" has the same name as a crew input, so conditions and later tasks read the task's result instead of the input. Rename the task.`,
      );
}
