import { defined } from "@/server/domain/base/defined";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { findNodeKind } from "@/server/domain/nodes";
import { evolve, type NodeStatus, newRun, type RunState } from "..";
import type { RunEvent } from "../events";
import { writtenKeys } from "../past/key-history";
import { answerLabel } from "../questions/question-text";
import { sharedSentence } from "./shared-event-descriptions";

/** What a shared file includes. The workflow, the order of steps, times, tokens and costs are always included. */
export interface ShareChoice {
  /** Prompts and replies of agents; questions to people and their answers. */
  prompts: boolean;
  /** Arguments and results of tools. */
  tool_results: boolean;
  /** The files of its workspace. */
  files: boolean;
  /** Its input, the values of its state and its output. */
  state: boolean;
}

/** One event of a shared run: its text, and the changes since the one before. */
export interface SharedStep {
  seq: number;
  /** Milliseconds since the run began. */
  at: number;
  text: string;
  node?: string;
  agent?: string;
  /** Full texts, if they are included. */
  detail?: { title: string; text: string }[];
  nodes?: Record<string, { status: NodeStatus; count: number }>;
  edges?: string[];
  set?: JsonObject;
  gone?: string[];
  /** Totals up to here. */
  tokens?: number;
  cost?: number;
}

export interface SharedFile {
  path: string;
  size: number;
  text: string;
}

/** A run in a shared file: data for the viewer, no code. */
export interface SharedRun {
  format: "troupe-run";
  version: 1;
  name: string;
  status: string;
  /** Unix time in milliseconds. */
  began: number;
  simulated: boolean;
  unknown_cost: boolean;
  choice: ShareChoice;
  nodes: { id: string; name: string; kind: string; x: number; y: number }[];
  edges: { id: string; from: string; to: string; label?: string }[];
  steps: SharedStep[];
  files: SharedFile[];
}

/** Events that aren't shown; their changes are included with the next event that is. */
const UNTOLD: ReadonlySet<RunEvent["type"]> = new Set([
  "node_ready",
  "edge_skipped",
  "token_absorbed",
  "join_rearmed",
  "iteration_started",
  "output_parsed",
  "clock_jumped",
  "timer_fired",
]);

/** A run for a shared file. Only what the choice names is included; the caller removes secrets. */
export function sharedRun(
  events: readonly RunEvent[],
  choice: ShareChoice,
  files: readonly SharedFile[] = [],
): SharedRun {
  const state = newRun();
  const steps: SharedStep[] = [];
  let left: Pick<SharedStep, "nodes" | "edges" | "set" | "gone"> = {};
  for (const event of events) {
    const keys = choice.state ? writtenKeys(event) : [];
    const before = event.node_id ? state.nodes[event.node_id] : undefined;
    const totals = state.totals;
    evolve(state, event);
    const changed = { ...left, ...changesOf(left, state, { event, keys, before }) };
    if (UNTOLD.has(event.type)) {
      left = changed;
      continue;
    }
    left = {};
    const { usage, cost_usd } = state.totals;
    const detail = [...detailOf(event, choice), ...personDetail(event, state, choice)];
    steps.push({
      seq: event.seq,
      at: Math.max(0, event.ts - (events[0]?.ts ?? 0)),
      text: sharedSentence(event, state),
      ...defined({
        node: event.node_id || undefined,
        agent: event.agent_id || undefined,
        detail: detail.length > 0 ? detail : undefined,
      }),
      ...changed,
      ...(state.totals === totals
        ? {}
        : { tokens: usage.input_tokens + usage.output_tokens, cost: cost_usd }),
    });
  }
  const { run } = state;
  return {
    format: "troupe-run",
    version: 1,
    name: run.workflow_name || "A run",
    status: run.final_status ?? run.status,
    began: events[0]?.ts ?? 0,
    simulated: run.simulated,
    unknown_cost: state.totals.unknown_cost_calls > 0,
    choice,
    ...drawingOf(state.graph),
    steps,
    files: choice.files ? [...files] : [],
  };
}

function changesOf(
  left: Pick<SharedStep, "nodes" | "edges" | "set" | "gone">,
  state: RunState,
  {
    event,
    keys,
    before,
  }: { event: RunEvent; keys: readonly string[]; before: RunState["nodes"][string] | undefined },
): Pick<SharedStep, "nodes" | "edges" | "set" | "gone"> {
  const node = event.node_id ? state.nodes[event.node_id] : undefined;
  const there = keys.filter((key) => state.state[key] !== undefined);
  const gone = keys.filter((key) => state.state[key] === undefined);
  const isOther = node && event.node_id && node !== before;
  return defined({
    nodes: isOther
      ? { ...left.nodes, [event.node_id ?? ""]: { status: node.status, count: node.count } }
      : undefined,
    edges: event.type === "edge_taken" ? [...(left.edges ?? []), event.payload.edge_id] : undefined,
    set:
      there.length > 0
        ? { ...left.set, ...Object.fromEntries(there.map((key) => [key, state.state[key] ?? null])) }
        : undefined,
    gone: gone.length > 0 ? [...(left.gone ?? []), ...gone] : undefined,
  });
}

const asText = (value: Json | undefined): string =>
  value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 2);

function detailOf(event: RunEvent, choice: ShareChoice): { title: string; text: string }[] {
  if (event.type === "message_added" && event.payload.message.role !== "tool")
    return choice.prompts ? [{ title: "Instructed", text: event.payload.message.content }] : [];
  if (event.type === "llm_call_completed")
    return choice.prompts && event.payload.content !== ""
      ? [{ title: "Answered", text: event.payload.content }]
      : [];
  if (event.type === "post_sent")
    return choice.prompts ? [{ title: "Message", text: event.payload.message }] : [];
  if (!choice.tool_results) return [];
  if (event.type === "tool_call_started") return [{ title: "Arguments", text: asText(event.payload.args) }];
  if (event.type === "tool_call_completed")
    return [{ title: "Result", text: event.payload.error ?? asText(event.payload.output) }];
  return [];
}

/** A person's question and answer; the arguments of a tool count as the tool's. */
function personDetail(event: RunEvent, { interactions }: RunState, choice: ShareChoice) {
  if (event.type === "interaction_requested") {
    const { title, why, body, draft, args, calls } = event.payload;
    const about = args ?? calls?.map((call) => ({ tool_name: call.tool_name, args: call.args }));
    return [
      ...(choice.prompts ? [{ title: "Asked", text: linesOf(title, why, body, draft) }] : []),
      ...(choice.tool_results && about ? [{ title: "Arguments", text: asText(about) }] : []),
    ];
  }
  if (event.type !== "interaction_answered" || !choice.prompts) return [];
  const { interaction_id, value, content, message } = event.payload;
  const label = answerLabel(event.payload, interactions[interaction_id]?.requested);
  return [{ title: "A person answered", text: linesOf(label, asText(value), asText(content), message) }];
}

const linesOf = (...lines: (string | undefined)[]) => lines.filter(Boolean).join("\n");

const STEP = { x: 280, y: 130 } as const;

/** The workflow with its layout; if it was never laid out, one column per step from the start. */
function drawingOf(graph: WorkflowGraph): Pick<SharedRun, "nodes" | "edges"> {
  const nodes = Object.values(graph.nodes);
  const fallback = nodes.some(({ ui }) => !ui) ? columnsOf(graph) : null;
  return {
    nodes: nodes.map(({ id, name, node_type, ui }) => ({
      id,
      name: name || id,
      kind: findNodeKind(node_type)?.title ?? node_type,
      ...(fallback?.get(id) ?? { x: ui?.x ?? 0, y: ui?.y ?? 0 }),
    })),
    edges: graph.edges.map(({ id, source_node_id, target_node_id, edge_label }) => ({
      id,
      from: source_node_id,
      to: target_node_id,
      ...defined({ label: edge_label || undefined }),
    })),
  };
}

function columnsOf({ nodes, edges, start_node_id }: WorkflowGraph): Map<string, { x: number; y: number }> {
  const depth = new Map<string, number>();
  let near = [start_node_id ?? Object.keys(nodes)[0] ?? ""];
  for (let at = 0; near.length > 0; at++) {
    for (const id of near) depth.set(id, at);
    near = [
      ...new Set(
        edges
          .filter(
            ({ source_node_id, target_node_id }) =>
              near.includes(source_node_id) && !depth.has(target_node_id),
          )
          .map(({ target_node_id }) => target_node_id),
      ),
    ];
  }
  const rows = new Map<number, number>();
  return new Map(
    Object.keys(nodes).map((id) => {
      const column = depth.get(id) ?? 0;
      const row = rows.get(column) ?? 0;
      rows.set(column, row + 1);
      return [id, { x: column * STEP.x, y: row * STEP.y }];
    }),
  );
}
