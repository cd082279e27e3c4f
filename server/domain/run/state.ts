import type { Breakpoint } from "@/server/domain/agent/breakpoint/breakpoint";
import {
  type FinalStatus,
  type InstallationRules,
  NO_USAGE,
  type RaisableLimit,
  type ReasonCode,
  RunConfig,
  type RunError,
  type Usage,
} from "@/server/domain/agent/outcome";
import type { RoleDefinition, RoleRule } from "@/server/domain/agent/role";
import type { Version } from "@/server/domain/base/changes";
import { newRecord } from "@/server/domain/base/json";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { PastWork } from "@/server/domain/crew/past-work";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { ToolCall } from "@/server/domain/tool/tool";
import type { Instruction } from "./commands/instructions";
import type { Pins } from "./commands/pins";
import { type CrewState, newCrewState } from "./crew-state";
import type { CallPurpose, ChatMessage, PeopleRules, RunEventOf } from "./events";
import type { CalledWorkflow, ChildBudget, ParentRun } from "./events/child-events";
import type { PausedPlace, PauseReason, StepGranularity } from "./events/control-events";
import type { ForeignText } from "./foreign-text";
import type { ForkOrigin, Inherited } from "./fork/lineage";
import type { StartedBy } from "./started-by";

export type NodeStatus =
  | "idle"
  | "ready"
  | "running"
  | "waiting"
  | "completed"
  | "failed"
  | "skipped"
  | "cancelled";

/** One run of a node: "node#k". */
export interface Activation {
  id: string;
  node_id: string;
  /** Position among all activations of the run; causes always have smaller ones. */
  order: number;
  /** The activations whose tokens it consumed. */
  causes: readonly string[];
  status: NodeStatus;
  attempt: number;
  /** The node that a person sent the run to after this one, whatever it chose. */
  next?: string;
  /** It failed, and the run with it. */
  ends_run?: true;
  iteration?: number;
  /** In which round of each loop around it, the outermost first. */
  rounds?: readonly number[];
  input?: JsonObject;
  output?: JsonObject;
  error?: RunError | undefined;
  labels?: string[];
  decided?: RunEventOf<"router_decided">["payload"];
  started_at?: number;
  finished_at?: number;
  waiting?: { for: string; until?: number; name?: string } | undefined;
  /** Not executed: its output was pinned. */
  pinned?: true;
  usage: Usage;
  cost_usd: number;
  unknown_cost_calls: number;
  calls: readonly string[];
  /** Runs and items that it started; absent where it starts none. */
  children?: ChildCounts;
}

/** How far a node is with what it started. `total`: items of a map; absent for a single run. */
export interface ChildCounts {
  total?: number;
  running: number;
  done: number;
  failed: number;
}

/** A run that a node started. */
export interface ChildRun {
  run_id: string;
  activation_id: string;
  item?: number;
  status: "running" | "completed" | "failed";
  budget?: ChildBudget;
}

/** One model call. */
export interface ModelCall {
  id: string;
  node_id: string;
  activation_id: string;
  agent_id: string;
  task_id?: string;
  role_name?: string;
  purpose: CallPurpose;
  /** stopped: its agent's work ended before it did. */
  status: "running" | "completed" | "failed" | "stopped";
  attempt: number;
  content: string;
  tool_calls?: readonly ToolCall[];
  reasoning?: string;
  provider?: string;
  model?: string;
  simulated?: boolean;
  usage?: Usage;
  cost_usd?: number | null;
  latency_ms?: number;
  ttft_ms?: number | null;
  /** What people should know of its answer, a sentence each. */
  notes?: readonly string[];
  error?: RunError;
  started_at: number;
  finished_at?: number;
}

/** One agent running one task; key `activation/agent/task`. */
export interface AgentView {
  key: string;
  agent_id: string;
  role_name: string;
  activation_id: string;
  task_id?: string;
  /** The round of its crew in which it began; absent outside of rounds. */
  round?: number;
  status: "running" | RunEventOf<"agent_finished">["payload"]["status"];
  messages: readonly ChatMessage[];
  tools: readonly string[];
  /** Tools of its role that it was not given, and why. */
  withheld: readonly { tool_name: string; reason: string }[];
  delegate_level: number;
  /** Key of the agent that delegated to it. */
  parent?: string;
  /** Its role's rule answers, not a model. */
  by_rule?: RoleRule["kind"];
  /** It read untrusted content. */
  tainted?: boolean;
  /** It stored something that is to be forgotten when its task ends. */
  has_task_memory?: boolean;
  /** Its newest turn: counted over the run, and from 0 within this task. */
  iteration?: { global: number; local: number };
  /** How often it was warned that it goes in circles. */
  nudges?: number;
  error?: RunError;
  started_at: number;
  finished_at?: number;
}

export interface RunState extends CrewState {
  run: {
    id: string;
    workflow_id: string | null;
    workflow_name: string;
    status: "created" | "running" | "finished";
    final_status?: FinalStatus;
    reason_code?: ReasonCode;
    error?: RunError;
    output?: JsonObject;
    resumable?: readonly RaisableLimit[];
    warnings: readonly string[];
    /** Of a child run that has ended: how long it was active, in milliseconds. */
    active_ms?: number;
    provider_summary: { name: string; model: string; simulated: boolean } | null;
    simulated: boolean;
    context_windows?: Readonly<Record<string, number>>;
    /** What members of its crews did in earlier runs. */
    past_work?: readonly PastWork[];
    installation?: InstallationRules;
    foreign?: ForeignText;
    /** Outputs that replace the execution of nodes. */
    pins?: Pins;
    /** The run executes only this node of its workflow. */
    only_node?: string;
    people?: PeopleRules;
    /** Of what nodes and crews do; absent: the first. */
    edition?: number;
    prompt_seed?: string;
    /** The node of another run that started it. */
    parent?: ParentRun;
    /** The workflows that its nodes run, by id. */
    workflows?: Readonly<Record<string, CalledWorkflow>>;
    origin?: StartedBy;
    workflow_version?: number;
    variables?: JsonObject;
    /** Where it comes from, if it began as another run went, and where that one comes from; the oldest first. */
    forks?: readonly ForkOrigin[];
    /** How many of these the run has left behind it: as many times it went its own way. */
    forked?: number;
    /** The last event before an ended run was resumed by a person; its crews' work is counted up to there. */
    counted_to?: number;
    /** What was paid before it, by the runs that it comes from; none of it is in `totals`. */
    inherited?: Inherited;
    config: RunConfig;
    created_at: number;
    started_at?: number;
    finished_at?: number;
    /** Where it waits for a person, while it is paused. */
    paused_at?: PausedPlace & { reason: PauseReason; by: string; since: number };
    /** How far it goes until it is paused again; absent: to its end or a breakpoint. */
    stepping?: StepGranularity;
    /** Its mode counts. */
    can_hold?: true;
    breakpoints?: readonly Breakpoint[];
  };
  seq: number;
  graph: WorkflowGraph;
  roles: readonly RoleDefinition[];
  input: JsonObject;
  state: Record<string, Json>;
  /** The same values by how they came about; what refers to an older value keeps its version. */
  versions: Record<string, Version>;
  /** What was merged into each key that has a reducer, in the order of the workflow, and the value before. */
  merged: Record<string, { base: Json | undefined; parts: readonly { writer: string; value: Json }[] }>;
  /** Who wrote each key last: an activation id, or "input". */
  writer: Record<string, string>;
  /** The last output of each node, as expressions see it: nodes.<id>.output. */
  outputs: Record<string, { output: JsonObject }>;

  /** Tokens by node and edge; a token is the id of the activation it came from. */
  inbox: Record<string, Record<string, string[]>>;
  /** Tokens on back edges, waiting where their loop begins. */
  backbox: Record<string, Record<string, string[]>>;
  /** Nodes that hold tokens. */
  parked: Set<string>;
  /** How many activations of each node are ready, running or waiting. */
  work: Map<string, number>;
  /** Joins that fired and absorb the rest of their wave. */
  fired: Set<string>;
  loops: Record<string, { iteration: number; max: number }>;
  /** Activations that may start, in order. */
  ready: string[];
  /** Running activations. */
  running: Set<string>;
  /** The failure that ends the run once what is in flight has settled. */
  failing: RunError | null;
  /** What a run that failed left behind: activations that had yet to begin, and nodes that hold tokens. */
  left: { ready: readonly string[]; parked: readonly string[] } | null;

  nodes: Record<
    string,
    { status: NodeStatus; count: number; iteration?: number; attempt?: number; activation?: string }
  >;
  edges: Record<string, { status: "idle" | "taken" | "skipped"; count: number }>;
  activations: Record<string, Activation>;
  calls: Record<string, ModelCall>;
  agents: Record<string, AgentView>;
  /** Keys of the running agents: they end with their activation. */
  at_work: Set<string>;
  /** What people wrote during the run, other than answers: it is trusted. */
  told: readonly string[];
  /** Signals that were sent and that no node has taken yet, by their names. */
  signals: Record<string, readonly { data: Json; by: string }[]>;
  /** What people told its agents, the oldest first. */
  instructions: readonly Instruction[];
  /** Changes of crews' members by people, the oldest first. */
  team_news: readonly { node_id: string; agent_id: string; action: "added" | "removed" | "changed" }[];
  /** Sources of untrusted content, in order: what started the run, tools, and untrusted senders. */
  taint_sources: readonly string[];
  /** The untrusted senders among them, as named in `by`. */
  untrusted_senders: readonly string[];
  /** Runs that its nodes started, by `childKey`. */
  children: Map<string, ChildRun>;
  totals: {
    usage: Usage;
    cost_usd: number;
    unknown_cost_calls: number;
    steps: number;
    global_iterations: number;
    activations: number;
  };
}

const STANDARD_CONFIG = RunConfig.parse({});
const EMPTY_GRAPH: WorkflowGraph = { graph_id: "empty", version: 1, schema_version: 1, nodes: {}, edges: [] };

/** The state before anything happened. */
export function newRun(id = ""): RunState {
  return {
    run: {
      id,
      workflow_id: null,
      workflow_name: "",
      status: "created",
      warnings: [],
      provider_summary: null,
      simulated: false,
      config: STANDARD_CONFIG,
      created_at: 0,
    },
    seq: 0,
    graph: EMPTY_GRAPH,
    roles: [],
    input: {},
    state: newRecord(),
    versions: newRecord(),
    merged: newRecord(),
    writer: newRecord(),
    outputs: newRecord(),
    inbox: newRecord(),
    backbox: newRecord(),
    parked: new Set(),
    work: new Map(),
    fired: new Set(),
    loops: newRecord(),
    ready: [],
    running: new Set(),
    failing: null,
    left: null,
    nodes: newRecord(),
    edges: newRecord(),
    activations: newRecord(),
    calls: newRecord(),
    agents: newRecord(),
    at_work: new Set(),
    told: [],
    signals: newRecord(),
    instructions: [],
    team_news: [],
    taint_sources: [],
    untrusted_senders: [],
    children: new Map(),
    ...newCrewState(),
    totals: {
      usage: NO_USAGE,
      cost_usd: 0,
      unknown_cost_calls: 0,
      steps: 0,
      global_iterations: 0,
      activations: 0,
    },
  };
}

/** The key of an agent's transcript in `RunState.agents`. */
export const agentKey = (activationId: string, agentId: string, taskId?: string) =>
  taskId === undefined ? `${activationId}/${agentId}` : `${activationId}/${agentId}/${taskId}`;

/** Which run of an activation: the only one, or the one for an item of a map. */
export const childKey = (activationId: string, item?: number) =>
  item === undefined ? activationId : `${activationId}/${item}`;
