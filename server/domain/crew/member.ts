import type { AgentConfig } from "@/server/domain/agent/role";

/** A name in the form used for comparing: without quotes, in lower case, with single spaces. */
export const plainName = (name: string): string =>
  name.toLowerCase().replace(/["'`]/g, "").replace(/\s+/g, " ").trim();

/** The agent that is called so, by its id or by a role that only one has, however the name is written. */
export function memberNamed<A extends Pick<AgentConfig, "agent_id" | "role_name">>(
  agents: readonly A[],
  name: string,
): A | undefined {
  const wanted = plainName(name);
  const byId = agents.find(({ agent_id }) => plainName(agent_id) === wanted);
  if (byId) return byId;
  const byRole = agents.filter(({ role_name }) => plainName(role_name) === wanted);
  return byRole.length === 1 ? byRole[0] : undefined;
}
