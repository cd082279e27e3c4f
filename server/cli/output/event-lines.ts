import type { NodeStatus } from "@/server/domain/run";
import { describePausedPlace, describeTarget } from "@/server/domain/run/commands/control-labels";
import type { EventType, RunEventOf } from "@/server/domain/run/events";

/** What a line may say about the node and the activation that its event belongs to. */
export interface LineContext {
  name: string;
  nameOf(nodeId: string): string;
  isAgent: boolean;
  /** ", round 2", or nothing. */
  round: string;
  /** How long it took, tokens, ..., or nothing. */
  facts: string;
  mark(status: NodeStatus): string;
  dim(text: string): string;
  held(text: string): string;
}

type Line<T extends EventType> = (event: RunEventOf<T>, context: LineContext) => string | null;

const asSentence = (text: string) => (/[.?!]$/.test(text) ? text : `${text}.`);

/** For what is not worth a line of its own. */
const silent = () => null;

/** The line of every event type; the compiler refuses a type without one. */
const lines: { readonly [T in EventType]: Line<T> } = {
  run_created: silent,
  run_started: silent,
  run_cancel_requested: silent,
  run_recovered: silent,
  clock_jumped: silent,
  run_limit_raised: silent,
  run_resumed: silent,
  run_paused: ({ payload }, { held, nameOf }) => held(`Paused ${describePausedPlace(payload.at, nameOf)}`),
  run_continued: silent,
  breakpoints_set: silent,
  run_forked: silent,
  state_edited: ({ payload: { set, remove, by } }, { held }) =>
    held(
      `State changed by ${by}: ${[...Object.keys(set), ...remove.map((key) => `${key} removed`)].join(", ")}`,
    ),
  next_overridden: ({ payload: { to, agent_id, by } }, { held, nameOf }) =>
    held(`${by} overrode the next step: ${to === undefined ? (agent_id ?? "") : nameOf(to)}`),
  member_changed: ({ payload: { agent_id, action, by } }, { held, name }) =>
    held(`${agent_id} ${action === "changed" ? "was changed" : action} in ${name} by ${by}`),
  next_agent_taken: silent,
  signal_received: ({ payload: { name, by } }, { held }) => held(`Signal "${name}" from ${by}`),
  signal_taken: silent,
  node_retried: ({ payload }, { held, name }) => held(`${name}: retried by ${payload.by}`),
  instruction_injected: ({ payload: { target, text, by } }, { held, nameOf }) =>
    held(`${by} told ${describeTarget(target, nameOf)}: ${text}`),
  node_skipped_by: ({ payload }, { mark, name }) => `${mark("skipped")} ${name}: skipped by ${payload.by}`,
  run_finished: silent,
  budget_warning: silent,
  budget_exceeded: silent,
  warning: ({ payload }, { held }) => held(payload.message),

  state_initialized: silent,
  state_patched: silent,
  state_conflict: silent,
  state_invalid: silent,

  node_ready: silent,
  // Nodes that compute and route are done at once: their end is enough.
  node_started: ({ payload: { attempt } }, { mark, name, isAgent, round }) =>
    attempt === 1 && !isAgent
      ? null
      : `${mark("running")} ${name}${attempt > 1 ? `, attempt ${attempt}` : ""}${round}`,
  node_waiting: (_, { mark, name }) => `${mark("waiting")} ${name} waits`,
  timer_fired: silent,
  router_decided: silent,
  node_completed: (_, { mark, name, round, facts }) => `${mark("completed")} ${name}${round}${facts}`,
  node_failed: ({ payload: { error, next } }, { mark, name }) =>
    `${mark("failed")} ${name}: ${error.message}${next === "retry" ? " Will retry." : ""}`,
  node_retry_scheduled: silent,
  node_skipped: (_, { mark, name, dim }) => `${mark("skipped")} ${dim(`${name}, skipped`)}`,
  node_cancelled: (_, { mark, name, dim }) => `${mark("cancelled")} ${dim(`${name}, cancelled`)}`,

  edge_taken: silent,
  edge_skipped: silent,
  token_absorbed: silent,
  join_rearmed: silent,
  join_shortfall: silent,
  loop_started: silent,
  loop_iteration: silent,
  loop_finished: silent,

  map_started: ({ payload: { total } }, { mark, name }) =>
    `${mark("running")} ${name}: ${total.toLocaleString("en-US")} ${total === 1 ? "item" : "items"}`,
  map_progressed: silent,
  child_started: ({ payload: { workflow_name, item } }, { mark, name }) =>
    item === undefined ? `${mark("running")} ${name}: running ${workflow_name}` : null,
  child_finished: ({ payload: { item, final_status, error } }, { mark, name }) =>
    item === undefined || final_status === "COMPLETED"
      ? null
      : `  ${mark("failed")} ${name}: item ${item + 1}: ${error?.message ?? final_status.toLowerCase()}`,

  agent_started: silent,
  iteration_started: silent,
  message_added: silent,
  output_parsed: silent,
  agent_tainted: silent,
  context_condensed: silent,
  stuck_detected: silent,
  guardrail_checked: silent,
  memory_stored: silent,
  agent_finished: silent,

  llm_call_started: silent,
  llm_call_completed: silent,
  llm_call_failed: ({ payload }, { mark, name }) => `  ${mark("failed")} ${name}: ${payload.error.message}`,

  tool_call_started: silent,
  tool_call_refused: silent,
  tool_call_retried: silent,
  tool_call_abandoned: ({ payload }, { held }) => held(payload.message),
  tool_call_completed: ({ payload: { status_code, tool_name, error } }, { mark, name, dim }) =>
    status_code === 200
      ? `  ${dim(`${name} used ${tool_name}`)}`
      : `  ${mark("failed")} ${name}: ${tool_name}: ${error ?? ""}`,
  artifact_created: silent,

  interaction_requested: ({ payload }, { mark, name }) =>
    `${mark("waiting")} ${name}: ${asSentence(payload.title)} ${payload.why}`,
  interaction_reminded: (_event, { mark, name }) => `${mark("waiting")} ${name}: still waiting for an answer`,
  interaction_escalated: ({ payload }, { mark, name }) =>
    `${mark("waiting")} ${name}: no answer, escalated to ${payload.to}`,
  interaction_extended: silent,
  interaction_answered: ({ payload: { answer, option, message } }, { name }) =>
    `  ${name}: ${option ?? answer.replace("_", " ")}${message ? `, ${message}` : ""}`,

  crew_started: silent,
  crew_finished: silent,
  round_started: silent,
  post_sent: silent,
  ledger_updated: silent,
  board_written: silent,
  handed_off: ({ payload: { from, to } }, { name }) => `  ${name}: ${from} hands off to ${to}`,
  delegation_started: silent,
  delegation_finished: silent,
  team_changed: silent,
  proposal_created: silent,
  vote_cast: silent,
  consensus_finalized: silent,

  plan_created: silent,
  plan_changed: silent,
  criterion_checked: silent,
  task_status_changed: ({ payload, task_id }, { mark, name }) =>
    payload.to === "completed" ? `  ${mark("completed")} ${name}: task ${task_id ?? ""}` : null,
};

/** What an event says on a terminal that only adds lines; null for what is not worth one. */
export const lineOf = <T extends EventType>(event: RunEventOf<T>, context: LineContext): string | null =>
  lines[event.type](event, context);
