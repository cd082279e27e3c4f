import type { AgentConfig } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { newRecord } from "@/server/domain/base/json";
import { must } from "@/server/domain/base/must";
import type { CrewExchange, CrewLink, CrewRun, Proposal } from "../crew-state";
import type { RunEvent } from "../events";
import type { CrewEvents } from "../events/crew-events";
import type { RunState } from "../state";
import type { Handlers } from "./handlers";

export const crews: Handlers<keyof CrewEvents> = {
  crew_started(s, event) {
    const { process, goal, members, manager } = event.payload;
    const activation_id = crewId(event);
    s.crews[activation_id] = {
      activation_id,
      process,
      goal,
      members,
      status: "running",
      round: 0,
      handoffs: 0,
      exchanges: [],
      board: newRecord(),
      teams: newRecord(),
      proposals: newRecord(),
      ...defined({ manager: manager || undefined }),
    };
  },
  crew_finished(s, event) {
    const { status } = event.payload;
    setCrew(s, event, () => ({ status }));
    const plan = s.plans[crewId(event)];
    if (plan) s.plans[crewId(event)] = { ...plan, overall_status: status };
  },
  round_started(s, event) {
    setCrew(s, event, () => ({ round: event.payload.round }));
  },
  post_sent(s, event) {
    addExchange(s, event, { kind: "post", post: event.payload }, { active_agent: event.payload.to });
  },
  handed_off(s, event) {
    const { to, count } = event.payload;
    const link: CrewLink = { kind: "handoff", handoff: event.payload };
    addExchange(s, event, link, { active_agent: to, handoffs: count });
  },
  delegation_started(s, event) {
    addExchange(s, event, { kind: "delegation", delegation: event.payload });
  },
  delegation_finished(s, event) {
    const { child, status } = event.payload;
    setCrew(s, event, ({ exchanges }) => ({
      exchanges: exchanges.map((one) =>
        one.kind === "delegation" && one.delegation.child === child ? { ...one, done: status } : one,
      ),
    }));
  },
  ledger_updated(s, event) {
    setCrew(s, event, () => ({ ledger: event.payload }));
  },
  board_written(s, event) {
    const { alias, bulletin } = event.payload;
    setCrew(s, event, ({ board }) => ({ board: newRecord([...Object.entries(board), [alias, bulletin]]) }));
  },
  team_changed(s, event) {
    const { team, action, agents, purpose } = event.payload;
    setCrew(s, event, (crew) => {
      const teams = newRecord(Object.entries(crew.teams));
      if (action === "dissolved") delete teams[team];
      else teams[team] = { agents, purpose: purpose ?? teams[team]?.purpose ?? "" };
      return { teams };
    });
  },
  member_changed(s, event) {
    const { agent_id, action, agent, tools, role, context_windows } = event.payload;
    const node_id = must(event, "node_id");
    s.team_news = [...s.team_news, { node_id, agent_id, action }];
    s.team_changes[node_id] = newRecord([
      ...Object.entries(s.team_changes[node_id] ?? {}),
      [agent_id, agent ? { agent, ...defined({ tools }) } : null],
    ]);
    if (role) s.roles = [...s.roles, role];
    if (context_windows)
      s.run = { ...s.run, context_windows: { ...s.run.context_windows, ...context_windows } };
    setCrew(s, event, (crew) => (crew.status === "running" ? membersAfter(s, crew, agent_id, agent) : {}));
  },
  proposal_created(s, event) {
    const { proposal_id, ...proposal } = event.payload;
    setCrew(s, event, ({ proposals }) => ({
      proposals: newRecord([
        ...Object.entries(proposals),
        [proposal_id, { ...proposal, id: proposal_id, votes: [] }],
      ]),
    }));
  },
  vote_cast(s, event) {
    addExchange(s, event, { kind: "vote", vote: event.payload });
    setProposal(s, event, event.payload.proposal_id, ({ votes }) => ({ votes: [...votes, event.payload] }));
  },
  consensus_finalized(s, event) {
    setProposal(s, event, event.payload.proposal_id, () => ({ outcome: event.payload }));
  },
};

/** A running crew with a member removed, added or replaced. */
function membersAfter(
  s: RunState,
  { members, teams, next_agent }: CrewRun,
  agent_id: string,
  agent: AgentConfig | undefined,
): Partial<CrewRun> {
  if (!agent) {
    const left = Object.entries(teams).flatMap(([name, team]) => {
      const agents = team.agents.filter((id) => id !== agent_id);
      return agents.length === 0 ? [] : [[name, { ...team, agents }] as const];
    });
    return {
      members: members.filter((member) => member.agent_id !== agent_id),
      teams: newRecord(left),
      ...(next_agent === agent_id ? { next_agent: undefined } : {}),
    };
  }
  const { role_name } = agent;
  const description = s.roles.find(({ name }) => name === role_name)?.description;
  const member = { agent_id, role_name, ...defined({ description: description || undefined }) };
  const isKnown = members.some((one) => one.agent_id === agent_id);
  return {
    members: isKnown
      ? members.map((one) => (one.agent_id === agent_id ? member : one))
      : [...members, member],
  };
}

/** A crew is known by the activation that it works in. */
const crewId = (event: RunEvent) => event.activation_id ?? "";

function setCrew(s: RunState, event: RunEvent, patch: (before: CrewRun) => Partial<CrewRun>): void {
  const crew = s.crews[crewId(event)];
  if (crew) s.crews[crew.activation_id] = { ...crew, ...patch(crew) };
}

function addExchange(s: RunState, event: RunEvent, link: CrewLink, patch: Partial<CrewRun> = {}): void {
  setCrew(s, event, ({ round, exchanges }) => {
    const one: CrewExchange = { ...link, seq: event.seq, at: event.ts, round };
    return { ...patch, exchanges: [...exchanges, one] };
  });
}

function setProposal(
  s: RunState,
  event: RunEvent,
  id: string,
  patch: (before: Proposal) => Partial<Proposal>,
): void {
  setCrew(s, event, ({ proposals }) => {
    const before = proposals[id];
    if (!before) return {};
    return { proposals: newRecord([...Object.entries(proposals), [id, { ...before, ...patch(before) }]]) };
  });
}
