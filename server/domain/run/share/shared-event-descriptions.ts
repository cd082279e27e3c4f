import type { EventType, RunEventOf } from "../events";
import { writtenKeys } from "../past/key-history";
import type { RunState } from "../state";

/** The names of those an event is about; empty if there are none. */
interface About {
  node: string;
  agent: string;
}

type Sentence<T extends EventType> = (event: RunEventOf<T>, about: About) => string;

/** For events without a sentence of their own: the type as text, after its node. */
const byType = ({ type }: { type: string }, { node }: About): string =>
  [node, type.replaceAll("_", " ")].filter(Boolean).join(": ");

/** The sentence of every event type; the compiler refuses a type about which nothing is decided. */
const sentences: { readonly [T in EventType]: Sentence<T> } = {
  run_created: () => "The run was created",
  run_started: () => "The run started",
  run_cancel_requested: byType,
  run_recovered: byType,
  clock_jumped: byType,
  run_limit_raised: byType,
  run_resumed: byType,
  run_paused: byType,
  run_continued: byType,
  breakpoints_set: byType,
  run_forked: byType,
  state_edited: byType,
  signal_received: byType,
  signal_taken: byType,
  node_retried: byType,
  next_overridden: byType,
  member_changed: byType,
  next_agent_taken: byType,
  instruction_injected: byType,
  node_skipped_by: byType,
  run_finished: ({ payload }) => `The run ended: ${payload.final_status.toLowerCase()}`,
  budget_warning: byType,
  budget_exceeded: byType,
  warning: byType,

  state_initialized: () => "State initialized",
  state_patched: (event, { node }) => `${node} wrote ${writtenKeys(event).join(", ")}`,
  state_conflict: byType,
  state_invalid: byType,

  node_ready: byType,
  node_started: (_event, { node }) => `${node} started`,
  node_waiting: byType,
  timer_fired: byType,
  router_decided: ({ payload }, { node }) => `${node} chose ${payload.labels.join(", ") || "no route"}`,
  node_completed: (_event, { node }) => `${node} completed`,
  node_failed: ({ payload }, { node }) => `${node} failed: ${payload.error.code}`,
  node_retry_scheduled: byType,
  node_skipped: (_event, { node }) => `${node} was skipped`,
  node_cancelled: byType,

  edge_taken: ({ payload }, { node }) =>
    payload.label ? `Next: ${node} (${payload.label})` : `Next: ${node}`,
  edge_skipped: byType,
  token_absorbed: byType,
  join_rearmed: byType,
  join_shortfall: byType,
  loop_started: byType,
  loop_iteration: byType,
  loop_finished: byType,

  map_started: ({ payload }, { node }) => `${node} has ${payload.total.toLocaleString("en-US")} items`,
  map_progressed: byType,
  child_started: (_event, { node }) => `${node} started a run`,
  child_finished: ({ payload }, { node }) => `${node}: a run ended: ${payload.final_status.toLowerCase()}`,

  agent_started: ({ payload }, { agent }) => `${agent} started as ${payload.role_name}`,
  iteration_started: byType,
  message_added: (_event, { agent }) => `${agent} received a message`,
  output_parsed: byType,
  agent_tainted: byType,
  context_condensed: byType,
  stuck_detected: byType,
  guardrail_checked: byType,
  memory_stored: byType,
  agent_finished: ({ payload }, { agent }) => `${agent} ended: ${payload.status.replaceAll("_", " ")}`,

  llm_call_started: (_event, { agent }) => `${agent} called the model`,
  llm_call_completed: ({ payload }, { agent }) => `${payload.model} answered ${agent}`,
  llm_call_failed: byType,

  tool_call_started: ({ payload }, { agent, node }) => `${agent || node} calls ${payload.tool_name}`,
  tool_call_refused: byType,
  tool_call_retried: byType,
  tool_call_abandoned: byType,
  tool_call_completed: ({ payload }) => `${payload.tool_name} returned ${payload.status_code}`,
  artifact_created: byType,

  interaction_requested: () => "A person was asked",
  interaction_reminded: byType,
  interaction_escalated: byType,
  interaction_extended: byType,
  interaction_answered: ({ payload }) => `A person answered: ${payload.answer.replaceAll("_", " ")}`,

  crew_started: byType,
  crew_finished: byType,
  round_started: byType,
  post_sent: ({ payload }) => `${payload.from} wrote to ${payload.to}`,
  ledger_updated: byType,
  board_written: byType,
  handed_off: ({ payload }) => `${payload.from} handed off to ${payload.to}`,
  delegation_started: byType,
  delegation_finished: byType,
  team_changed: byType,
  proposal_created: byType,
  vote_cast: byType,
  consensus_finalized: byType,

  plan_created: byType,
  plan_changed: byType,
  criterion_checked: byType,
  task_status_changed: byType,
};
Object.setPrototypeOf(sentences, null);

/** An event in plain words that hold nothing of what was said, written or read. */
export function sharedSentence<T extends EventType>(event: RunEventOf<T>, { graph }: RunState): string {
  const node = graph.nodes[event.node_id ?? ""]?.name || event.node_id || "";
  const about = { node, agent: (event.agent_id ?? "").replaceAll("_", " ") };
  // An event of a newer version has no sentence here.
  return sentences[event.type]?.(event, about) ?? byType(event, about);
}
