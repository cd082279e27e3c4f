import { formatDuration, formatList } from "@/components/display/format";
import type { RaisableLimit } from "@/server/domain/agent/outcome";
import type { ExecutionPlan } from "@/server/domain/crew/plan";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { formatDollars } from "@/server/domain/model/cost";
import type { NodeStatus } from "@/server/domain/run";
import type { EventType, RunEventOf } from "@/server/domain/run/events";

/** What an event means to a person. `level`: what belongs to the story, and what only to the details. */
export interface Sentence {
  text: string;
  tone: NodeStatus | "plain" | "warning";
  level: "story" | "detail";
}

/** Names for the ids that events carry. */
export interface Names {
  node(id: string | undefined): string;
  edge(id: string): string;
  task(activationId: string | undefined, taskId: string | undefined): string;
}

/** A task is named by its description, shortened. */
const MAX_TASK_LENGTH = 64;

/** Names from the graph that a run runs on, and from its plans as they come to be. */
export function newNames(
  graph: WorkflowGraph | null | undefined,
  plans: () => Readonly<Record<string, ExecutionPlan>> = () => ({}),
): Names {
  const node = (id: string | undefined) => {
    if (id === undefined) return "the run";
    const found = graph && Object.hasOwn(graph.nodes, id) ? graph.nodes[id] : undefined;
    return found?.name || id;
  };
  const edge = (id: string) => {
    const found = graph?.edges.find((candidate) => candidate.id === id);
    return found ? `${node(found.source_node_id)} → ${node(found.target_node_id)}` : id;
  };
  const task = (activationId: string | undefined, taskId: string | undefined) => {
    const tasks = (activationId === undefined ? undefined : plans()[activationId])?.tasks;
    const title = tasks?.find(({ task_id }) => task_id === taskId)?.description ?? taskId ?? "?";
    return title.length > MAX_TASK_LENGTH ? `${title.slice(0, MAX_TASK_LENGTH - 1).trimEnd()}…` : title;
  };
  return { node, edge, task };
}

export const LIMIT_LABELS: Record<RaisableLimit, string> = {
  max_steps: "node runs",
  max_global_iterations: "model turns",
  max_active_ms: "running time",
  max_log_chars: "log size",
  max_cost_usd: "cost",
  max_total_tokens: "tokens",
};

/** A limit as text. */
export function describeLimit(limit: RaisableLimit): string {
  return LIMIT_LABELS[limit];
}

/** A limit's value in its unit. */
export function limitValue(limit: RaisableLimit, value: number): string {
  if (limit === "max_active_ms") return formatDuration(value);
  if (limit === "max_cost_usd") return formatDollars(value);
  return value.toLocaleString("en-US");
}

export const story = (text: string, tone: Sentence["tone"] = "plain"): Sentence => ({
  text,
  tone,
  level: "story",
});

export const detail = (text: string, tone: Sentence["tone"] = "plain"): Sentence => ({
  text,
  tone,
  level: "detail",
});

export const keys = (names: readonly string[]) => formatList(names.map((name) => `“${name}”`));

export const after = (ms: number | undefined) => (ms ? ` in ${formatDuration(ms)}` : "");

/** The display name of an agent, from its id. "user" is the person who started the crew. */
export function person(agentId: string): string {
  if (agentId.toLowerCase() === "user") return "The requester";
  const agentName = agentId.replace(/[_-]+/g, " ").trim();
  return agentName === "" ? agentId : agentName.charAt(0).toUpperCase() + agentName.slice(1);
}

/** The name of an agent within a sentence. */
export const named = (agentId: string) =>
  agentId.toLowerCase() === "user" ? "the requester" : person(agentId);

export const who = (agentId: string | undefined) => (agentId ? person(agentId) : "The agent");

/** Who answered: the one person of this installation has no name. */
export const byPerson = (by: string) => (by === "user" || by === "" ? "A person" : person(by));

/** A message that ends as a sentence does. */
export function closed(message: string): string {
  return /[.!?…]$/.test(message) ? message : `${message}.`;
}

/** What events of some types mean, by their types. */
export type SentencesOf = { [T in EventType]?: (event: RunEventOf<T>, names: Names) => Sentence };
