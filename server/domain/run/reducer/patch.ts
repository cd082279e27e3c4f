import { must } from "@/server/domain/base/must";
import type { Task } from "@/server/domain/crew/plan";
import type { ChatMessage, RunEvent } from "../events";
import type { Activation, AgentView, RunState } from "../state";
import { agentKey } from "../state";

/** Changes an activation, and with it what its node shows. Nothing where it is not known. */
export function setActivation(s: RunState, id: string, patch: Partial<Activation>): void {
  const before = s.activations[id];
  if (!before) return;
  const after = { ...before, ...patch };
  s.activations[id] = after;
  const node = s.nodes[before.node_id];
  if (!node) return;
  if (patch.status !== undefined || patch.attempt !== undefined)
    s.nodes[before.node_id] = { ...node, status: after.status, activation: id, attempt: after.attempt };
}

/** Makes an ended activation ready to run again. */
export function getReady(s: RunState, { finished_at: _f, ends_run: _e, ...activation }: Activation): void {
  s.activations[activation.id] = activation;
  setActivation(s, activation.id, { status: "ready", error: undefined, waiting: undefined });
}

/** The agent that an event is about. */
export const agentOf = (s: RunState, event: RunEvent): AgentView | undefined =>
  s.agents[agentKey(must(event, "activation_id"), must(event, "agent_id"), event.task_id)];

/** Changes the agent that an event is about. */
export function setAgent(s: RunState, event: RunEvent, patch: Partial<AgentView>): void {
  const agent = agentOf(s, event);
  if (agent) s.agents[agent.key] = { ...agent, ...patch };
}

/** Adds a message to the transcript of the agent that an event is about. */
export function addMessage(s: RunState, event: RunEvent, message: ChatMessage): void {
  const agent = agentOf(s, event);
  if (agent) s.agents[agent.key] = { ...agent, messages: [...agent.messages, message] };
}

/** Adds a warning to those that people read of the whole run. */
export function warn(s: RunState, message: string): void {
  s.run = { ...s.run, warnings: [...s.run.warnings, message] };
}

/** Changes the task of a plan that an event is about: work on behalf of a task is named after it, as `task.r1`. */
export function setTask(s: RunState, event: RunEvent, patch: (before: Task) => Partial<Task>): void {
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
