import { must } from "@/server/domain/base/must";
import type { TaskStatus } from "@/server/domain/crew/plan";
import type { CrewEnd } from "./crew-state";
import { setActivation } from "./reducer/patch";
import type { ModelCall, RunState } from "./state";

/** Whose work has ended: that of a whole activation, and how its crew came out, or that of one of its agents. */
type Ended = { crew: CrewEnd } | { agent_id: string; task_id: string | undefined };

/** Tasks that wait or are at work: nobody does them any more once the crew has ended. */
const LEFT: ReadonlySet<TaskStatus> = new Set(["pending", "in_progress", "awaiting_human"]);

/** Whatever an activation had under way has ended with it, also where a crash or a cancel left no word of it. */
export function endActivation(s: RunState, id: string, at: number, crew: CrewEnd): void {
  stopModelCalls(s, id, at);
  for (const key of s.at_work) {
    const agent = must(s.agents, key);
    if (agent.activation_id !== id) continue;
    s.at_work.delete(key);
    s.agents[key] = { ...agent, status: "stopped", finished_at: at };
  }
  stopAsking(s, id, at, { crew });
  endCrew(s, id, crew);
}

/** What an agent had under way when its work ended before it did. */
export function endAgent(
  s: RunState,
  activation: string,
  at: number,
  agent: { agent_id: string; task_id: string | undefined },
): void {
  stopModelCalls(
    s,
    activation,
    at,
    (call) => call.agent_id === agent.agent_id && call.task_id === agent.task_id,
  );
  stopAsking(s, activation, at, agent);
  goOnUnlessAsked(s, activation);
}

/** An activation that waited for a person goes on once none of its questions is open. */
export function goOnUnlessAsked(s: RunState, id: string): void {
  const { status, waiting } = s.activations[id] ?? {};
  if (status !== "waiting" || waiting?.for !== "human") return;
  for (const open of s.asking) {
    const asked = s.interactions[open];
    if (asked?.activation_id === id && asked.requested.mode !== "advisory") return;
  }
  setActivation(s, id, { status: "running", waiting: undefined });
}

/** The node has one activation less at work. */
export function finishWork(s: RunState, id: string, node_id: string): void {
  s.running.delete(id);
  const left = (s.work.get(node_id) ?? 1) - 1;
  if (left <= 0) s.work.delete(node_id);
  else s.work.set(node_id, left);
}

/** An activation that was to start will not, or has. */
export function takeFromReady(s: RunState, id: string): void {
  const at = s.ready.indexOf(id);
  if (at === 0) s.ready.shift();
  else if (at > 0) s.ready.splice(at, 1);
}

function stopModelCalls(
  s: RunState,
  id: string,
  at: number,
  isMeant: (call: ModelCall) => boolean = () => true,
): void {
  for (const call_id of s.activations[id]?.calls ?? []) {
    const call = s.calls[call_id];
    if (call?.status === "running" && isMeant(call))
      s.calls[call_id] = { ...call, status: "stopped", finished_at: at };
  }
}

/** Calls of tools are stopped, questions withdrawn. */
function stopAsking(s: RunState, activation: string, at: number, of: Ended): void {
  for (const id of s.calling) {
    const call = must(s.tool_calls, id);
    if (!isWorkOf(call, activation, of)) continue;
    s.calling.delete(id);
    s.tool_calls[id] = { ...call, status: "stopped", finished_at: at };
  }
  for (const id of s.asking) {
    const asked = must(s.interactions, id);
    // Nobody waits for an advisory one, so it outlives whoever asked it.
    if (!isWorkOf(asked, activation, of) || asked.requested.mode === "advisory") continue;
    s.asking.delete(id);
    s.interactions[id] = { ...asked, status: "withdrawn" };
  }
}

const isWorkOf = (
  one: { activation_id: string; agent_id?: string; task_id?: string },
  activation: string,
  of: Ended,
): boolean =>
  one.activation_id === activation &&
  ("crew" in of || (one.agent_id === of.agent_id && one.task_id === of.task_id));

/** The crew has ended, and with it what was delegated in it and the tasks of its plan. */
function endCrew(s: RunState, activation: string, end: CrewEnd): void {
  const crew = s.crews[activation];
  if (crew) {
    const { active_agent: _nobody, ...over } = crew;
    s.crews[activation] = {
      ...over,
      status: crew.status === "running" ? end : crew.status,
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
