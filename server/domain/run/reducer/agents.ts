import { defined } from "@/server/domain/base/defined";
import { must } from "@/server/domain/base/must";
import { endAgent } from "../endings";
import type { AgentEvents } from "../events/agent-events";
import { agentKey, type RunState } from "../state";
import { type Handlers, noChange } from "./handlers";
import { addMessage, agentOf, setAgent, setTask } from "./patch";

/** An agent has an instruction of a person in its conversation. */
function read(s: RunState, number: number, agent_id: string): void {
  s.instructions = s.instructions.map((one) =>
    one.number === number && !one.read_by.includes(agent_id)
      ? { ...one, read_by: [...one.read_by, agent_id] }
      : one,
  );
}

export const agents: Handlers<keyof AgentEvents> = {
  agent_started(s, event) {
    const { role_name, tools, withheld, delegate_level, parent, by_rule } = event.payload;
    const key = agentKey(must(event, "activation_id"), must(event, "agent_id"), event.task_id);
    const round = s.crews[event.activation_id ?? ""]?.round ?? 0;
    s.agents[key] = {
      key,
      agent_id: must(event, "agent_id"),
      role_name,
      activation_id: must(event, "activation_id"),
      status: "running",
      messages: [],
      tools: tools ?? [],
      withheld: withheld ?? [],
      delegate_level: delegate_level ?? 0,
      started_at: event.ts,
      ...defined({
        by_rule,
        parent: parent || undefined,
        task_id: event.task_id || undefined,
        round: round > 0 ? round : undefined,
      }),
    };
    s.at_work.add(key);
  },
  iteration_started(s, event) {
    const { global_iteration, local_iteration } = event.payload;
    s.totals.global_iterations = global_iteration + 1;
    setAgent(s, event, { iteration: { global: global_iteration, local: local_iteration } });
  },
  message_added(s, event) {
    const { message, instruction } = event.payload;
    addMessage(s, event, message);
    if (instruction !== undefined) read(s, instruction, event.agent_id ?? "");
  },
  agent_tainted(s, event) {
    const { tool_name } = event.payload;
    setAgent(s, event, { tainted: true });
    if (!s.taint_sources.includes(tool_name)) s.taint_sources = [...s.taint_sources, tool_name];
  },
  stuck_detected(s, event) {
    setAgent(s, event, { nudges: (agentOf(s, event)?.nudges ?? 0) + 1 });
  },
  memory_stored(s, event) {
    if (event.payload.scope === "task") setAgent(s, event, { has_task_memory: true });
  },
  agent_finished(s, event) {
    const { status, error, usage, cost_usd } = event.payload;
    const { agent_id = "", task_id } = event;
    const id = must(event, "activation_id");
    setAgent(s, event, { status, finished_at: event.ts, ...defined({ error }) });
    s.at_work.delete(agentKey(id, agent_id, task_id));
    if (status === "stopped" || status === "failed") endAgent(s, id, event.ts, { agent_id, task_id });
    setTask(s, event, (task) => ({
      tokens_used: (task.tokens_used ?? 0) + usage.input_tokens + usage.output_tokens,
      cost_usd: task.cost_usd === null || cost_usd === null ? null : (task.cost_usd ?? 0) + cost_usd,
    }));
  },
  output_parsed: noChange,
  context_condensed: noChange,
  guardrail_checked: noChange,
};
