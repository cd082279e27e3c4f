import { oneLine, withoutDemoMark } from "@/components/display/one-line";
import type { ExecutionPlan } from "@/server/domain/crew/plan";
import type { Paid } from "@/server/domain/model/cost";
import type { AgentView, CrewRun, Interaction, ModelCall, ToolCallView } from "@/server/domain/run";
import { exchangeText, memberNamed, messageOf } from "./crew-edges";

/** A crew with everything that its members did, as of one moment. */
export interface CrewScene {
  crew: CrewRun;
  agents: readonly AgentView[];
  tools: readonly ToolCallView[];
  calls: readonly ModelCall[];
  asks: readonly Interaction[];
  plan: ExecutionPlan | undefined;
}

export type MemberState =
  | "idle"
  | "working"
  | "thinking"
  | "tool"
  | "waiting"
  | "done"
  | "passed"
  | "failed"
  | "stopped";

export interface MemberActivity {
  state: MemberState;
  text: string;
  tainted: boolean;
}

/** The status of a member; with several tasks, the one that needs most attention. */
export function memberActivity(scene: CrewScene, agentId: string): MemberActivity {
  const mine = scene.agents.filter(({ agent_id }) => agent_id === agentId);
  const tainted = mine.some((agent) => agent.tainted === true);
  const activity = (state: MemberState, text: string): MemberActivity => ({ state, text, tainted });
  if (scene.asks.some(({ status, agent_id }) => status === "open" && agent_id === agentId))
    return activity("waiting", "Needs your answer");
  const tool = scene.tools.findLast(({ status, agent_id }) => status === "running" && agent_id === agentId);
  if (tool) return activity("tool", `Using ${tool.tool_name}`);
  if (scene.calls.some(({ status, agent_id }) => status === "running" && agent_id === agentId))
    return activity("thinking", "Thinking");
  if (mine.some(({ status }) => status === "running")) return activity("working", "In progress");
  const last = mine.at(-1);
  if (!last) return activity("idle", "Idle");
  if (last.status === "failed") return activity("failed", "Failed");
  if (last.status === "stopped") return activity("stopped", "Stopped");
  if (last.status === "rejected") return activity("failed", "Rejected task");
  if (last.status === "handed_off") return activity("passed", "Handed off");
  return activity("done", "Done");
}

/** What a member is to do now, or did last: its task of the plan, else what was asked of it last; empty before that. */
export function taskOf({ crew, agents, plan }: CrewScene, agentId: string): string {
  const mine = agents.filter(({ agent_id }) => agent_id === agentId);
  const now = mine.findLast(({ status }) => status === "running") ?? mine.at(-1);
  const planned = plan?.tasks.find(({ task_id }) => task_id === now?.task_id)?.description;
  if (planned) return withoutDemoMark(oneLine(planned));
  const asked = crew.exchanges.findLast(
    (one) => one.kind !== "vote" && memberNamed(crew, messageOf(one).to) === agentId,
  );
  if (asked) return withoutDemoMark(oneLine(exchangeText(asked)));
  return now ? oneLine(crew.goal) : "";
}

/**
 * The last message of a member in one line, as of the moment of the scene: to someone else, or else its last answer.
 * Without the mark of simulated text, which is shown once above the run.
 */
export function lastMessage({ calls, crew }: Pick<CrewScene, "calls" | "crew">, agentId: string): string {
  const call = calls.findLast(
    ({ agent_id, status, content }) => agent_id === agentId && status === "completed" && content !== "",
  );
  const sent = crew.exchanges.findLast((one) => memberNamed(crew, messageOf(one).from) === agentId);
  const isSentLast = sent !== undefined && sent.at >= (call?.finished_at ?? 0);
  const text = isSentLast ? exchangeText(sent) : (call?.content ?? "");
  return withoutDemoMark(oneLine(text)).slice(0, MAX_MESSAGE_LENGTH);
}

/** How much of a message a card shows, in characters. */
const MAX_MESSAGE_LENGTH = 200;

/** What one agent, role or model took. */
export interface CostRow extends Paid {
  name: string;
  calls: number;
  input_tokens: number;
  output_tokens: number;
  unknown_cost_calls: number;
}

/** Tokens and cost of finished model calls, by agent, role or model; the largest first. */
export function costsBy(calls: readonly ModelCall[], by: "agent" | "role" | "model"): CostRow[] {
  const rows = new Map<string, CostRow>();
  for (const call of calls) {
    if (!call.usage) continue;
    const name =
      by === "agent" ? call.agent_id : ((by === "role" ? call.role_name : call.model) ?? "unknown");
    const row = rows.get(name) ?? {
      name,
      calls: 0,
      input_tokens: 0,
      output_tokens: 0,
      cost_usd: 0,
      unknown_cost_calls: 0,
    };
    rows.set(name, {
      name,
      calls: row.calls + 1,
      input_tokens: row.input_tokens + call.usage.input_tokens,
      output_tokens: row.output_tokens + call.usage.output_tokens,
      cost_usd: (row.cost_usd ?? 0) + (call.cost_usd ?? 0),
      unknown_cost_calls: row.unknown_cost_calls + (call.cost_usd == null ? 1 : 0),
    });
  }
  const tokens = (row: CostRow) => row.input_tokens + row.output_tokens;
  return [...rows.values()].sort((a, b) => (b.cost_usd ?? 0) - (a.cost_usd ?? 0) || tokens(b) - tokens(a));
}

/** Agents in the order of their delegation: each follows the one that delegated to it. */
export function byDelegation(agents: readonly AgentView[]): AgentView[] {
  const known = new Set(agents.map(({ key }) => key));
  const under = (parent: string | undefined): AgentView[] =>
    agents
      .filter((agent) => (agent.parent && known.has(agent.parent) ? agent.parent : undefined) === parent)
      .flatMap((agent) => [agent, ...(agent.key === parent ? [] : under(agent.key))]);
  return under(undefined);
}
