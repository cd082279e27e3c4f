import type { WorkflowGraph } from "./graph";
import type { FinalStatus, RaisableLimit, ReasonCode, RunConfig, RunError, Usage } from "./outcome";
import type { ExecutionPlan, TaskStatus } from "./plan";
import type { RoleDefinition } from "./role";
import type { ToolCall, ToolProtocol } from "./tool";
import type { Json, JsonObject } from "./values";

/** One message of an agent's transcript, the same whichever protocol carried it. */
export interface ChatMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string;
  name?: string;
  /** What an assistant's message calls. */
  tool_calls?: ToolCall[];
  /** Which call a tool's message answers; every call has exactly one answer. */
  tool_call_id?: string;
}

/** Everything that can happen in a run, by type, with its payload. The comment names the effect on the state. */
export interface Payloads {
  /** Creates the state. The graph and the roles are copies: later edits never change a run. */
  run_created: {
    graph: WorkflowGraph;
    roles: RoleDefinition[];
    workflow_id: string | null;
    workflow_name: string;
    input: JsonObject;
    config: RunConfig;
    trigger: "editor" | "api" | "cli" | "test";
    provider_summary: { name: string; model: string; simulated: boolean } | null;
  };
  run_started: Record<string, never>;
  run_cancel_requested: { by: string; reason: string };
  run_recovered: { worker_id: string; requeued: string[] };
  run_limit_raised: { limit: RaisableLimit; from: number | null; to: number; by: string };
  /** A run that stopped at a limit goes on. */
  run_resumed: { by: string };
  run_finished: {
    final_status: FinalStatus;
    reason_code: ReasonCode;
    error?: RunError;
    output: JsonObject;
    /** Limits that may be raised to go on; present only on INCOMPLETE. */
    resumable?: RaisableLimit[];
    warnings: string[];
  };

  state_initialized: { state: JsonObject; defaults_applied: string[] };
  /** Each value is merged with the named reducer of its key, `last` where none is named. */
  state_patched: { set: JsonObject; writer: string; reducers?: Record<string, string> };
  state_conflict: {
    key: string;
    writers: [string, string];
    winner: string;
    policy: "topological_order" | "strict";
  };
  state_invalid: { key: string; errors: string[]; writer: string };

  /** Queues an activation; consumes one token for each mention of an edge. `back`: a loop's next iteration. */
  node_ready: { consumes: string[]; back?: boolean; fired?: boolean; iteration?: number; tie?: boolean };
  node_started: { attempt: number; input: JsonObject };
  node_waiting: { for: "timer" | "signal" | "human" | "limit"; until?: number; name?: string };
  node_completed: {
    output: JsonObject;
    written_keys: string[];
    labels?: string[];
    usage?: Usage;
    cost_usd?: number | null;
  };
  node_failed: {
    attempt: number;
    error: RunError;
    next: "retry" | "error_edge" | "continue" | "skip_branch" | "fail_run";
    usage?: Usage;
    cost_usd?: number | null;
  };
  node_retry_scheduled: { attempt: number; delay_ms: number };
  /** `unreachable`: nothing under way can reach it any more. With an activation id it passed through. */
  node_skipped: { reason: "unreachable" | "condition" | "join_shortfall" };
  node_cancelled: { reason: string };

  /** Puts a token on the edge. `back`: it leads back to where a loop begins. */
  edge_taken: { edge_id: string; label?: string; back?: boolean };
  edge_skipped: { edge_id: string };
  token_absorbed: { consumes: string[] };
  join_rearmed: Record<string, never>;
  join_shortfall: { got: number; need: number; action: "skip" | "error" | "fire"; consumes: string[] };
  loop_started: { max: number };
  loop_iteration: { iteration: number; max: number };
  /** `exit_edge`: the way out taken because the limit was reached. */
  loop_finished: { iterations: number; reason: "limit"; consumes: string[]; exit_edge?: string };
  router_decided: {
    kind: string;
    labels: string[];
    evaluations?: { label: string; when: string; value: boolean; note?: string }[];
    reason?: string;
    confidence?: number | null;
  };
  timer_fired: Record<string, never>;

  agent_started: {
    role_name: string;
    task_id?: string;
    output_keys: string[];
    limits: { max_iterations: number };
  };
  iteration_started: { global_iteration: number; local_iteration: number };
  message_added: { message: ChatMessage; origin: "system" | "template" | "reask" | "nudge" };
  llm_call_started: {
    purpose: "task" | "plan" | "route";
    attempt: number;
    message_count: number;
    model?: string;
  };
  llm_call_completed: {
    content: string;
    reasoning?: string;
    refusal?: string;
    tool_calls?: ToolCall[];
    tool_protocol?: ToolProtocol;
    finish_reason: string;
    provider: string;
    model: string;
    simulated: boolean;
    usage: Usage;
    cost_usd: number | null;
    cost_source: string;
    latency_ms: number;
    ttft_ms: number | null;
    response_format: string;
  };
  llm_call_failed: {
    error: RunError;
    http_status?: number;
    attempt: number;
    will_retry: boolean;
    delay_ms?: number;
  };
  output_parsed: {
    ok: boolean;
    errors: string[];
    repair: "none" | "jsonrepair" | "coerced" | "extracted";
    attempt: number;
  };
  agent_finished: {
    status: "completed" | "failed";
    output?: JsonObject;
    error?: RunError;
    usage: Usage;
    cost_usd: number | null;
  };

  plan_created: { plan: ExecutionPlan; by: string };
  task_status_changed: {
    from: TaskStatus;
    to: TaskStatus;
    assigned_agent?: string;
    output?: Json;
    error?: RunError;
  };

  budget_warning: { metric: "cost_usd" | "total_tokens"; used: number; limit: number };
  budget_exceeded: { metric: "cost_usd" | "total_tokens"; used: number; limit: number };
  warning: { code: string; message: string };
}
export type EventType = keyof Payloads;

interface Envelope<T extends EventType> {
  type: T;
  payload: Payloads[T];
  /** The node, and its how-manieth activation: "node#k", k from 1. */
  node_id?: string;
  activation_id?: string;
  agent_id?: string;
  task_id?: string;
  call_id?: string;
}

/** An event as the interpreter makes it, before it has a place in the log. */
export type NewEvent = { [T in EventType]: Envelope<T> }[EventType];

/** An event in the log. `seq` counts from 1 without gaps in each run; `ts` is Unix time in milliseconds. */
export type RunEvent = NewEvent & { seq: number; ts: number };
export type RunEventOf<T extends EventType> = Extract<RunEvent, { type: T }>;
