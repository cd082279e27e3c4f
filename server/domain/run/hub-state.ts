import {
  type Action,
  type AgentState,
  actionOfCall,
  messageAction,
  type Observation,
  observationOf,
  toDict,
} from "@/server/domain/agent/hub";
import { addUsage, NO_USAGE, type Usage } from "@/server/domain/agent/outcome";
import type { JsonObject } from "@/server/domain/base/values";
import { knownCost, type Paid } from "@/server/domain/model/cost";
import { ToolOutput } from "@/server/domain/tool/tool";
import type { AgentView, ModelCall, RunState } from "./";

/** What an agent's work cost. `unknown_cost_calls`: calls whose price is unknown, which is not zero. */
export interface HubMetrics {
  usage: Usage;
  /** The known part; null if none is known. */
  cost_usd: number | null;
  unknown_cost_calls: number;
}

/** One conversation between an agent and the one that delegated its task. */
export interface HubSubtask {
  id: string;
  agent: string;
  role: string;
  agent_state: AgentState;
  delegate_level: number;
  /** The subtask whose agent delegated this one. */
  parent: string | null;
  local_iteration: number;
  /** How often it was warned about a loop; 0 once it ended. */
  almost_stuck: number;
  metrics: HubMetrics;
}

/**
 * A run as the state of OpenHands' agent hub: the root task and its subtasks, shared and local counters, traffic and
 * confirmation, the last error, and the cost. A view derived from the run's state; nothing else is stored.
 */
export interface HubState {
  root_task: { goal: string; agent_state: AgentState };
  subtasks: HubSubtask[];
  /** Model turns of all agents together. */
  iteration: number;
  max_iterations: number;
  traffic_control_state: "normal" | "throttling" | "paused";
  confirmation_mode: boolean;
  last_error: string | null;
  /** Event numbers. */
  start_id: number;
  end_id: number;
  metrics: HubMetrics;
  /** The run's state, by key. */
  extra_data: JsonObject;
}

export function hubState(run: RunState): HubState {
  const agents = Object.values(run.agents);
  const subtasks = agents.map((agent) => subtaskOf(run, agent));
  const failures = [
    ...agents.flatMap(({ error }) => (error ? [error] : [])),
    ...(run.run.error ? [run.run.error] : []),
  ];
  return {
    root_task: { goal: goalOf(run), agent_state: rootState(run) },
    subtasks,
    iteration: run.totals.global_iterations,
    max_iterations: run.run.config.max_global_iterations,
    traffic_control_state:
      run.run.final_status === "INCOMPLETE" || run.run.paused_at
        ? "paused"
        : subtasks.some(({ agent_state }) => agent_state === "RATE_LIMITED")
          ? "throttling"
          : "normal",
    confirmation_mode: run.run.config.confirmation.kind !== "never",
    last_error: failures.at(-1)?.message ?? null,
    start_id: run.seq === 0 ? 0 : 1,
    end_id: run.seq,
    metrics: {
      usage: run.totals.usage,
      cost_usd: knownCost(run.totals),
      unknown_cost_calls: run.totals.unknown_cost_calls,
    },
    extra_data: { ...run.state },
  };
}

/** An agent's actions and observations in the agent hub's format, oldest first. */
export function hubHistory(agent: AgentView): JsonObject[] {
  const history: (Action | Observation)[] = [];
  const open = new Map<string, Action>();
  for (const { role, content, tool_calls = [], tool_call_id } of agent.messages) {
    if (role === "tool") {
      const action = tool_call_id === undefined ? undefined : open.get(tool_call_id);
      if (action) history.push(observationOf(action, resultOf(content)));
    } else if (tool_calls.length === 0) {
      if (role !== "system") history.push(messageAction(content, role === "assistant"));
    } else
      for (const call of tool_calls) {
        const action = actionOfCall(call, content);
        open.set(call.id, action);
        history.push(action);
      }
  }
  return history.map((event) => ("action" in event ? toDict(event) : toDict(event)));
}

/** `name (status): text`, the format of tool results in a transcript. */
function resultOf(content: string): ToolOutput {
  const [, status, text] = /^\S+ \((\d{3})\): ([\s\S]*)$/.exec(content) ?? [];
  const read = ToolOutput.safeParse(
    status === "200" ? { status_code: 200, output: text } : { status_code: Number(status), error: text },
  );
  return read.success ? read.data : { status_code: 200, output: content };
}

function subtaskOf(run: RunState, agent: AgentView): HubSubtask {
  const calls = Object.values(run.calls).filter(
    (call) =>
      call.activation_id === agent.activation_id &&
      call.agent_id === agent.agent_id &&
      call.task_id === agent.task_id,
  );
  return {
    id: agent.key,
    agent: agent.agent_id,
    role: agent.role_name,
    agent_state: agentStateOf(run, agent),
    delegate_level: agent.delegate_level,
    parent: agent.parent ?? null,
    local_iteration: agent.iteration?.local ?? 0,
    almost_stuck: agent.status === "running" ? (agent.nudges ?? 0) : 0,
    metrics: {
      usage: calls.reduce((sum, { usage }) => (usage ? addUsage(sum, usage) : sum), NO_USAGE),
      ...paidFor(calls),
    },
  };
}

function paidFor(calls: readonly ModelCall[]): Paid {
  const unknown_cost_calls = calls.filter(({ cost_usd }) => cost_usd === null).length;
  const known = calls.reduce((sum, { cost_usd }) => sum + (cost_usd ?? 0), 0);
  return { cost_usd: knownCost({ cost_usd: known, unknown_cost_calls }), unknown_cost_calls };
}

/** How an agent ended. */
const ENDED: Readonly<Record<Exclude<AgentView["status"], "running">, AgentState>> = {
  completed: "FINISHED",
  handed_off: "FINISHED",
  rejected: "REJECTED",
  failed: "ERROR",
  stopped: "STOPPED",
};

export function agentStateOf(run: RunState, agent: AgentView): AgentState {
  if (agent.status !== "running") return ENDED[agent.status];
  if (run.run.final_status === "INCOMPLETE") return "PAUSED";
  if (run.run.status === "finished") return "STOPPED";
  const asking = interactionState(run, agent);
  if (asking) return asking;
  if (run.run.paused_at || run.activations[agent.activation_id]?.waiting?.for === "limit") return "PAUSED";
  const call = lastCall(run, agent);
  if (call?.status === "failed" && call.error?.code === "RATE_LIMIT") return "RATE_LIMITED";
  return agent.iteration === undefined ? "LOADING" : "RUNNING";
}

/** The state of an agent that waits for a person, or has an answer and hasn't continued yet. */
function interactionState(run: RunState, agent: AgentView): AgentState | undefined {
  const own = Object.values(run.interactions).filter(
    ({ activation_id, agent_id }) => activation_id === agent.activation_id && agent_id === agent.agent_id,
  );
  const question = own.find(({ status }) => status === "open");
  if (question)
    return question.requested.kind === "tool_confirmation"
      ? "AWAITING_USER_CONFIRMATION"
      : "AWAITING_USER_INPUT";
  const last = own.at(-1);
  if (last?.answered_at === undefined || last.answered_at < lastCallAt(run, agent)) return undefined;
  const answer = last.answered?.answer;
  return answer === "approve" || answer === "approve_always" ? "USER_CONFIRMED" : "USER_REJECTED";
}

const lastCall = (run: RunState, agent: AgentView) =>
  Object.values(run.calls).findLast(
    ({ activation_id, agent_id, task_id }) =>
      activation_id === agent.activation_id && agent_id === agent.agent_id && task_id === agent.task_id,
  );
const lastCallAt = (run: RunState, agent: AgentView): number => {
  const tool = Object.values(run.tool_calls).findLast(
    ({ activation_id, agent_id }) => activation_id === agent.activation_id && agent_id === agent.agent_id,
  );
  return Math.max(lastCall(run, agent)?.started_at ?? 0, tool?.started_at ?? 0);
};

function rootState({ run }: RunState): AgentState {
  switch (run.final_status) {
    case "COMPLETED":
      return "FINISHED";
    case "ERROR":
      return "ERROR";
    case "CANCELLED":
      return "STOPPED";
    case "INCOMPLETE":
      return "PAUSED";
    case undefined:
      return run.status === "created" ? "LOADING" : run.paused_at ? "PAUSED" : "RUNNING";
    default:
      return run.final_status satisfies never;
  }
}

/** What the run was asked for: its first text. */
function goalOf(run: RunState): string {
  const text = Object.values(run.input).find((value) => typeof value === "string");
  return typeof text === "string" ? text : run.run.workflow_name;
}
