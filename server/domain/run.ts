import { changed, isNothing, type Version, withVersions } from "./changes";
import { type CrewEnd, type CrewState, endCrewWork, evolveCrew, newCrewState } from "./crew-run";
import type { CallPurpose, ChatMessage, RunEvent, RunEventOf } from "./events";
import { type WorkflowGraph } from "./graph";
import {
  addUsage,
  type FinalStatus,
  type InstallationRules,
  NO_USAGE,
  type RaisableLimit,
  type ReasonCode,
  RunConfig,
  type RunError,
  type Usage,
} from "./outcome";
import { reduceAll, reduceValue } from "./reducers";
import type { RoleDefinition } from "./role";
import type { ToolCall } from "./tool";
import { type Json, type JsonObject, newRecord } from "./values";

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
  waiting?: { for: string; until?: number } | undefined;
  usage: Usage;
  cost_usd: number;
  unknown_cost_calls: number;
  calls: readonly string[];
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

/** One agent at work on one task; key `activation/agent/task`. */
export interface AgentView {
  key: string;
  agent_id: string;
  role_name: string;
  activation_id: string;
  task_id?: string;
  status: "running" | RunEventOf<"agent_finished">["payload"]["status"];
  messages: readonly ChatMessage[];
  tools: readonly string[];
  /** Tools of its role that it was not given, and why. */
  withheld: readonly { tool_name: string; reason: string }[];
  delegate_level: number;
  /** Key of the agent that delegated to it. */
  parent?: string;
  /** It read content that nobody here vouches for. */
  tainted?: boolean;
  /** It stored something that is to be forgotten when its task ends. */
  has_task_memory?: boolean;
  /** Its newest turn: counted over the run, and from 0 within this task. */
  iteration?: { global: number; local: number };
  /** How often it was told that it goes round in circles. */
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
    provider_summary: { name: string; model: string; simulated: boolean } | null;
    simulated: boolean;
    context_windows?: Readonly<Record<string, number>>;
    installation?: InstallationRules;
    config: RunConfig;
    created_at: number;
    started_at?: number;
    finished_at?: number;
  };
  seq: number;
  graph: WorkflowGraph;
  roles: readonly RoleDefinition[];
  input: JsonObject;
  state: Record<string, Json>;
  /** The same values by how they came about; what refers to an older value keeps its version. */
  versions: Record<string, Version>;
  /** What was merged into each key that has a reducer, in the order of the drawing, and what was there before. */
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
  /** Activations under way. */
  running: Set<string>;
  /** The failure that ends the run once what is in flight has settled. */
  failing: RunError | null;

  nodes: Record<
    string,
    { status: NodeStatus; count: number; iteration?: number; attempt?: number; activation?: string }
  >;
  edges: Record<string, { status: "idle" | "taken" | "skipped"; count: number }>;
  activations: Record<string, Activation>;
  calls: Record<string, ModelCall>;
  agents: Record<string, AgentView>;
  /** Keys of the agents that are at work: they end with their activation. */
  at_work: Set<string>;
  /** Tools that brought content into the run that nobody here vouches for, in the order in which they did. */
  taint_sources: readonly string[];
  totals: {
    usage: Usage;
    cost_usd: number;
    unknown_cost_calls: number;
    steps: number;
    global_iterations: number;
    activations: number;
  };
}

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
      config: RunConfig.parse({}),
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
    nodes: newRecord(),
    edges: newRecord(),
    activations: newRecord(),
    calls: newRecord(),
    agents: newRecord(),
    at_work: new Set(),
    taint_sources: [],
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

/** The key under which an agent's transcript lies in `RunState.agents`. */
export const agentKey = (activationId: string, agentId: string, taskId?: string) =>
  taskId === undefined ? `${activationId}/${agentId}` : `${activationId}/${agentId}/${taskId}`;

/**
 * Folds one event into the state, in constant time. It depends on nothing but its arguments.
 *
 * The state belongs to the caller: containers are changed in place, the records in them are replaced. So a view
 * can compare leaves (`state.nodes[id]`) by identity, and a long run costs no more per event than a short one.
 */
export function evolve(s: RunState, event: RunEvent): RunState {
  s.seq = event.seq;
  switch (event.type) {
    case "run_created": {
      const { payload } = event;
      s.graph = payload.graph;
      s.roles = payload.roles;
      s.input = payload.input;
      s.run = {
        ...s.run,
        workflow_id: payload.workflow_id,
        workflow_name: payload.workflow_name,
        provider_summary: payload.provider_summary,
        // Calls tell: what the settings pointed to at the start may not be what answered.
        simulated: false,
        ...(payload.context_windows ? { context_windows: payload.context_windows } : {}),
        ...(payload.installation ? { installation: payload.installation } : {}),
        config: payload.config,
        created_at: event.ts,
      };
      return s;
    }
    case "run_started":
      s.run = { ...s.run, status: "running", started_at: event.ts };
      return s;
    case "run_limit_raised": {
      const { limit, to } = event.payload;
      const config = { ...s.run.config };
      if (limit === "max_cost_usd" || limit === "max_total_tokens")
        config.budget = { ...config.budget, [limit]: to };
      else config[limit] = to;
      s.run = { ...s.run, config };
      return s;
    }
    case "run_resumed": {
      const {
        final_status: _f,
        reason_code: _r,
        error: _e,
        output: _o,
        resumable: _l,
        finished_at: _t,
        ...rest
      } = s.run;
      s.run = { ...rest, status: "running" };
      for (const id of s.running)
        if (s.activations[id]?.waiting?.for === "limit")
          setActivation(s, id, { status: "running", waiting: undefined });
      return s;
    }
    case "run_finished": {
      const { final_status, reason_code, error, output, resumable, warnings } = event.payload;
      s.run = {
        ...s.run,
        status: "finished",
        final_status,
        reason_code,
        output,
        finished_at: event.ts,
        warnings: warnings.length > 0 ? warnings : s.run.warnings,
        ...(error ? { error } : {}),
        ...(resumable ? { resumable } : {}),
      };
      if (final_status !== "INCOMPLETE") {
        for (const id of [...s.ready, ...s.running]) {
          setActivation(s, id, { status: "cancelled", finished_at: event.ts, waiting: undefined });
          endWork(s, id, event.ts, "stopped");
        }
        s.ready = [];
        s.running.clear();
        s.work.clear();
        s.parked.clear();
      }
      return s;
    }

    case "state_initialized":
      for (const [key, value] of Object.entries(event.payload.state))
        write(s, key, "input", { before: null, make: () => value });
      return s;
    case "state_patched": {
      const { set, writer, reducers, before: places, changed: changes } = event.payload;
      for (const key in set) {
        const reducer = reducers?.[key];
        const value = set[key]!;
        if (reducer) merge(s, key, writer, { reducer, value, before: places?.[key] ?? 0 });
        else write(s, key, writer, { before: null, make: () => value });
      }
      for (const key in changes) {
        const change = changes[key]!;
        s.writer[key] = writer;
        if (isNothing(change)) continue;
        write(s, key, writer, { before: s.versions[key] ?? null, make: (before) => changed(before, change) });
      }
      return s;
    }

    case "node_ready": {
      const node_id = event.node_id!;
      const id = event.activation_id!;
      const { consumes, back, fired, iteration, rounds } = event.payload;
      const causes = takeTokens(s, back ? s.backbox : s.inbox, node_id, consumes);
      if (fired) s.fired.add(node_id);
      const activation: Activation = {
        id,
        node_id,
        order: s.totals.activations,
        causes,
        status: "ready",
        attempt: 0,
        usage: NO_USAGE,
        cost_usd: 0,
        unknown_cost_calls: 0,
        calls: [],
      };
      if (iteration !== undefined) activation.iteration = iteration;
      if (rounds) activation.rounds = rounds;
      s.activations[id] = activation;
      s.totals.activations++;
      s.ready.push(id);
      s.work.set(node_id, (s.work.get(node_id) ?? 0) + 1);
      const before = s.nodes[node_id];
      const node: RunState["nodes"][string] = {
        status: before?.status === "running" ? "running" : "ready",
        count: (before?.count ?? 0) + 1,
        activation: id,
      };
      const round = iteration ?? before?.iteration;
      if (round !== undefined) node.iteration = round;
      s.nodes[node_id] = node;
      return s;
    }
    case "node_started": {
      const id = event.activation_id!;
      const { attempt, from_state } = event.payload;
      const input = withVersions(event.payload.input, s.versions, from_state);
      const at = s.ready.indexOf(id);
      if (at === 0) s.ready.shift();
      else if (at > 0) s.ready.splice(at, 1);
      s.running.add(id);
      if (attempt === 1) s.totals.steps++;
      const started_at = s.activations[id]?.started_at ?? event.ts;
      setActivation(s, id, {
        status: "running",
        attempt,
        input,
        started_at,
        waiting: undefined,
        error: undefined,
      });
      return s;
    }
    case "node_waiting": {
      const { until } = event.payload;
      setActivation(s, event.activation_id!, {
        status: "waiting",
        waiting: { for: event.payload.for, ...(until === undefined ? {} : { until }) },
      });
      return s;
    }
    case "timer_fired":
      setActivation(s, event.activation_id!, { status: "running", waiting: undefined });
      return s;
    case "node_completed": {
      const id = event.activation_id!;
      const node_id = event.node_id!;
      const { labels, from_state } = event.payload;
      const output = withVersions(event.payload.output, s.versions, from_state);
      setActivation(s, id, {
        status: "completed",
        output,
        finished_at: event.ts,
        waiting: undefined,
        ...(labels ? { labels } : {}),
      });
      s.outputs[node_id] = { output };
      endWork(s, id, event.ts, "completed");
      finishWork(s, id, node_id);
      return s;
    }
    case "node_failed": {
      const id = event.activation_id!;
      const { error, next } = event.payload;
      endWork(s, id, event.ts, "failed");
      if (next === "retry") {
        setActivation(s, id, { status: "waiting", error, waiting: { for: "retry" } });
        return s;
      }
      setActivation(s, id, { status: "failed", error, finished_at: event.ts, waiting: undefined });
      finishWork(s, id, event.node_id!);
      if (next === "fail_run") s.failing ??= error;
      else s.run = { ...s.run, warnings: [...s.run.warnings, error.message] };
      return s;
    }
    case "node_retry_scheduled":
      setActivation(s, event.activation_id!, {
        waiting: { for: "retry", until: event.ts + event.payload.delay_ms },
      });
      return s;
    case "node_skipped": {
      const node_id = event.node_id!;
      if (event.activation_id) {
        const at = s.ready.indexOf(event.activation_id);
        if (at >= 0) s.ready.splice(at, 1);
        setActivation(s, event.activation_id, { status: "skipped", finished_at: event.ts });
        finishWork(s, event.activation_id, node_id);
      } else s.nodes[node_id] = { ...(s.nodes[node_id] ?? { count: 0 }), status: "skipped" };
      return s;
    }
    case "node_cancelled": {
      const id = event.activation_id!;
      setActivation(s, id, { status: "cancelled", finished_at: event.ts, waiting: undefined });
      endWork(s, id, event.ts, "stopped");
      const at = s.ready.indexOf(id);
      if (at >= 0) s.ready.splice(at, 1);
      finishWork(s, id, event.node_id!);
      return s;
    }

    case "edge_taken": {
      const { edge_id, back } = event.payload;
      const target = event.node_id!;
      const box = back ? s.backbox : s.inbox;
      box[target] ??= newRecord();
      const tokens = box[target];
      (tokens[edge_id] ??= []).push(event.activation_id ?? "");
      s.parked.add(target);
      s.edges[edge_id] = { status: "taken", count: (s.edges[edge_id]?.count ?? 0) + 1 };
      return s;
    }
    case "edge_skipped": {
      const before = s.edges[event.payload.edge_id];
      s.edges[event.payload.edge_id] = {
        status: before?.status === "taken" ? "taken" : "skipped",
        count: before?.count ?? 0,
      };
      return s;
    }
    case "token_absorbed":
      takeTokens(s, s.inbox, event.node_id!, event.payload.consumes);
      return s;
    case "join_rearmed":
      s.fired.delete(event.node_id!);
      return s;
    case "join_shortfall": {
      const { action, got, need, consumes } = event.payload;
      takeTokens(s, s.inbox, event.node_id!, consumes);
      if (action === "error")
        s.failing ??= {
          code: "JOIN_SHORTFALL",
          message: `Only ${got} of the ${need} branches that this node waits for arrived.`,
          retryable: false,
          user_action: "edit_graph",
          node_id: event.node_id!,
        };
      return s;
    }
    case "loop_started":
      s.loops[event.node_id!] = { iteration: 1, max: event.payload.max };
      return s;
    case "loop_iteration":
      s.loops[event.node_id!] = { iteration: event.payload.iteration, max: event.payload.max };
      return s;
    case "loop_finished": {
      const node_id = event.node_id!;
      takeTokens(s, s.backbox, node_id, event.payload.consumes);
      if (!event.payload.exit_edge)
        s.failing ??= {
          code: "LOOP_LIMIT",
          message: `The loop reached its limit of ${event.payload.iterations} iterations and has no other way out.`,
          retryable: false,
          user_action: "edit_graph",
          node_id,
        };
      return s;
    }
    case "router_decided":
      setActivation(s, event.activation_id!, { decided: event.payload });
      return s;

    case "agent_started": {
      const key = agentKey(event.activation_id!, event.agent_id!, event.task_id);
      s.agents[key] = {
        key,
        agent_id: event.agent_id!,
        role_name: event.payload.role_name,
        activation_id: event.activation_id!,
        status: "running",
        messages: [],
        tools: event.payload.tools ?? [],
        withheld: event.payload.withheld ?? [],
        delegate_level: event.payload.delegate_level ?? 0,
        started_at: event.ts,
        ...(event.payload.parent ? { parent: event.payload.parent } : {}),
        ...(event.task_id ? { task_id: event.task_id } : {}),
      };
      s.at_work.add(key);
      return s;
    }
    case "agent_tainted":
      setAgent(s, event, { tainted: true });
      if (!s.taint_sources.includes(event.payload.tool_name))
        s.taint_sources = [...s.taint_sources, event.payload.tool_name];
      return s;
    case "iteration_started":
      s.totals.global_iterations = event.payload.global_iteration + 1;
      setAgent(s, event, {
        iteration: { global: event.payload.global_iteration, local: event.payload.local_iteration },
      });
      return s;
    case "message_added":
      addMessage(s, event, event.payload.message);
      return s;
    case "llm_call_started": {
      const id = event.call_id!;
      const agent = s.agents[agentKey(event.activation_id!, event.agent_id!, event.task_id)];
      s.calls[id] = {
        id,
        node_id: event.node_id!,
        activation_id: event.activation_id!,
        agent_id: event.agent_id!,
        purpose: event.payload.purpose,
        status: "running",
        attempt: event.payload.attempt,
        content: "",
        started_at: event.ts,
        ...(event.task_id ? { task_id: event.task_id } : {}),
        ...(agent ? { role_name: agent.role_name } : {}),
      };
      const activation = s.activations[event.activation_id!];
      if (activation) setActivation(s, activation.id, { calls: [...activation.calls, id] });
      return s;
    }
    case "llm_call_completed": {
      const { payload } = event;
      const call = s.calls[event.call_id!];
      if (call) {
        const { finish_reason: _f, cost_source: _c, response_format: _r, refusal: _x, ...seen } = payload;
        s.calls[call.id] = { ...call, ...seen, status: "completed", finished_at: event.ts };
      }
      addMessage(s, event, {
        role: "assistant",
        content: payload.content,
        ...(payload.tool_calls && payload.tool_calls.length > 0 ? { tool_calls: payload.tool_calls } : {}),
      });
      spend(s, event.activation_id!, payload.usage, payload.cost_usd);
      if (payload.simulated && !s.run.simulated) s.run = { ...s.run, simulated: true };
      return s;
    }
    case "llm_call_failed": {
      const { error, usage, cost_usd = null, provider, model, simulated } = event.payload;
      const call = s.calls[event.call_id!];
      if (call)
        s.calls[call.id] = {
          ...call,
          status: "failed",
          error,
          finished_at: event.ts,
          ...(usage ? { usage, cost_usd } : {}),
          ...(provider === undefined ? {} : { provider }),
          ...(model === undefined ? {} : { model }),
          ...(simulated === undefined ? {} : { simulated }),
        };
      if (usage) spend(s, event.activation_id!, usage, cost_usd);
      if (simulated && !s.run.simulated) s.run = { ...s.run, simulated: true };
      return s;
    }
    case "agent_finished": {
      const { status, error } = event.payload;
      setAgent(s, event, { status, finished_at: event.ts, ...(error ? { error } : {}) });
      s.at_work.delete(agentKey(event.activation_id!, event.agent_id!, event.task_id));
      if (status === "stopped" || status === "failed") {
        const { agent_id = "", task_id } = event;
        const id = event.activation_id!;
        stopCalls(s, id, event.ts, (call) => call.agent_id === agent_id && call.task_id === task_id);
        endCrewWork(s, id, event.ts, { agent_id, task_id });
        goOnUnlessAsked(s, id);
      }
      evolveCrew(s, event);
      return s;
    }
    case "interaction_requested":
      evolveCrew(s, event);
      setActivation(s, event.activation_id!, {
        status: "waiting",
        waiting: { for: "human", until: event.payload.expires_at },
      });
      return s;
    case "interaction_extended": {
      evolveCrew(s, event);
      const { waiting } = s.activations[event.activation_id!] ?? {};
      if (waiting?.for === "human")
        setActivation(s, event.activation_id!, {
          waiting: { for: "human", until: event.payload.expires_at },
        });
      return s;
    }
    case "interaction_answered":
      evolveCrew(s, event);
      goOnUnlessAsked(s, event.activation_id!);
      return s;
    case "warning":
      s.run = { ...s.run, warnings: [...s.run.warnings, event.payload.message] };
      return s;

    case "state_conflict":
      s.run = {
        ...s.run,
        warnings: [
          ...s.run.warnings,
          `Two branches wrote "${event.payload.key}"; the value of ${event.payload.winner} stands.`,
        ],
      };
      return s;
    case "state_invalid":
      s.run = {
        ...s.run,
        warnings: [
          ...s.run.warnings,
          `"${event.payload.key}" does not have the declared shape: ${event.payload.errors.join("; ")}`,
        ],
      };
      return s;
    case "run_recovered":
      if (event.payload.installation) s.run = { ...s.run, installation: event.payload.installation };
      return s;
    case "run_cancel_requested":
    case "clock_jumped":
    case "output_parsed":
    case "budget_warning":
    case "budget_exceeded":
    case "context_condensed":
    case "stuck_detected": {
      const key = agentKey(event.activation_id!, event.agent_id ?? "", event.task_id);
      setAgent(s, event, { nudges: (s.agents[key]?.nudges ?? 0) + 1 });
      return s;
    }
    case "guardrail_checked":
      return s;
    case "memory_stored":
      if (event.payload.scope === "task") setAgent(s, event, { has_task_memory: true });
      return s;
    default:
      // What is not known here either is an event of a newer version: the fold goes on without it.
      evolveCrew(s, event);
      return s;
  }
}

/** Folds a whole log. */
export function foldRun(id: string, events: Iterable<RunEvent>): RunState {
  let state = newRun(id);
  for (const event of events) state = evolve(state, event);
  return state;
}

/** Merges a value into a key at its place: what branches write side by side has one order, whoever is done first. */
function merge(
  s: RunState,
  key: string,
  writer: string,
  { reducer, value, before }: { reducer: string; value: Json; before: number },
) {
  const { base, parts } = s.merged[key] ?? { base: s.state[key], parts: [] };
  const after = parts.toSpliced(parts.length - before, 0, { writer, value });
  s.merged[key] = { base, parts: after };
  const version: Version =
    before === 0
      ? { before: s.versions[key] ?? null, make: (present) => reduceValue(reducer, present, value) }
      : {
          before: null,
          make: () =>
            reduceAll(
              reducer,
              base,
              after.map((part) => part.value),
            ),
        };
  write(s, key, writer, version);
}

/** Gives a key of the state its next version. */
function write(s: RunState, key: string, writer: string, version: Version) {
  s.state[key] = version.make(s.state[key]);
  s.versions[key] = version;
  s.writer[key] = writer;
}

function setActivation(s: RunState, id: string, patch: Partial<Activation>) {
  const before = s.activations[id];
  if (!before) return;
  const after = { ...before, ...patch };
  s.activations[id] = after;
  const node = s.nodes[before.node_id];
  if (!node) return;
  if (patch.status !== undefined || patch.attempt !== undefined)
    s.nodes[before.node_id] = { ...node, status: after.status, activation: id, attempt: after.attempt };
}

/** An activation that waited for a person goes on once none of its questions is open. */
function goOnUnlessAsked(s: RunState, id: string) {
  const { status, waiting } = s.activations[id] ?? {};
  if (status !== "waiting" || waiting?.for !== "human") return;
  for (const open of s.asking) if (s.interactions[open]?.activation_id === id) return;
  setActivation(s, id, { status: "running", waiting: undefined });
}

/** Whatever an activation had under way has ended with it, also where a crash or a cancel left no word of it. */
function endWork(s: RunState, id: string, at: number, crew: CrewEnd) {
  stopCalls(s, id, at);
  for (const key of s.at_work) {
    const agent = s.agents[key]!;
    if (agent.activation_id !== id) continue;
    s.at_work.delete(key);
    s.agents[key] = { ...agent, status: "stopped", finished_at: at };
  }
  endCrewWork(s, id, at, { crew });
}

function stopCalls(s: RunState, id: string, at: number, isMeant: (call: ModelCall) => boolean = () => true) {
  for (const call_id of s.activations[id]?.calls ?? []) {
    const call = s.calls[call_id];
    if (call?.status === "running" && isMeant(call))
      s.calls[call_id] = { ...call, status: "stopped", finished_at: at };
  }
}

function finishWork(s: RunState, id: string, node_id: string) {
  s.running.delete(id);
  const left = (s.work.get(node_id) ?? 1) - 1;
  if (left <= 0) s.work.delete(node_id);
  else s.work.set(node_id, left);
}

/** Removes one token per mentioned edge; answers where they came from. */
function takeTokens(
  s: RunState,
  box: RunState["inbox"],
  node_id: string,
  edge_ids: readonly string[],
): string[] {
  const from: string[] = [];
  const tokens = box[node_id];
  if (tokens)
    for (const edge_id of edge_ids) {
      const queue = tokens[edge_id];
      const source = queue?.shift();
      if (source !== undefined && !from.includes(source)) from.push(source);
      if (queue && queue.length === 0) delete tokens[edge_id];
    }
  if (tokens && isEmpty(tokens)) delete box[node_id];
  if (!s.inbox[node_id] && !s.backbox[node_id]) s.parked.delete(node_id);
  return from;
}

function isEmpty(record: object): boolean {
  for (const _key in record) return false;
  return true;
}

function setAgent(s: RunState, event: RunEvent, patch: Partial<AgentView>) {
  const key = agentKey(event.activation_id!, event.agent_id!, event.task_id);
  const agent = s.agents[key];
  if (agent) s.agents[key] = { ...agent, ...patch };
}

function addMessage(s: RunState, event: RunEvent, message: ChatMessage) {
  const key = agentKey(event.activation_id!, event.agent_id!, event.task_id);
  const agent = s.agents[key];
  if (agent) s.agents[key] = { ...agent, messages: [...agent.messages, message] };
}

/** Unknown prices are counted, never taken for zero. */
function spend(s: RunState, activationId: string, usage: Usage, cost: number | null) {
  const unknown = cost === null ? 1 : 0;
  s.totals = {
    ...s.totals,
    usage: addUsage(s.totals.usage, usage),
    cost_usd: s.totals.cost_usd + (cost ?? 0),
    unknown_cost_calls: s.totals.unknown_cost_calls + unknown,
  };
  const activation = s.activations[activationId];
  if (activation)
    setActivation(s, activationId, {
      usage: addUsage(activation.usage, usage),
      cost_usd: activation.cost_usd + (cost ?? 0),
      unknown_cost_calls: activation.unknown_cost_calls + unknown,
    });
}
