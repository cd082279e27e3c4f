import type { BreakpointKind } from "@/server/domain/agent/breakpoint/breakpoint";
import { defined } from "@/server/domain/base/defined";
import type { EventType, NewEventOf } from "@/server/domain/run/events";
import type { PausedPlace } from "@/server/domain/run/events/control-events";

/** A place that a run comes to and may be held at. */
export interface Place extends PausedPlace {
  point: BreakpointKind;
  /** Of a call of a model: an agent's turn begins with it. */
  isTurn?: boolean;
  /** Of a call of a tool: it does more than read. */
  hasEffect?: boolean;
}

type PlacesOf<T extends EventType> = (
  event: NewEventOf<T>,
  at: Pick<Place, "node_id" | "activation_id" | "agent_id" | "task_id">,
) => Place[];

const nowhere = (): Place[] => [];

/** The places that each event type leads to; the compiler refuses a type about which nothing is decided. */
const places: { readonly [T in EventType]: PlacesOf<T> } = {
  run_created: nowhere,
  run_started: nowhere,
  run_cancel_requested: nowhere,
  run_recovered: nowhere,
  clock_jumped: nowhere,
  run_limit_raised: nowhere,
  run_resumed: nowhere,
  run_paused: nowhere,
  run_continued: nowhere,
  breakpoints_set: nowhere,
  run_forked: nowhere,
  state_edited: nowhere,
  signal_received: nowhere,
  signal_taken: nowhere,
  node_retried: nowhere,
  next_overridden: nowhere,
  member_changed: nowhere,
  next_agent_taken: nowhere,
  instruction_injected: nowhere,
  node_skipped_by: nowhere,
  run_finished: nowhere,
  budget_warning: nowhere,
  budget_exceeded: nowhere,
  warning: nowhere,

  state_initialized: nowhere,
  state_patched: ({ payload: { set, changed = {} } }, at) =>
    [...Object.keys(set), ...Object.keys(changed)].map((key) => ({ ...at, point: "state_write", key })),
  state_conflict: nowhere,
  state_invalid: nowhere,

  node_ready: nowhere,
  node_started: nowhere,
  node_waiting: nowhere,
  timer_fired: nowhere,
  router_decided: nowhere,
  node_completed: (_event, at) => [{ ...at, point: "node_end" }],
  node_failed: (_event, at) => [{ ...at, point: "error" }],
  node_retry_scheduled: nowhere,
  node_skipped: nowhere,
  node_cancelled: nowhere,

  edge_taken: ({ payload }, at) => [{ ...at, point: "edge", edge_id: payload.edge_id }],
  edge_skipped: nowhere,
  token_absorbed: nowhere,
  join_rearmed: nowhere,
  join_shortfall: nowhere,
  loop_started: nowhere,
  loop_iteration: ({ payload }, at) => [{ ...at, point: "loop_iteration", iteration: payload.iteration }],
  loop_finished: nowhere,

  map_started: nowhere,
  map_progressed: nowhere,
  child_started: nowhere,
  child_finished: nowhere,

  agent_started: nowhere,
  iteration_started: nowhere,
  message_added: nowhere,
  output_parsed: nowhere,
  agent_tainted: nowhere,
  context_condensed: nowhere,
  stuck_detected: nowhere,
  guardrail_checked: nowhere,
  memory_stored: nowhere,
  agent_finished: ({ payload }, at) => (payload.status === "failed" ? [{ ...at, point: "error" }] : []),

  llm_call_started: nowhere,
  llm_call_completed: nowhere,
  llm_call_failed: nowhere,

  tool_call_started: nowhere,
  tool_call_refused: nowhere,
  tool_call_retried: nowhere,
  tool_call_abandoned: nowhere,
  tool_call_completed: nowhere,
  artifact_created: nowhere,

  interaction_requested: nowhere,
  interaction_reminded: nowhere,
  interaction_escalated: nowhere,
  interaction_extended: nowhere,
  interaction_answered: nowhere,

  crew_started: nowhere,
  crew_finished: nowhere,
  round_started: nowhere,
  post_sent: nowhere,
  ledger_updated: nowhere,
  board_written: nowhere,
  handed_off: ({ payload }, at) => [{ ...at, point: "handoff", agent_id: payload.to }],
  delegation_started: nowhere,
  delegation_finished: nowhere,
  team_changed: nowhere,
  proposal_created: nowhere,
  vote_cast: nowhere,
  consensus_finalized: nowhere,

  plan_created: nowhere,
  plan_changed: nowhere,
  criterion_checked: nowhere,
  task_status_changed: nowhere,
};

/** The places that an event leads to. */
export function placesAfter<T extends EventType>(event: NewEventOf<T>): Place[] {
  const { node_id, activation_id, agent_id, task_id } = event;
  return places[event.type](event, {
    ...defined({ node_id, activation_id, agent_id, task_id }),
  });
}
