import type {
  FinalStatus,
  InstallationRules,
  RaisableLimit,
  ReasonCode,
  RunConfig,
  RunError,
  Usage,
} from "@/server/domain/agent/outcome";
import type { RoleDefinition } from "@/server/domain/agent/role";
import type { Change } from "@/server/domain/base/changes";
import type { JsonObject } from "@/server/domain/base/values";
import type { PastWork } from "@/server/domain/crew/past-work";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { Pins } from "../commands/pins";
import type { ForeignText } from "../foreign-text";
import type { ForkGraph, ForkOrigin, ForkPatches } from "../fork/lineage";
import type { Sender, StartedBy } from "../started-by";
import type { AgentEvents, ModelCallEvents } from "./agent-events";
import type { CalledWorkflow, ChildEvents, ParentRun, ProviderSummary } from "./child-events";
import type { ControlEvents, KeptCommand } from "./control-events";
import type { CrewEvents, PlanEvents } from "./crew-events";
import type { PeopleRules, PersonEvents } from "./people-events";
import type { ToolEvents } from "./tool-events";

export type { CallPurpose } from "./agent-events";
export type { ChatMessage } from "./chat-message";
export type { PeopleRules, QuestionKind } from "./people-events";
export type { UnvouchedPlace } from "./tool-events";

/** How a run was started; `StartedBy` says by whom. */
export type RunTrigger =
  | "editor"
  | "api"
  | "cli"
  | "test"
  | "workflow"
  | "webhook"
  | "schedule"
  | "form"
  | "event"
  | "chat"
  | "mcp";

/** The run as a whole. */
export interface RunEvents {
  /** Creates the state. The graph and the roles are copies: later edits never change a run. */
  run_created: {
    graph: WorkflowGraph;
    roles: RoleDefinition[];
    workflow_id: string | null;
    workflow_name: string;
    input: JsonObject;
    config: RunConfig;
    trigger: RunTrigger;
    /** Who or what started it; absent in older runs, whose whole input counts as a person's own words. */
    origin?: StartedBy;
    /** The published version that it runs; absent: the draft. */
    workflow_version?: number;
    /** Variables of the installation and the workflow when the run started; `vars` in its state. */
    variables?: JsonObject;
    provider_summary: ProviderSummary | null;
    /** How much each model that it may ask reads, in tokens, by choiceKey; absent in older runs. */
    context_windows?: Record<string, number>;
    /** What whoever runs Troupe has set for every run; absent where nothing is set, and in older runs. */
    installation?: InstallationRules;
    /** Texts that came with files; absent where it has none, and in older runs. */
    foreign?: ForeignText;
    /** What nodes give instead of being carried out; only runs that a person starts in the editor have any. */
    pins?: Pins;
    /** It carries out this one node of its workflow; its graph is made for that. */
    only_node?: string;
    /** Its mode counts, and it can be held; absent where it just goes on, and in older runs. */
    can_hold?: true;
    /** What members of its crews did in earlier runs; absent where nothing is known, and in older runs. */
    past_work?: PastWork[];
    /** How people are asked where a question does not say; absent in older runs, where no answer in 15 minutes means no. */
    people?: PeopleRules;
    /** Where the run begins as another one went, and where that one did so before; absent where it begins by itself. */
    forks?: ForkOrigin[];
    /** What people told the run that this one repeats, beside answers; absent where it repeats none, and in older runs. */
    repeats?: KeptCommand[];
    /** Of what nodes and crews do (`edition.ts`); absent in older runs, which go by the first. */
    edition?: number;
    /** What the ids of tasks in prompts are made of: unknown to all data of before the run; absent in older runs. */
    prompt_seed?: string;
    /** The node of another run that started it; absent where a person or a program did. */
    parent?: ParentRun;
    /** The workflows that its nodes run, and those that these run, by id. */
    workflows?: Record<string, CalledWorkflow>;
  };
  run_started: Record<string, never>;
  /**
   * From here on the run goes its own way. What was spent before counts as inherited; `patches` and the drawing that
   * `run_created` names hold from now on.
   */
  run_forked: Sender & {
    from_run: string;
    /** The last event that both runs have. */
    from_seq: number;
    patches: ForkPatches;
    graph: ForkGraph;
    /** How many of the commands that its original was to repeat had been repeated by then; absent where none was left. */
    repeated?: number;
  };
  run_cancel_requested: { by: string; reason: string };
  /** `installation`: what holds in every run, where that has changed since; it holds in this run from here on. */
  run_recovered: { worker_id: string; requeued: string[]; installation?: InstallationRules };
  /** The wall clock went ahead of the time at work by so many milliseconds, or behind it: that is nobody's working time. */
  clock_jumped: { ms: number };
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
    /** Of a child run: how long it was active, in milliseconds. */
    active_ms?: number;
  };
  budget_warning: { metric: "cost_usd" | "total_tokens"; used: number; limit: number };
  budget_exceeded: { metric: "cost_usd" | "total_tokens"; used: number; limit: number };
  warning: { code: string; message: string };
}

/** The values that its nodes share. */
export interface StateEvents {
  state_initialized: { state: JsonObject; defaults_applied: string[] };
  /**
   * Each value is merged with the reducer named for its key, `last` by default. `changed`: keys whose long value
   * changed so little that the difference is shorter than the value.
   */
  state_patched: {
    set: JsonObject;
    changed?: Record<string, Change>;
    /** Before how many of the values merged already a merged value has its place; absent: behind them all. */
    before?: Record<string, number>;
    writer: string;
    reducers?: Record<string, string>;
  };
  state_conflict: {
    key: string;
    writers: [string, string];
    winner: string;
    policy: "topological_order" | "strict";
  };
  state_invalid: { key: string; errors: string[]; writer: string };
}

/** Its nodes. */
export interface NodeEvents {
  /** Queues an activation; consumes one token for each mention of an edge. `back`: a loop's next iteration. */
  node_ready: {
    consumes: string[];
    back?: boolean;
    fired?: boolean;
    iteration?: number;
    tie?: boolean;
    /** In which round of each loop around it, the outermost first; absent outside loops. */
    rounds?: number[];
  };
  /** `from_state`: further keys of the input, whose long values are those that the state has at this moment. */
  node_started: { attempt: number; input: JsonObject; from_state?: string[] };
  node_waiting: { for: "timer" | "signal" | "human" | "limit" | "run"; until?: number; name?: string };
  timer_fired: Record<string, never>;
  router_decided: {
    kind: string;
    labels: string[];
    evaluations?: { label: string; when: string; value: boolean; note?: string }[];
    reason?: string;
    confidence?: number | null;
  };
  node_completed: {
    output: JsonObject;
    /** Further keys of the output, whose long values are those that the state has at this moment. */
    from_state?: string[];
    written_keys: string[];
    labels?: string[];
    /** Not executed: its output was pinned. */
    pinned?: true;
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
  /** `unreachable`: no active node can reach it anymore. With an activation id, the token passed through the node. */
  node_skipped: { reason: "unreachable" | "condition" | "join_shortfall" };
  node_cancelled: { reason: string };
}

/** The ways between them: tokens, joins and loops. */
export interface EdgeEvents {
  /** Puts a token on the edge. `back`: it leads back to where a loop begins. */
  edge_taken: { edge_id: string; label?: string; back?: boolean };
  edge_skipped: { edge_id: string };
  token_absorbed: { consumes: string[] };
  join_rearmed: Record<string, never>;
  join_shortfall: { got: number; need: number; action: "skip" | "error" | "fire"; consumes: string[] };
  loop_started: { max: number };
  loop_iteration: { iteration: number; max: number };
  /** `exit_edge`: the edge taken because the limit was reached. */
  loop_finished: { iterations: number; reason: "limit"; consumes: string[]; exit_edge?: string };
}

/**
 * Everything that can happen in a run, by type, with its payload. The comment names the effect on the state. Each
 * subject has a file of handlers in reducer/, which the compiler wants whole.
 */
export interface Payloads
  extends RunEvents,
    StateEvents,
    NodeEvents,
    EdgeEvents,
    AgentEvents,
    ModelCallEvents,
    ToolEvents,
    ChildEvents,
    PersonEvents,
    CrewEvents,
    PlanEvents,
    ControlEvents {}
export type EventType = keyof Payloads;

interface Envelope<T extends EventType> {
  type: T;
  payload: Payloads[T];
  /** The node and its activation: "node#k", k from 1. */
  node_id?: string;
  activation_id?: string;
  agent_id?: string;
  task_id?: string;
  call_id?: string;
  /** What a person told the run and this event does, or refuses; absent in runs of before the third edition. */
  command_id?: string;
}

/** An event as the interpreter makes it, before it has a place in the log. */
export type NewEventOf<T extends EventType> = { [K in T]: Envelope<K> }[T];
export type NewEvent = NewEventOf<EventType>;

/** An event in the log. `seq` counts from 1 without gaps in each run; `ts` is Unix time in milliseconds. */
export type RunEvent = NewEvent & { seq: number; ts: number };
export type RunEventOf<T extends EventType> = { [K in T]: Envelope<K> & { seq: number; ts: number } }[T];
