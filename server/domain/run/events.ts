import type {
  FinalStatus,
  InstallationRules,
  RaisableLimit,
  ReasonCode,
  RunConfig,
  RunError,
  Usage,
} from "@/server/domain/agent/outcome";
import type { AgentConfig, RoleDefinition } from "@/server/domain/agent/role";
import type { Change } from "@/server/domain/base/changes";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { CrewProcess } from "@/server/domain/crew/crew";
import type { PastWork } from "@/server/domain/crew/past-work";
import type { ExecutionPlan, Task, TaskStatus } from "@/server/domain/crew/plan";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { QuestionParts } from "@/server/domain/tool/person-question";
import type { RiskLevel, ToolCall, ToolProtocol, ToolQuestion, ToolStatus } from "@/server/domain/tool/tool";
import type { ControlEvents, KeptCommand } from "./control-events";
import type { ForkGraph, ForkOrigin, ForkPatches } from "./lineage";
import type { Pins } from "./pins";

/** One message of an agent's transcript, the same whichever protocol carried it. */
export interface ChatMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string;
  name?: string;
  /** What an assistant's message calls. */
  tool_calls?: ToolCall[];
  /** Which call a tool's message answers; every call has exactly one answer. */
  tool_call_id?: string;
  /** What a model thought before its message: some want it back with the message. */
  reasoning?: string;
  /** What a service gave with its message and wants back with it: sealed thoughts, signatures of calls. Nobody else reads it. */
  carried?: Carried;
}

/** Opaque parts of a message, for the one model of the one provider that they came from. */
export interface Carried {
  provider_id: string;
  model: string;
  parts: JsonObject;
}

/** What a model is asked for. */
export type CallPurpose = "task" | "plan" | "route" | "manage" | "vote" | "judge" | "summary";

/** Something that a call leads to, and where that came from. */
export interface UnvouchedPlace {
  argument: string;
  value: string;
  kind: "web" | "email" | "account" | "target" | "object" | "words" | "call";
  from: string | null;
}

/** How people are asked. */
export interface PeopleRules {
  /** How long a person has to answer, in milliseconds. */
  answer_within_ms: number;
  /**
   * Where limits ask, they also ask before a node starts, as roles and crews say, and offer a model that costs less. Absent in
   * older runs: only before a model call, as the node or the run says, with the next model of the agent's own list.
   */
  limits_ask?: "everywhere";
  /** Agents at work are told before their next turn whom a person takes into their crew or out of it; absent in older runs. */
  team_news?: "told";
}

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
    trigger: "editor" | "api" | "cli" | "test";
    provider_summary: { name: string; model: string; simulated: boolean } | null;
    /** How much each model that it may ask reads, in tokens, by choiceKey; absent in older runs. */
    context_windows?: Record<string, number>;
    /** What whoever runs Troupe has set for every run; absent where nothing is set, and in older runs. */
    installation?: InstallationRules;
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
  };
  run_started: Record<string, never>;
  /**
   * From here on the run goes its own way. What was spent before counts as inherited; `patches` and the drawing that
   * `run_created` names hold from now on.
   */
  run_forked: {
    from_run: string;
    /** The last event that both runs have. */
    from_seq: number;
    patches: ForkPatches;
    graph: ForkGraph;
    by: string;
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
  };
  budget_warning: { metric: "cost_usd" | "total_tokens"; used: number; limit: number };
  budget_exceeded: { metric: "cost_usd" | "total_tokens"; used: number; limit: number };
  warning: { code: string; message: string };
}

/** The values that its nodes share. */
export interface StateEvents {
  state_initialized: { state: JsonObject; defaults_applied: string[] };
  /**
   * Each value is merged with the named reducer of its key, `last` where none is named. `changed`: keys whose long
   * value became another by so little that saying it is shorter.
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
  node_waiting: { for: "timer" | "signal" | "human" | "limit"; until?: number; name?: string };
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
    /** It was not carried out: its output was pinned. */
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
  /** `unreachable`: nothing under way can reach it any more. With an activation id it passed through. */
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
  /** `exit_edge`: the way out taken because the limit was reached. */
  loop_finished: { iterations: number; reason: "limit"; consumes: string[]; exit_edge?: string };
}

/** Agents at work. */
export interface AgentEvents {
  agent_started: {
    role_name: string;
    task_id?: string;
    output_keys: string[];
    limits: { max_iterations: number };
    /** What it may call: the grant. Absent in runs from before there were tools. */
    tools?: string[];
    /** Tools of its role that it was not given, and why. */
    withheld?: { tool_name: string; reason: string }[];
    /** 0 for an agent that nobody delegated to. */
    delegate_level?: number;
    /** Key of the agent that delegated to this one. */
    parent?: string;
  };
  iteration_started: { global_iteration: number; local_iteration: number; delegate_level?: number };
  message_added: {
    message: ChatMessage;
    origin: "system" | "template" | "reask" | "nudge" | "tool" | "handoff" | "person";
    /** The instruction of a person that it brings, by its number. */
    instruction?: number;
  };
  output_parsed: {
    ok: boolean;
    errors: string[];
    repair: "none" | "jsonrepair" | "coerced" | "extracted";
    attempt: number;
  };
  /** The agent read content that nobody here vouches for: from now on what carries data out needs a person. */
  agent_tainted: { tool_name: string };
  /** The view that the agent has of its transcript became shorter; the log keeps everything. */
  context_condensed: {
    kind: "pruned" | "summarised" | "reset";
    /** Positions in the agent's messages, from inclusive, to exclusive. */
    from: number;
    to: number;
    tokens_before: number;
    tokens_after: number;
    summary?: string;
  };
  stuck_detected: { pattern: string; message: string; action: "nudge" | "stop" | "escalate" };
  guardrail_checked: {
    name: string;
    target: "input" | "output" | "tool_input" | "tool_output";
    ok: boolean;
    reason?: string;
    action: "none" | "retry" | "fail" | "escalate" | "warn";
  };
  memory_stored: { scope: string; key: string; tainted: boolean };
  agent_finished: {
    /** handed_off: another agent goes on. rejected: it says that the task cannot be done. stopped: nobody waits for it any more. */
    status: "completed" | "failed" | "handed_off" | "rejected" | "stopped";
    output?: JsonObject;
    error?: RunError;
    usage: Usage;
    cost_usd: number | null;
  };
}

/** Their calls of models. */
export interface ModelCallEvents {
  llm_call_started: {
    purpose: CallPurpose;
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
    /** It was not asked for anew: that run had the same request answered, and paid this. */
    reused?: { run_id: string; usage: Usage; cost_usd: number | null };
    /** What people should know of it, a sentence each, such as settings that were left out. */
    notes?: string[];
  };
  llm_call_failed: {
    error: RunError;
    http_status?: number;
    attempt: number;
    will_retry: boolean;
    delay_ms?: number;
    /** What it cost all the same, and whose model it was; absent where the service did nothing for it. */
    usage?: Usage;
    cost_usd?: number | null;
    cost_source?: string;
    provider?: string;
    model?: string;
    simulated?: boolean;
  };
}

/** Calls of tools, and what they leave behind. */
export interface ToolEvents {
  /** `call_id` of these events is the tool call's own, unique in the run. */
  tool_call_started: {
    tool_name: string;
    args: JsonObject;
    protocol: ToolProtocol;
    risk: RiskLevel;
    /** The model call that asked for it; absent for a node that calls a tool itself. */
    by_call?: string;
    /** Its id in the transcript. */
    tool_call_id?: string;
    repaired?: boolean;
  };
  /** Not executed. 400 unreadable or wrong arguments, 403 not permitted or declined, 404 unknown, 409 in conflict. */
  tool_call_refused: {
    tool_name: string;
    args: JsonObject;
    status_code: ToolStatus;
    reason: string;
    by_call?: string;
    tool_call_id?: string;
  };
  /** It failed for a reason that passes, and will be made again; only where doing it twice does no harm. */
  tool_call_retried: {
    tool_name: string;
    /** The one that failed, from 1. */
    attempt: number;
    status_code: ToolStatus;
    error?: string;
    delay_ms: number;
  };
  tool_call_completed: {
    tool_name: string;
    status_code: ToolStatus;
    output?: Json;
    error?: string;
    /** The whole result, where `output` was cut. */
    artifact_id?: string;
    simulated?: boolean;
    latency_ms?: number;
    /** It was not made anew: that run had the same call answered. */
    reused?: string;
  };
  artifact_created: {
    artifact_id: string;
    path: string;
    version: number;
    size: number;
    kind: "file" | "result";
  };
}

/** What a person is asked about. `question`: what a tool's server asks. */
export type QuestionKind =
  | "tool_confirmation"
  | "escalation"
  | "review"
  | "tie"
  | "question"
  | "approval"
  | "input"
  | "feedback"
  | "budget";

/** Questions to people. */
export interface PersonEvents {
  /** A person is asked; the run goes on elsewhere meanwhile. */
  interaction_requested: QuestionParts & {
    interaction_id: string;
    kind: QuestionKind;
    title: string;
    /** Why a person is asked, in words. */
    why: string;
    /** SHA-256 of what exactly is approved: an answer for anything else is refused. */
    fingerprint: string;
    tool_name?: string;
    args?: JsonObject;
    risk?: RiskLevel;
    /** Where the call leads that no person named, and what first contained that; null: nothing that was read did. */
    destinations?: UnvouchedPlace[];
    /** Of a `question`: what a tool's server wants of a person, as a form or as an address to open. */
    asks?: ToolQuestion;
    /** Tools whose results made the agent tainted. */
    taint_sources?: string[];
    /** Several calls that are asked about together, instead of tool_name, args, risk and destinations. */
    calls?: {
      tool_name: string;
      args: JsonObject;
      risk: RiskLevel;
      why: string;
      destinations?: UnvouchedPlace[];
    }[];
    /** Unix time in milliseconds; unanswered until then means no. */
    expires_at: number;
  };
  /** Half of the time to answer is over, and nobody has. */
  interaction_reminded: { interaction_id: string };
  /** Nobody answered for as long as its level says: somebody else is asked as well. `expires_at`: until when, if longer. */
  interaction_escalated: { interaction_id: string; level: number; to: string; expires_at?: number };
  /** The person has longer: the server slept or was down while the question was open. */
  interaction_extended: { interaction_id: string; expires_at: number };
  interaction_answered: {
    interaction_id: string;
    /** cancel: of a `question`, left open without a yes or a no. chosen: an option. given: a form was filled in. */
    answer: "approve" | "approve_always" | "reject" | "cancel" | "chosen" | "given" | "expired";
    /** The value of the option that was chosen. */
    option?: string;
    /** What the form holds, or the draft as the person left it. */
    value?: Json;
    /** What the form of a `question` holds. */
    content?: JsonObject;
    /** Where some of several calls were agreed to: their places in `calls`, from 0. */
    calls?: number[];
    message?: string;
    by: string;
  };
}

/** Agents that work together. */
export interface CrewEvents {
  crew_started: {
    process: CrewProcess;
    goal: string;
    members: { agent_id: string; role_name: string; description?: string }[];
    /** The agent that plans and sends the others, where there is one. */
    manager?: string;
  };
  crew_finished: { status: "completed" | "failed"; rounds?: number };
  /** A round of a mediated crew or of a vote, from 1. */
  round_started: { round: number };
  /** One agent says something to another; "user" stands for whoever started the crew. */
  post_sent: {
    from: string;
    to: string;
    message: string;
    kind: "post" | "reply" | "question" | "answer" | "feedback" | "result";
    /** How the step came out that ends with it, in a crew with a pattern of its own. */
    outcome?: string;
  };
  ledger_updated: {
    ledger: Record<string, { answer: boolean; reason: string }>;
    current_step?: string;
    stalls: number;
    replans: number;
  };
  board_written: { alias: string; bulletin: string };
  handed_off: {
    from: string;
    to: string;
    reason: string;
    context?: JsonObject;
    count: number;
  };
  delegation_started: {
    from: string;
    to: string;
    task: string;
    kind: "delegate" | "ask" | "parallel";
    level: number;
    /** Key of the agent at work on it. */
    child: string;
  };
  /** stopped: enough others were done, or the work of whoever delegated ended. */
  delegation_finished: {
    from: string;
    to: string;
    child: string;
    status: "completed" | "failed" | "stopped";
  };
  team_changed: {
    team: string;
    action: "created" | "modified" | "dissolved";
    agents: string[];
    purpose?: string;
    by: string;
  };
  /**
   * A person changed who works in the node's crew, and how, from here to the run's end. `agent`: the member as it is now;
   * absent: it was taken out. `tools`: of its role's tools, only these.
   */
  member_changed: {
    agent_id: string;
    action: "added" | "removed" | "changed";
    agent?: AgentConfig;
    tools?: string[];
    /** A copy of its role, which the run had none of that name of. */
    role?: RoleDefinition;
    /** How much its model reads, in tokens, by choiceKey. */
    context_windows?: Record<string, number>;
    by: string;
  };
  proposal_created: {
    proposal_id: string;
    decision: string;
    rationale: string;
    by: string;
    stakeholders: string[];
  };
  vote_cast: {
    proposal_id: string;
    round: number;
    agent_id: string;
    vote: "approve" | "reject" | "abstain";
    reasoning: string;
    confidence: number | null;
    /** It failed to vote validly. */
    forced?: boolean;
  };
  consensus_finalized: {
    proposal_id: string;
    outcome: "approved" | "rejected" | "tie" | "no_quorum";
    rule: string;
    approve: number;
    reject: number;
    abstain: number;
    /** Share of the members that did not abstain, 0 to 1. */
    turnout: number;
    decided_by: "votes" | "chair" | "person" | "rule";
  };
}

/** Plans and their tasks. */
export interface PlanEvents {
  plan_created: { plan: ExecutionPlan; by: string };
  /** The plan was changed on the way. `version` is the new one. */
  plan_changed: {
    version: number;
    by: string;
    added?: Task[];
    /** Fields that changed, by task. */
    changed?: Record<string, Partial<Task>>;
    reason?: string;
    /** What a person wrote in it themselves; absent where an agent changed the plan. */
    words?: string[];
  };
  criterion_checked: { criterion: string; met: boolean; evidence: string };
  task_status_changed: {
    from: TaskStatus;
    to: TaskStatus;
    /** The person who changed it; absent where it follows from the work. */
    by?: string;
    assigned_agent?: string;
    /** Where the task names nobody: why this member, as the last part of a sentence. */
    chosen_because?: string;
    output?: Json;
    error?: RunError;
  };
}

/**
 * Everything that can happen in a run, by type, with its payload. The comment names the effect on the state. Each
 * subject has a file of handlers in run/, which the compiler wants whole.
 */
export interface Payloads
  extends RunEvents,
    StateEvents,
    NodeEvents,
    EdgeEvents,
    AgentEvents,
    ModelCallEvents,
    ToolEvents,
    PersonEvents,
    CrewEvents,
    PlanEvents,
    ControlEvents {}
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
export type RunEventOf<T extends EventType> = { [K in T]: Envelope<K> & { seq: number; ts: number } }[T];
