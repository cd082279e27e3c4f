import { crewDiagnostics } from "@/server/domain/crew/crew-diagnostics";
import { isLed, leaderOf } from "@/server/domain/crew/leader";
import { plainName } from "@/server/domain/crew/member";
import type { Task } from "@/server/domain/crew/plan";
import { teamNow } from "@/server/domain/crew/team-now";
import type { Analysis } from "@/server/domain/graph/analysis";
import { isCrewNode } from "@/server/domain/nodes";
import { isGranted } from "@/server/domain/tool/tool";
import type { CrewRun } from "../crew-state";
import { isAhead } from "../schedule/reach";
import type { RunState } from "../state";
import { isOpen } from "./plan-edit";
import { crewNow, memberAfter, roleFor, type TeamCommand, widening } from "./team-edit";

/** Max agents of a crew. */
const MOST_MEMBERS = 32;

/** Why the team of a crew can't be changed like this, in a sentence; null if it can. */
export function teamError(a: Analysis, s: RunState, command: TeamCommand): string | null {
  const { node_id, edit } = command;
  const node = Object.hasOwn(s.graph.nodes, node_id) ? s.graph.nodes[node_id] : undefined;
  if (!node) return `This workflow has no node "${node_id}".`;
  const name = nodeName(s, node_id);
  const crew = crewNow(s, node_id);
  if (!crew) return `${name} has no crew.`;
  if (!isAhead(a, s, node_id)) return `The crew of ${name} has finished and can't run again.`;
  if (crew.process === "sample")
    return "One agent gives all of this crew's answers, and they are comparable only if that agent stays the same.";
  const proposals = Object.values(workOf(s, node_id)?.proposals ?? {});
  if (crew.process === "consensus" && proposals.some(({ outcome }) => !outcome))
    return "Its members are voting. The team can't change until the vote is over.";
  if (command.only_narrows) {
    const wider = widening(s, command);
    if (wider !== null) return `Only a signed-in person can do this: ${wider}.`;
  }
  const ids = crew.agents.map(({ agent_id }) => agent_id);
  if (edit.kind !== "add" && !ids.includes(edit.agent_id))
    return `${name} has no agent "${edit.agent_id}". Its agents: ${ids.join(", ")}.`;
  return editError(s, command, ids) ?? crewError(s, command);
}

/** `ids`: of the crew's agents. */
function editError(s: RunState, command: TeamCommand, ids: readonly string[]): string | null {
  const { node_id, edit } = command;
  if (edit.kind === "remove") return removalError(s, node_id, edit.agent_id);
  if (edit.kind === "add") {
    if (ids.length >= MOST_MEMBERS) return `A crew can have at most ${MOST_MEMBERS} members.`;
    const id = edit.agent_id;
    if (id !== undefined && ids.some((one) => plainName(one) === plainName(id)))
      return `${nodeName(s, node_id)} already has an agent "${id}".`;
    if (id !== undefined && plainName(id) === "user") return `"${id}" is reserved for the person who asked.`;
  } else if (Object.keys(edit.patch).length === 0) return `Specify what to change about ${edit.agent_id}.`;
  return settingsError(s, command);
}

const nodeName = (s: RunState, id: string) => s.graph.nodes[id]?.name || id;

/** The running crew of a node. */
function workOf(s: RunState, node_id: string): CrewRun | undefined {
  const crew = s.crews[s.nodes[node_id]?.activation ?? ""];
  return crew?.status === "running" ? crew : undefined;
}

function settingsError(s: RunState, command: TeamCommand): string | null {
  const { node_id, edit } = command;
  const after = memberAfter(s, command);
  if (!after || edit.kind === "remove") return null;
  const { agent_id, role_name } = after.agent;
  const role = roleFor(s, role_name, command.role);
  if (!role) return `The library has no role "${role_name}".`;
  const asked = edit.kind === "add" ? edit.tools : edit.patch.tools;
  const denied = asked?.find((tool) => !isGranted(role.tools, tool));
  if (denied !== undefined)
    return `The role "${role_name}" can't use ${denied}. Members can use only their role's tools: choose a role that allows it.`;
  const withheld = asked?.find((tool) => isGranted(s.run.config.denied_tools, tool));
  if (withheld !== undefined) return `No agent in this run can use ${withheld}.`;
  const before = crewNow(s, node_id)?.agents.find((one) => one.agent_id === agent_id);
  if (!before || before.role_name === role_name) return null;
  return waitingFor(s, node_id, agent_id, { byRole: true });
}

function removalError(s: RunState, node_id: string, id: string): string | null {
  const crew = crewNow(s, node_id);
  if (!crew) return null;
  const activeCrew = workOf(s, node_id);
  if (crew.agents.length === 1) return `${id} is the last member of this crew. Add another member first.`;
  if (isLed(crew) && leaderOf(crew).agent_id === id)
    return `${id} leads this crew and can't be removed. Change its model or instructions instead.`;
  if (!activeCrew && crew.process === "swarm" && (crew.entry_agent ?? crew.agents[0]?.agent_id) === id)
    return `The crew starts with ${id}. Remove it once another agent has taken over.`;
  if (activeCrew && isBusy(s, activeCrew, id))
    return `${id} is working. Remove it when it is done, or choose who continues instead.`;
  const votes = Object.values(activeCrew?.proposals ?? {}).some(
    ({ outcome, stakeholders }) => !outcome && stakeholders.includes(id),
  );
  if (votes) return `${id} is taking part in the current vote. Wait until the vote is over.`;
  return waitingFor(s, node_id, id, { byRole: false });
}

/** Whether a member is at work, or is to go on this very moment. */
function isBusy(s: RunState, { activation_id, process, active_agent }: CrewRun, id: string): boolean {
  for (const key of s.at_work) {
    const agent = s.agents[key];
    if (agent?.activation_id === activation_id && agent.agent_id === id) return true;
  }
  const handsOn = process === "swarm" || process === "hierarchical" || process === "custom";
  const tasks = s.plans[activation_id]?.tasks ?? [];
  const has = tasks.some(
    ({ assigned_agent, status }) =>
      assigned_agent === id && (status === "in_progress" || status === "awaiting_human"),
  );
  return has || (handsOn && active_agent === id);
}

/** Which tasks nobody else could do. `byRole`: it stays, in another role. */
function waitingFor(
  s: RunState,
  node_id: string,
  id: string,
  { byRole }: { byRole: boolean },
): string | null {
  const crew = crewNow(s, node_id);
  const node = s.graph.nodes[node_id];
  if (!crew || !node || !isCrewNode(node)) return null;
  const activeCrew = workOf(s, node_id);
  const own = activeCrew ? s.plans[activeCrew.activation_id] : crew.planning ? undefined : node.config.plan;
  const role = crew.agents.find(({ agent_id }) => agent_id === id)?.role_name;
  const isOnly = crew.agents.filter(({ role_name }) => role_name === role).length === 1;
  const followsPlan = crew.process === "sequential" || crew.process === "parallel";
  const lost = ((followsPlan && own?.tasks) || []).filter(
    (task) => isOpen(task) && ((!byRole && task.assigned_agent === id) || (isOnly && asksFor(task, role))),
  );
  if (lost.length === 0) return null;
  const tasks = lost.map(({ task_id }) => `"${task_id}"`).join(", ");
  return byRole
    ? `No one else has the role "${role}", which the plan's ${lost.length === 1 ? "task" : "tasks"} ${tasks} ${lost.length === 1 ? "needs" : "need"}. Reassign ${lost.length === 1 ? "it" : "them"} first.`
    : `${id} is still assigned to the plan's ${lost.length === 1 ? "task" : "tasks"} ${tasks}. Reassign ${lost.length === 1 ? "it" : "them"} first.`;
}

const asksFor = ({ assigned_agent, required_role }: Task, role: string | undefined): boolean =>
  role !== undefined && (assigned_agent ? assigned_agent === role : required_role === role);

/** What would keep the crew from working as it would be then, and does not now. */
function crewError(s: RunState, command: TeamCommand): string | null {
  const { node_id, edit } = command;
  const node = s.graph.nodes[node_id];
  const after = memberAfter(s, command);
  if (!node || !isCrewNode(node) || !node.config.crew || after === undefined) return null;
  const id = after?.agent.agent_id ?? (edit.kind === "add" ? "" : edit.agent_id);
  const errors = (crew: Parameters<typeof crewDiagnostics>[0]) =>
    crewDiagnostics(crew).flatMap(({ severity, message }) => (severity === "error" ? [message] : []));
  const known = new Set(errors(teamNow(node.config.crew, s.team_changes[node_id])));
  const changed = teamNow(node.config.crew, { ...s.team_changes[node_id], [id]: after });
  const error = errors(changed).find((message) => !known.has(message));
  if (error === undefined) return null;
  return `${edit.kind === "remove" ? `Without ${id}` : `With this change to ${id}`}, the crew couldn't continue: ${error}`;
}
