import type { CrewProcess } from "./crew";
import type { RunEvent, RunEventOf } from "./events";
import type { ExecutionPlan, Task, TaskStatus } from "./plan";
import type { RiskLevel, ToolProtocol, ToolStatus } from "./tool";
import { type Json, type JsonObject, newRecord } from "./values";

/** One call of a tool. */
export interface ToolCallView {
  id: string;
  node_id: string;
  activation_id: string;
  /** Absent where a node called the tool itself. */
  agent_id?: string;
  task_id?: string;
  tool_name: string;
  args: JsonObject;
  /** stopped: its work ended before it did. */
  status: "running" | "completed" | "failed" | "refused" | "stopped";
  risk?: RiskLevel;
  protocol?: ToolProtocol;
  repaired?: boolean;
  status_code?: ToolStatus;
  output?: Json;
  error?: string;
  artifact_id?: string;
  simulated?: boolean;
  by_call?: string;
  /** Its id in the transcript. */
  tool_call_id?: string;
  started_at: number;
  finished_at?: number;
}

/** A question to a person. */
export interface Interaction {
  id: string;
  node_id: string;
  activation_id: string;
  agent_id?: string;
  task_id?: string;
  /** withdrawn: the work that asked it ended first. */
  status: "open" | "answered" | "withdrawn";
  requested: RunEventOf<"interaction_requested">["payload"];
  answered?: RunEventOf<"interaction_answered">["payload"];
  requested_at: number;
  answered_at?: number;
}

export type CrewLink =
  | { kind: "post"; post: RunEventOf<"post_sent">["payload"] }
  | { kind: "handoff"; handoff: RunEventOf<"handed_off">["payload"] }
  | {
      kind: "delegation";
      delegation: RunEventOf<"delegation_started">["payload"];
      done?: "completed" | "failed" | "stopped";
    }
  | { kind: "vote"; vote: RunEventOf<"vote_cast">["payload"] };

/** What went from one member of a crew to another; `seq` is the event's number. */
export type CrewExchange = CrewLink & { seq: number; at: number; round: number };

export interface Proposal {
  id: string;
  decision: string;
  rationale: string;
  by: string;
  stakeholders: readonly string[];
  votes: readonly RunEventOf<"vote_cast">["payload"][];
  outcome?: RunEventOf<"consensus_finalized">["payload"];
}

/** How a crew's work ended; stopped: its node was cancelled. */
export type CrewEnd = "completed" | "failed" | "stopped";

/** A crew at work: one activation of a crew task. */
export interface CrewRun {
  activation_id: string;
  process: CrewProcess;
  goal: string;
  members: readonly { agent_id: string; role_name: string; description?: string }[];
  manager?: string;
  status: "running" | CrewEnd;
  round: number;
  /** Who is to act now, in a crew where one acts at a time. */
  active_agent?: string;
  handoffs: number;
  exchanges: readonly CrewExchange[];
  board: Readonly<Record<string, string>>;
  teams: Readonly<Record<string, { agents: readonly string[]; purpose: string }>>;
  proposals: Readonly<Record<string, Proposal>>;
  ledger?: RunEventOf<"ledger_updated">["payload"];
}

/** The part of a run's state that agents at work together make. */
export interface CrewState {
  crews: Record<string, CrewRun>;
  tool_calls: Record<string, ToolCallView>;
  interactions: Record<string, Interaction>;
  /** Latest version of each file in the run's workspace, by path. */
  files: Record<string, RunEventOf<"artifact_created">["payload"]>;
  plans: Record<string, ExecutionPlan>;
  /** How each plan was changed on the way, the oldest first. */
  plan_changes: Record<string, readonly RunEventOf<"plan_changed">["payload"][]>;
  criteria: Record<string, readonly RunEventOf<"criterion_checked">["payload"][]>;
  /** Calls of tools that run, and questions that are open, by id: they end with their activation. */
  calling: Set<string>;
  asking: Set<string>;
}

export function newCrewState(): CrewState {
  return {
    crews: newRecord(),
    tool_calls: newRecord(),
    interactions: newRecord(),
    files: newRecord(),
    plans: newRecord(),
    plan_changes: newRecord(),
    criteria: newRecord(),
    calling: new Set(),
    asking: new Set(),
  };
}

/** Folds an event of crews, tools and people; answers whether it was one. */
export function evolveCrew(s: CrewState, event: RunEvent): boolean {
  const activation = event.activation_id ?? "";
  switch (event.type) {
    case "tool_call_started":
    case "tool_call_refused": {
      const { tool_name, args, by_call, tool_call_id } = event.payload;
      const about = {
        id: event.call_id!,
        node_id: event.node_id!,
        activation_id: activation,
        tool_name,
        args,
        started_at: event.ts,
        ...(event.agent_id ? { agent_id: event.agent_id } : {}),
        ...(event.task_id ? { task_id: event.task_id } : {}),
        ...(by_call ? { by_call } : {}),
        ...(tool_call_id ? { tool_call_id } : {}),
      };
      if (event.type === "tool_call_started") s.calling.add(about.id);
      else s.calling.delete(about.id);
      s.tool_calls[about.id] =
        event.type === "tool_call_started"
          ? {
              ...about,
              status: "running",
              risk: event.payload.risk,
              protocol: event.payload.protocol,
              ...(event.payload.repaired ? { repaired: true } : {}),
            }
          : {
              ...about,
              status: "refused",
              status_code: event.payload.status_code,
              error: event.payload.reason,
              started_at: s.tool_calls[about.id]?.started_at ?? event.ts,
              finished_at: event.ts,
            };
      return true;
    }
    case "tool_call_completed": {
      const call = s.tool_calls[event.call_id!];
      s.calling.delete(event.call_id!);
      const { tool_name: _name, latency_ms: _latency, ...result } = event.payload;
      if (call)
        s.tool_calls[call.id] = {
          ...call,
          ...result,
          status: result.status_code === 200 ? "completed" : "failed",
          finished_at: event.ts,
        };
      return true;
    }
    case "interaction_requested":
      s.asking.add(event.payload.interaction_id);
      s.interactions[event.payload.interaction_id] = {
        id: event.payload.interaction_id,
        node_id: event.node_id!,
        activation_id: activation,
        status: "open",
        requested: event.payload,
        requested_at: event.ts,
        ...(event.agent_id ? { agent_id: event.agent_id } : {}),
        ...(event.task_id ? { task_id: event.task_id } : {}),
      };
      return true;
    case "interaction_extended": {
      const { interaction_id, expires_at } = event.payload;
      const open = s.interactions[interaction_id];
      if (open) s.interactions[interaction_id] = { ...open, requested: { ...open.requested, expires_at } };
      return true;
    }
    case "interaction_answered": {
      const open = s.interactions[event.payload.interaction_id];
      s.asking.delete(event.payload.interaction_id);
      if (open)
        s.interactions[open.id] = {
          ...open,
          status: "answered",
          answered: event.payload,
          answered_at: event.ts,
        };
      return true;
    }
    case "artifact_created": {
      const { path } = event.payload;
      s.files[path] = event.payload;
      changeTask(s, event, ({ metadata }) => ({
        metadata: {
          ...metadata,
          artifacts_created: [...new Set([...(metadata.artifacts_created ?? []), path])],
        },
      }));
      return true;
    }
    case "agent_finished": {
      const { usage, cost_usd } = event.payload;
      changeTask(s, event, (task) => ({
        tokens_used: (task.tokens_used ?? 0) + usage.input_tokens + usage.output_tokens,
        cost_usd: (task.cost_usd ?? 0) + (cost_usd ?? 0),
      }));
      return true;
    }

    case "crew_started": {
      const { process, goal, members, manager } = event.payload;
      s.crews[activation] = {
        activation_id: activation,
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
        ...(manager ? { manager } : {}),
      };
      return true;
    }
    case "crew_finished": {
      const { status } = event.payload;
      const plan = s.plans[activation];
      change(s, activation, { status });
      if (plan) s.plans[activation] = { ...plan, overall_status: status };
      return true;
    }
    case "round_started":
      change(s, activation, { round: event.payload.round });
      return true;
    case "post_sent":
      exchange(s, event, { kind: "post", post: event.payload }, { active_agent: event.payload.to });
      return true;
    case "handed_off":
      exchange(
        s,
        event,
        { kind: "handoff", handoff: event.payload },
        {
          active_agent: event.payload.to,
          handoffs: event.payload.count,
        },
      );
      return true;
    case "delegation_started":
      exchange(s, event, { kind: "delegation", delegation: event.payload });
      return true;
    case "delegation_finished": {
      const { child, status } = event.payload;
      const crew = s.crews[activation];
      if (crew)
        change(s, activation, {
          exchanges: crew.exchanges.map((one) =>
            one.kind === "delegation" && one.delegation.child === child ? { ...one, done: status } : one,
          ),
        });
      return true;
    }
    case "ledger_updated":
      change(s, activation, { ledger: event.payload });
      return true;
    case "board_written": {
      const crew = s.crews[activation];
      if (crew)
        change(s, activation, {
          board: newRecord([...Object.entries(crew.board), [event.payload.alias, event.payload.bulletin]]),
        });
      return true;
    }
    case "team_changed": {
      const crew = s.crews[activation];
      const { team, action, agents, purpose } = event.payload;
      if (!crew) return true;
      const teams = newRecord(Object.entries(crew.teams));
      if (action === "dissolved") delete teams[team];
      else teams[team] = { agents, purpose: purpose ?? teams[team]?.purpose ?? "" };
      change(s, activation, { teams });
      return true;
    }
    case "proposal_created": {
      const crew = s.crews[activation];
      const { proposal_id, ...proposal } = event.payload;
      if (crew)
        change(s, activation, {
          proposals: newRecord([
            ...Object.entries(crew.proposals),
            [proposal_id, { ...proposal, id: proposal_id, votes: [] }],
          ]),
        });
      return true;
    }
    case "vote_cast":
      exchange(s, event, { kind: "vote", vote: event.payload });
      changeProposal(s, activation, event.payload.proposal_id, (proposal) => ({
        votes: [...proposal.votes, event.payload],
      }));
      return true;
    case "consensus_finalized":
      changeProposal(s, activation, event.payload.proposal_id, () => ({ outcome: event.payload }));
      return true;

    case "plan_created":
      s.plans[activation] = event.payload.plan;
      return true;
    case "plan_changed": {
      const plan = s.plans[activation];
      const { version, added, changed } = event.payload;
      s.plan_changes[activation] = [...(s.plan_changes[activation] ?? []), event.payload];
      if (plan)
        s.plans[activation] = {
          ...plan,
          version,
          tasks: [...plan.tasks, ...(added ?? [])].map((task) => ({ ...task, ...changed?.[task.task_id] })),
        };
      return true;
    }
    case "task_status_changed": {
      const plan = s.plans[activation];
      const { to, assigned_agent, output, error } = event.payload;
      const at = new Date(event.ts).toISOString();
      if (plan && plan.overall_status === "pending" && to === "in_progress")
        s.plans[activation] = { ...plan, overall_status: "in_progress" };
      changeTask(s, event, ({ metadata }) => ({
        status: to,
        metadata: {
          ...metadata,
          ...(to === "in_progress" ? { started_at: metadata.started_at ?? at } : {}),
          ...(to === "completed" ? { completed_at: at } : {}),
        },
        ...(assigned_agent ? { assigned_agent } : {}),
        ...(output === undefined ? {} : { output }),
        ...(error ? { error_message: error.message } : {}),
      }));
      return true;
    }
    case "criterion_checked":
      s.criteria[activation] = [...(s.criteria[activation] ?? []), event.payload];
      return true;
    default:
      return false;
  }
}

/**
 * Ends what was under way in an activation, or in the work of one of its agents: calls of tools are stopped, questions
 * withdrawn. Where the whole activation ended, so are its crew, what was delegated in it, and the tasks of its plan.
 */
export function endCrewWork(s: CrewState, activation: string, at: number, of: EndedWork): void {
  for (const id of s.calling) {
    const call = s.tool_calls[id]!;
    if (!isWorkOf(call, activation, of)) continue;
    s.calling.delete(id);
    s.tool_calls[id] = { ...call, status: "stopped", finished_at: at };
  }
  for (const id of s.asking) {
    const asked = s.interactions[id]!;
    if (!isWorkOf(asked, activation, of)) continue;
    s.asking.delete(id);
    s.interactions[id] = { ...asked, status: "withdrawn" };
  }
  if (!("crew" in of)) return;
  const crew = s.crews[activation];
  if (crew) {
    const { active_agent: _nobody, ...over } = crew;
    s.crews[activation] = {
      ...over,
      status: crew.status === "running" ? of.crew : crew.status,
      exchanges: crew.exchanges.map((one) =>
        one.kind === "delegation" && !one.done ? { ...one, done: "stopped" } : one,
      ),
    };
  }
  const plan = s.plans[activation];
  if (plan?.tasks.some(({ status }) => LEFT.has(status)))
    s.plans[activation] = {
      ...plan,
      tasks: plan.tasks.map((task) => (LEFT.has(task.status) ? { ...task, status: "cancelled" } : task)),
    };
}

type EndedWork = { crew: CrewEnd } | { agent_id: string; task_id?: string | undefined };

const isWorkOf = (
  one: { activation_id: string; agent_id?: string; task_id?: string },
  activation: string,
  of: EndedWork,
): boolean =>
  one.activation_id === activation &&
  ("crew" in of || (one.agent_id === of.agent_id && one.task_id === of.task_id));

/** Tasks that wait or are at work: nobody does them any more once the crew has ended. */
const LEFT: ReadonlySet<TaskStatus> = new Set(["pending", "in_progress", "awaiting_human"]);

/** Changes the task of a plan that an event is about: work on behalf of a task is named after it, as `task.r1`. */
function changeTask(s: CrewState, event: RunEvent, patch: (before: Task) => Partial<Task>) {
  const activation = event.activation_id ?? "";
  const plan = s.plans[activation];
  const id = event.task_id;
  if (!plan || id === undefined) return;
  const named = plan.tasks.filter(({ task_id }) => id === task_id || id.startsWith(`${task_id}.`));
  const nearest = named.sort((a, b) => b.task_id.length - a.task_id.length)[0];
  if (!nearest) return;
  s.plans[activation] = {
    ...plan,
    tasks: plan.tasks.map((task) => (task === nearest ? { ...task, ...patch(task) } : task)),
  };
}

function change(s: CrewState, activation: string, patch: Partial<CrewRun>) {
  const crew = s.crews[activation];
  if (crew) s.crews[activation] = { ...crew, ...patch };
}

function exchange(s: CrewState, event: RunEvent, link: CrewLink, patch: Partial<CrewRun> = {}) {
  const crew = s.crews[event.activation_id ?? ""];
  if (!crew) return;
  const one: CrewExchange = { ...link, seq: event.seq, at: event.ts, round: crew.round };
  change(s, crew.activation_id, { ...patch, exchanges: [...crew.exchanges, one] });
}

function changeProposal(
  s: CrewState,
  activation: string,
  id: string,
  patch: (before: Proposal) => Partial<Proposal>,
) {
  const before = s.crews[activation]?.proposals[id];
  if (!before) return;
  change(s, activation, {
    proposals: newRecord([
      ...Object.entries(s.crews[activation]!.proposals),
      [id, { ...before, ...patch(before) }],
    ]),
  });
}
