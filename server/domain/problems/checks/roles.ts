import type { LlmConfig } from "@/server/domain/agent/role";
import { ruleError, unusedByRule } from "@/server/domain/agent/role-rule";
import { settingsOf } from "@/server/domain/nodes";
import { checkExpression } from "@/server/domain/text/expression/expression";
import { isGranted } from "@/server/domain/tool/tool";
import type { NamedRole, NodeCheck } from "../check";
import type { CrewLike, PlanLike } from "../crew-like";
import { nameOf, quoted } from "../names";
import { nearest } from "../nearest";

type Members = NonNullable<CrewLike["agents"]>;

/** The roles, tools and agents that a node names, found by the type of its fields: a new kind of node needs no check. */
export function checkRoles(check: NodeCheck): void {
  const { node, kind, here } = check;
  const config: Record<string, unknown> = node.config;
  const settings = settingsOf(node);
  let members: Members = [];
  for (const { key, as, showIf } of kind.fields) {
    const value = config[key];
    if (value === undefined || value === "" || (showIf && !showIf(node.config))) continue;
    if (as === "crew") {
      members = settings[key]?.agents ?? [];
      checkMembers(check, key, members);
    } else if (as === "plan") checkPlan(check, key, settings[key], members);
    else if (typeof value !== "string") continue;
    else if (as === "tool") checkTool(check, key, value);
    else if (as === "role") checkRole(check, key, value);
    else if (as === "agent_ref") {
      const agent = here.library?.agent(value) ?? settings.agent;
      if (typeof agent?.role_name === "string") checkRole(check, key, agent.role_name, value);
    }
  }
}

/** The role that a node names, itself or by its agent. */
function checkRole(check: NodeCheck, field: string, name: string, agent?: string): void {
  const { report, at, node, roleByName } = check;
  const { tools, llm_config, agent: config } = settingsOf(node);
  const role = roleByName.get(name);
  if (!role) {
    if (agent === undefined) return reportUnknown(check, name, [field], nameOf(node));
    return report.error(
      "E_UNKNOWN_ROLE",
      { ...at, field },
      `The agent "${agent}" has the role "${name}", which doesn't exist. Choose another role, or create this one.`,
    );
  }
  if (role.rule) return checkRule(check, field, role, [llm_config, config?.llm_config]);
  const beyond = Array.isArray(tools)
    ? tools.filter((tool) => !role.tools.includes(tool) && !isGranted(role.tools, tool))
    : [];
  if (beyond.length > 0)
    report.error(
      "E_TOOL_NOT_IN_ROLE",
      { ...at, field: "tools" },
      `Role ${role.name} isn't allowed to use ${quoted(beyond)}. Allow ${beyond.length === 1 ? "it" : "them"} in the role, or remove ${beyond.length === 1 ? "it" : "them"} here.`,
    );
  else checkRoleTools(check, field, role);
}

/** The agents of a crew and their roles. */
function checkMembers(check: NodeCheck, field: string, members: Members): void {
  const { report, at, node, roleByName } = check;
  const ids = new Set<string>();
  members.forEach(({ agent_id, role_name }, position) => {
    if (ids.has(agent_id))
      report.error(
        "E_DUPLICATE_AGENT",
        { ...at, field },
        `Two agents in ${nameOf(node)} have the ID "${agent_id}". Rename one.`,
      );
    ids.add(agent_id);
    if (role_name === "")
      report.error("E_UNKNOWN_ROLE", { ...at, field }, `Choose a role for the agent "${agent_id}".`);
    else if (!roleByName.has(role_name))
      reportUnknown(check, role_name, [field, "agents", position, "role_name"], `The agent "${agent_id}"`);
  });
  for (const name of new Set(members.map(({ role_name }) => role_name))) {
    const role = roleByName.get(name);
    const models = members.flatMap((member) => (member.role_name === name ? [member.llm_config] : []));
    if (role?.rule) checkRule(check, field, role, models);
    else if (role) checkRoleTools(check, field, role);
  }
}

/** A role that answers by rule: whether it can, and which settings do nothing. `models`: those of its agents here. */
function checkRule(
  { report, at }: NodeCheck,
  field: string,
  role: NamedRole,
  models: readonly (LlmConfig | undefined)[],
): void {
  const error = role.rule ? ruleError(role.rule) : null;
  if (error !== null)
    report.error("E_BAD_RULE", { ...at, field }, `The rule of the role ${role.name} can't be used: ${error}`);
  const hasModel = models.some((model) => Object.keys(model ?? {}).length > 0);
  const unused = [...unusedByRule(role), ...(hasModel ? ["model settings"] : [])];
  if (unused.length > 0)
    report.advice(
      "W_UNUSED_BY_RULE",
      { ...at, field },
      `The role ${role.name} answers by rule, without a model: ${unused.join(", ")} ${unused.length === 1 && !unused[0]?.endsWith("s") ? "does" : "do"} nothing. Remove them, or remove the rule.`,
    );
}

/** The conditions of planned tasks, and who is to do them. */
function checkPlan(
  { report, at, isRead }: NodeCheck,
  field: string,
  plan: PlanLike | undefined,
  members: Members,
): void {
  const warn = (message: string) => report.warning("W_ROLE_WITHOUT_AGENT", { ...at, field }, message);
  const tasks = plan?.tasks ?? [];
  tasks.forEach(({ task_id, required_role: role, assigned_agent: agent, condition }, position) => {
    if (condition !== undefined && isRead)
      report.texts(
        "E_BAD_EXPRESSION",
        at,
        `${field}.tasks.${position}.condition`,
        checkExpression(condition, { result: "bool" }),
      );
    if (members.length === 0) return;
    if (agent) {
      if (!members.some(({ agent_id }) => agent_id === agent))
        warn(
          `The task "${task_id}" is assigned to the agent "${agent}", who isn't in the crew. Add the agent, or reassign the task.`,
        );
    } else if (role && !members.some(({ role_name }) => role_name === role))
      warn(
        `The task "${task_id}" needs the role "${role}", which no agent in the crew has. Add an agent with this role, or choose another role.`,
      );
  });
}

/** The tool that a node calls itself. */
function checkTool({ report, at, node, here }: NodeCheck, field: string, tool: string): void {
  const why = here.whyUnavailable?.(tool) ?? null;
  if (why !== null)
    report.warning(
      "W_TOOL_OFF",
      { ...at, field },
      `${nameOf(node)} calls "${tool}", which isn't available, so the node would fail: ${why}`,
    );
}

/** Tools of a role that are missing here or can't be used yet. */
function checkRoleTools({ report, at, here }: NodeCheck, field: string, role: NamedRole): void {
  const { isToolKnown, whyUnavailable } = here;
  const missing = isToolKnown ? role.tools.filter((tool) => !isToolKnown(tool)) : [];
  if (missing.length > 0)
    report.warning(
      "W_UNKNOWN_TOOL",
      { ...at, field },
      `The role ${role.name} lists ${missing.length === 1 ? "a tool that doesn't" : "tools that don't"} exist here: ${quoted(missing)}. Add ${missing.length === 1 ? "the tool, or remove it" : "the tools, or remove them"} from the role.`,
    );
  const off = role.tools.flatMap((tool) => {
    const why = whyUnavailable?.(tool) ?? null;
    return why === null ? [] : [{ tool, why }];
  });
  const [first] = off;
  if (first)
    report.advice(
      "W_TOOL_OFF",
      { ...at, field },
      `The role ${role.name} lists ${off.length === 1 ? "an unavailable tool" : "unavailable tools"}: ${quoted(off.map(({ tool }) => tool))}. ${first.why}`,
    );
}

/** `path`: of the role in the settings; its first step is the field. */
function reportUnknown(
  { report, at, node, roleByName }: NodeCheck,
  role: string,
  path: [field: string, ...(string | number)[]],
  who: string,
): void {
  const near = nearest(role, [...roleByName.keys()]);
  report.error(
    "E_UNKNOWN_ROLE",
    { ...at, field: path[0] },
    `${who} uses the role "${role}", which doesn't exist. Choose another role, or create this one.`,
    near === null
      ? undefined
      : { kind: "set_config", node_id: node.id, path, value: near, label: `Use ${near}` },
  );
}
