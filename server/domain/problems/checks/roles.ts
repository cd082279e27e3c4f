import { settingsOf } from "@/server/domain/nodes";
import { checkExpression } from "@/server/domain/text/expression/expression";
import { isGranted } from "@/server/domain/tool/tool";
import type { NamedRole, NodeCheck } from "../check";
import type { CrewLike, PlanLike } from "../crew-like";
import { nameOf, quoted } from "../names";
import { nearest } from "../nearest";

/** Roles are found by the look of the fields that name them, so that a new kind needs nothing here. */
export function checkRoles({ report, at, node, kind, roleByName: known, isRead, here }: NodeCheck): void {
  const { isToolKnown, library } = here;
  const config: Record<string, unknown> = node.config;
  const settings = settingsOf(node);
  const unknown = (role: string, field: string, path: (string | number)[], who: string) => {
    const near = nearest(role, [...known.keys()]);
    report.error(
      "E_UNKNOWN_ROLE",
      { ...at, field },
      `${who} asks for the role "${role}", which does not exist. Choose another role, or create this one.`,
      near === null
        ? undefined
        : { kind: "set_config", node_id: node.id, path, value: near, label: `Use ${near}` },
    );
  };
  const lacking = (role: NamedRole, field: string) => {
    const missing = isToolKnown ? role.tools.filter((tool) => !isToolKnown(tool)) : [];
    if (missing.length > 0)
      report.warning(
        "W_UNKNOWN_TOOL",
        { ...at, field },
        `The role ${role.name} lists ${quoted(missing)}, and there is no such tool here: it works without. Add the tool, or take it from the role.`,
      );
    const off = role.tools.flatMap((tool) => {
      const why = here.whyUnavailable?.(tool) ?? null;
      return why === null ? [] : [{ tool, why }];
    });
    const [first] = off;
    if (first)
      report.advice(
        "W_TOOL_OFF",
        { ...at, field },
        `The role ${role.name} lists ${quoted(off.map(({ tool }) => tool))}, which cannot be used yet, so it works without: ${first.why}`,
      );
  };
  const calls = (tool: string, field: string) => {
    const why = here.whyUnavailable?.(tool) ?? null;
    if (why !== null)
      report.warning(
        "W_TOOL_OFF",
        { ...at, field },
        `${nameOf(node)} calls "${tool}", which cannot be used yet, so it would fail: ${why}`,
      );
  };
  let crew: CrewLike | undefined;
  for (const field of kind.fields) {
    const { key, as, showIf } = field;
    const value = config[key];
    if (value === undefined || value === "" || (showIf && !showIf(node.config))) continue;
    if (as === "tool" && typeof value === "string") calls(value, key);
    const ref = as === "agent_ref" && typeof value === "string" ? value : undefined;
    const agent = ref === undefined ? undefined : (library?.agent(ref) ?? settings.agent);
    const roleName = as === "role" ? value : agent?.role_name;
    if (typeof roleName === "string") {
      const role = known.get(roleName);
      if (!role && agent)
        report.error(
          "E_UNKNOWN_ROLE",
          { ...at, field: key },
          `The agent "${ref}" has the role "${roleName}", which does not exist. Give the agent another role, or create this one.`,
        );
      else if (!role) unknown(roleName, key, [key], nameOf(node));
      const beyond =
        role && Array.isArray(settings.tools)
          ? settings.tools.filter((tool) => !role.tools.includes(tool) && !isGranted(role.tools, tool))
          : [];
      if (beyond.length > 0)
        report.error(
          "E_TOOL_NOT_IN_ROLE",
          { ...at, field: "tools" },
          `The role ${role?.name} may not use ${quoted(beyond)}. Allow it in the role, or remove it here.`,
        );
      else if (role) lacking(role, key);
    }
    if (field.as === "crew") {
      crew = settings[field.key];
      const ids = new Set<string>();
      (crew?.agents ?? []).forEach(({ agent_id, role_name }, position) => {
        if (ids.has(agent_id))
          report.error(
            "E_DUPLICATE_AGENT",
            { ...at, field: key },
            `Two agents of ${nameOf(node)} are called "${agent_id}". Rename one.`,
          );
        ids.add(agent_id);
        if (role_name === "")
          report.error(
            "E_UNKNOWN_ROLE",
            { ...at, field: key },
            `Choose the role of the agent "${agent_id}".`,
          );
        else if (!known.has(role_name))
          unknown(role_name, key, [key, "agents", position, "role_name"], `The agent "${agent_id}"`);
      });
      for (const name of new Set((crew?.agents ?? []).map(({ role_name }) => role_name))) {
        const role = known.get(name);
        if (role) lacking(role, key);
      }
    }
    if (field.as === "plan") {
      const agents = crew?.agents ?? [];
      const plan: PlanLike | undefined = settings[field.key];
      (plan?.tasks ?? []).forEach(({ task_id, required_role, assigned_agent, condition }, position) => {
        if (condition !== undefined && isRead)
          report.texts(
            "E_BAD_EXPRESSION",
            at,
            `${key}.tasks.${position}.condition`,
            checkExpression(condition, { result: "bool" }),
          );
        if (agents.length === 0) return;
        if (assigned_agent && !agents.some(({ agent_id }) => agent_id === assigned_agent))
          report.warning(
            "W_ROLE_WITHOUT_AGENT",
            { ...at, field: key },
            `The task "${task_id}" is given to the agent "${assigned_agent}", who is not in the crew. Add the agent, or give the task to another.`,
          );
        else if (
          !assigned_agent &&
          required_role &&
          !agents.some(({ role_name }) => role_name === required_role)
        )
          report.warning(
            "W_ROLE_WITHOUT_AGENT",
            { ...at, field: key },
            `The task "${task_id}" needs the role "${required_role}", which no agent of the crew has. Add such an agent, or choose another role.`,
          );
      });
    }
  }
}
