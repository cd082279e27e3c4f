import { z } from "zod";
import { AgentConfig, LlmConfig, RoleDefinition, RoleName } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { freshId, toId } from "@/server/domain/base/ids";
import { Id } from "@/server/domain/base/values";
import type { CrewConfig } from "@/server/domain/crew/crew";
import { type ChangedMember, teamNow } from "@/server/domain/crew/team-now";
import { isCrewNode } from "@/server/domain/nodes";
import { isGranted } from "@/server/domain/tool/tool";
import type { NewEvent } from "../events";
import type { Sender } from "../started-by";
import type { RunState } from "../state";

const MOST_TOOLS = 200;
const settings = {
  llm_config: LlmConfig.nullable().exactOptional().meta({ description: "null: the default model" }),
  backstory: z
    .string()
    .max(20_000)
    .exactOptional()
    .meta({ description: "Additional instructions for the agent; empty for none" }),
  tools: z
    .array(z.string().max(200))
    .max(MOST_TOOLS)
    .nullable()
    .exactOptional()
    .meta({ description: "Tools of its role that the agent can use; null: all" }),
};

/** What a person changes about the members of a crew while its run goes on. */
export const TeamEdit = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("add"),
    role_name: RoleName,
    agent_id: Id.exactOptional().meta({ description: "Default: derived from the role's name" }),
    ...settings,
  }),
  z.strictObject({ kind: z.literal("remove"), agent_id: z.string() }),
  z.strictObject({
    kind: z.literal("change"),
    agent_id: z.string(),
    patch: z.strictObject({ role_name: RoleName.exactOptional(), ...settings }),
  }),
]);
export type TeamEdit = z.infer<typeof TeamEdit>;

/** The same as a run is told it, with what it needs to know besides. */
export const TeamCommand = z.object({
  kind: z.literal("edit_team"),
  node_id: z.string(),
  edit: TeamEdit,
  /** The role that the edit names, where the run has none of that name yet. */
  role: RoleDefinition.exactOptional(),
  /** How much the chosen model reads, in tokens, by choiceKey. */
  context_windows: z.record(z.string(), z.number()).exactOptional(),
  /** It comes from a program, which may not give agents more rights than they have. */
  only_narrows: z.literal(true).exactOptional(),
});
export type TeamCommand = z.infer<typeof TeamCommand>;

/** That a person changed a member of a crew, as those at work are told. */
export interface TeamNews {
  node_id: string;
  agent_id: string;
  action: "added" | "removed" | "changed";
}

/** The crew of a node as it is now in this run; undefined where the node has none. */
export function crewNow(s: RunState, node_id: string): CrewConfig | undefined {
  const node = Object.hasOwn(s.graph.nodes, node_id) ? s.graph.nodes[node_id] : undefined;
  if (!node || !isCrewNode(node) || !node.config.crew) return undefined;
  return teamNow(node.config.crew, s.team_changes[node_id]);
}

/** A role as this run has it, or as a command brings it along. */
export const roleFor = (s: RunState, name: string, brought?: RoleDefinition): RoleDefinition | undefined =>
  s.roles.find((role) => role.name === name) ?? (brought?.name === name ? brought : undefined);

/** What a member may use: what its role may, or of that what it was left. */
export function toolsOfMember(
  s: RunState,
  node_id: string,
  { agent_id, role_name }: Pick<AgentConfig, "agent_id" | "role_name">,
): readonly string[] {
  return s.team_changes[node_id]?.[agent_id]?.tools ?? roleFor(s, role_name)?.tools ?? [];
}

/** The member that an edit makes; null for one that is taken out, undefined where there is none to change. */
export function memberAfter(s: RunState, { node_id, edit }: TeamCommand): ChangedMember | null | undefined {
  if (edit.kind === "remove") return null;
  const agents = crewNow(s, node_id)?.agents ?? [];
  if (edit.kind === "add") {
    const { kind: _k, agent_id: wanted, role_name, ...rest } = edit;
    const agent_id = wanted ?? freshId(idOfRole(role_name), new Set(agents.map((one) => one.agent_id)));
    return withSettings({ agent: AgentConfig.parse({ agent_id, role_name }) }, rest);
  }
  const before = agents.find(({ agent_id }) => agent_id === edit.agent_id);
  if (!before) return undefined;
  const { role_name, ...rest } = edit.patch;
  const isOther = role_name !== undefined && role_name !== before.role_name;
  const tools = isOther ? undefined : s.team_changes[node_id]?.[edit.agent_id]?.tools;
  const agent = { ...before, ...defined({ role_name: isOther ? role_name : undefined }) };
  return withSettings({ agent, ...defined({ tools }) }, rest);
}

const idOfRole = (role: string): string => {
  const read = Id.safeParse(toId(role).toLowerCase());
  return read.success ? read.data : "member";
};

function withSettings(
  { agent, tools: had }: ChangedMember,
  { llm_config, backstory, tools }: Pick<z.infer<z.ZodObject<typeof settings>>, keyof typeof settings>,
): ChangedMember {
  const { llm_config: model, backstory: oldBackstory, ...rest } = agent;
  const nowModel = llm_config === undefined ? model : (llm_config ?? undefined);
  const nowBackstory = backstory === undefined ? oldBackstory : backstory || undefined;
  const nowTools = tools === undefined ? had : (tools ?? undefined);
  return {
    agent: {
      ...rest,
      ...defined({ llm_config: nowModel, backstory: nowBackstory || undefined }),
    },
    ...defined({ tools: nowTools }),
  };
}

/** What would be given to agents that they may not have now, in a sentence; null where rights stay or become fewer. */
export function widening(s: RunState, command: TeamCommand): string | null {
  const after = memberAfter(s, command);
  if (!after) return null;
  const { node_id, edit, role } = command;
  const { agent_id, role_name } = after.agent;
  const may = after.tools ?? roleFor(s, role_name, role)?.tools ?? [];
  if (may.length === 0) return null;
  const agents = crewNow(s, node_id)?.agents ?? [];
  const before = agents.find((one) => one.agent_id === agent_id);
  // Who keeps its role is measured by itself; who comes to one, by those who have it.
  const alike =
    edit.kind === "change" && before?.role_name === role_name
      ? [before]
      : agents.filter((one) => one.role_name === role_name);
  const has = alike.some((one) => {
    const own = toolsOfMember(s, node_id, one);
    return may.every((tool) => own.includes(tool) || isGranted(own, tool));
  });
  if (has) return null;
  return `${agent_id} would get tools that no ${role_name} in this crew can use now: ${may.join(", ")}`;
}

/** The change as the log has it. Only for a command that fits. */
export function memberChanged(s: RunState, command: TeamCommand, sender: Sender): NewEvent[] {
  const after = memberAfter(s, command);
  if (after === undefined) return [];
  const { node_id, edit, role, context_windows } = command;
  const agent_id = after?.agent.agent_id ?? (edit.kind === "add" ? "" : edit.agent_id);
  const isNew = role !== undefined && !s.roles.some(({ name }) => name === role.name);
  const payload = {
    agent_id,
    action: ({ add: "added", remove: "removed", change: "changed" } as const)[edit.kind],
    ...(after
      ? { agent: after.agent, ...defined({ tools: after.tools ? [...after.tools] : undefined }) }
      : {}),
    ...defined({ role: isNew ? role : undefined, context_windows }),
    ...sender,
  };
  const activation_id = s.nodes[node_id]?.activation;
  return [
    { type: "member_changed", node_id, ...defined({ activation_id: activation_id || undefined }), payload },
  ];
}
