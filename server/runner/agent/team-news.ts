import type { TeamNews } from "@/server/domain/run/commands/team-edit";
import { crewNow } from "@/server/domain/run/commands/team-edit";
import type { Agent } from "./agent";

/**
 * Informs a running agent whom a person added to its crew, removed from it or changed since it began. Runs of versions
 * before this feature continue without. A judge of others' work has no team.
 */
export function hearTeamNews(agent: Agent): void {
  const { run, task, about, teamHeard } = agent;
  const { team_news, run: of } = run.s;
  agent.teamHeard = team_news.length;
  if (of.people?.team_news !== "told" || task.role !== undefined || team_news.length === teamHeard) return;
  const news = team_news
    .slice(teamHeard)
    .filter(({ node_id, agent_id }) => node_id === run.node.id && agent_id !== about.agent_id);
  if (news.length === 0) return;
  const content = `A person changed your team while you were working:\n${news.map((one) => `- ${describeTeamNews(agent, one)}`).join("\n")}`;
  if (agent.messages.some((message) => message.role === "user" && message.content === content)) return;
  agent.addMessage({ role: "user", content }, "person");
}

/** What happened to a member, by its current state. */
function describeTeamNews(
  { run, fences: { harmless } }: Agent,
  { agent_id, action, node_id }: TeamNews,
): string {
  const member = crewNow(run.s, node_id)?.agents.find((one) => one.agent_id === agent_id);
  if (!member) return `${harmless(agent_id)} is no longer in the team.`;
  const { description = "" } = run.findRole(member.role_name) ?? {};
  const who = `${agent_id} (${member.role_name})${description ? `: ${description}` : ""}`;
  return `${action === "added" ? "New team member" : "Changed"}: ${harmless(who)}`;
}
