import type { FinalStatus } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import { isSameJson } from "@/server/domain/base/json";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { knownCost } from "@/server/domain/model/cost";
import type { Activation, NodeStatus, RunState } from "..";
import { changesBetween, type KeyChange } from "../past/step-change";

/** What one run did at a node, over all times that it ran. */
export interface NodePart {
  status: NodeStatus;
  count: number;
  tokens: number;
  /** In US dollars; null where a price is unknown. */
  cost_usd: number | null;
  /** At work, in milliseconds. */
  ms: number;
  /** What it gave last. */
  output?: JsonObject;
  /** The routes that it chose last, where it chose. */
  labels?: readonly string[];
  /** The name of the node that a person last sent the run to instead. */
  next?: string;
}

/** A node in one or both runs. */
export interface NodeComparison {
  id: string;
  name: string;
  a?: NodePart;
  b?: NodePart;
  /** What is other: whether or how often it ran, how it ended, what it gave, which way it chose. Empty where nothing is. */
  differs: readonly ("path" | "status" | "output" | "way")[];
}

/** What a run took as a whole. */
export interface RunTotals {
  final_status: FinalStatus | null;
  tokens: number;
  cost_usd: number | null;
  ms: number;
  steps: number;
}

/** Two runs side by side: `a` is the one that the other is held against. */
export interface RunComparison {
  /** Nodes and edges of both drawings; where both have one, it is b's. */
  graph: WorkflowGraph;
  is_same_graph: boolean;
  nodes: readonly NodeComparison[];
  edges: readonly { id: string; a: number; b: number }[];
  /** The first activation that is other, in the order in which they were started: what came before is the same in both. */
  first: { a?: string; b?: string; why: "node" | "status" | "output" | "way" } | null;
  input: readonly KeyChange[];
  state: readonly KeyChange[];
  output: readonly KeyChange[];
  totals: { a: RunTotals; b: RunTotals };
}

/** What is other in one run than in another, as of both states. */
export function compareRuns(a: RunState, b: RunState): RunComparison {
  const graph = together(a.graph, b.graph);
  const [ofA, ofB] = [partsOf(a), partsOf(b)];
  const ids = [...new Set([...Object.keys(graph.nodes), ...ofA.keys(), ...ofB.keys()])];
  return {
    graph,
    is_same_graph: isSameJson(withoutPlaces(a.graph), withoutPlaces(b.graph)),
    nodes: ids.flatMap((id) => {
      const [one, other] = [ofA.get(id), ofB.get(id)];
      if (!one && !other) return [];
      return [
        {
          id,
          name: graph.nodes[id]?.name || id,
          ...defined({ a: one, b: other }),
          differs: differsIn(one, other),
        },
      ];
    }),
    edges: graph.edges.flatMap(({ id }) => {
      const [one, other] = [a.edges[id]?.count ?? 0, b.edges[id]?.count ?? 0];
      return one + other === 0 ? [] : [{ id, a: one, b: other }];
    }),
    first: firstDifference(a, b),
    input: changesBetween(a.input, b.input),
    state: changesBetween(a.state, b.state),
    output: changesBetween(a.run.output ?? {}, b.run.output ?? {}),
    totals: { a: totalsOf(a), b: totalsOf(b) },
  };
}

function together(a: WorkflowGraph, b: WorkflowGraph): WorkflowGraph {
  const known = new Set(b.edges.map(({ id }) => id));
  return {
    ...b,
    nodes: { ...a.nodes, ...b.nodes },
    edges: [...b.edges, ...a.edges.filter(({ id }) => !known.has(id))],
  };
}

const withoutPlaces = ({ nodes, edges }: WorkflowGraph) => [
  Object.values(nodes).map(({ ui: _place, ...node }) => node),
  edges,
];

function partsOf(s: RunState): Map<string, NodePart> {
  const parts = new Map<string, NodePart>();
  for (const activation of inOrder(s)) {
    const { node_id, usage, output, labels, status } = activation;
    const next =
      activation.next === undefined ? undefined : s.graph.nodes[activation.next]?.name || activation.next;
    const before = parts.get(node_id);
    const cost = knownCost(activation);
    parts.set(node_id, {
      status,
      count: (before?.count ?? 0) + 1,
      tokens: (before?.tokens ?? 0) + usage.input_tokens + usage.output_tokens,
      cost_usd: before?.cost_usd === null || cost === null ? null : (before?.cost_usd ?? 0) + cost,
      ms: (before?.ms ?? 0) + tookOf(activation),
      ...defined({ output, labels, next }),
    });
  }
  return parts;
}

/** A state holds them in the order in which they came in. */
const inOrder = ({ activations }: RunState): Activation[] => Object.values(activations);

const tookOf = ({ started_at, finished_at }: Activation): number =>
  started_at === undefined || finished_at === undefined ? 0 : finished_at - started_at;

function differsIn(a: NodePart | undefined, b: NodePart | undefined): NodeComparison["differs"] {
  if (!a || !b) return ["path"];
  return [
    ...(a.count === b.count ? [] : ["path" as const]),
    ...(a.status === b.status ? [] : ["status" as const]),
    ...(isSameOutput(a.output, b.output) ? [] : ["output" as const]),
    ...(isSameWay(a, b) ? [] : ["way" as const]),
  ];
}

const isSameOutput = (a: Json | undefined, b: Json | undefined) => isSameJson(a ?? null, b ?? null);

const isSameWay = (a: Pick<NodePart, "labels" | "next">, b: Pick<NodePart, "labels" | "next">) =>
  a.next === b.next && isSameJson(a.labels ?? [], b.labels ?? []);

/** Branches side by side may begin in another order: so each node's k-th time is held against the other's. */
function firstDifference(a: RunState, b: RunState): RunComparison["first"] {
  for (const one of inOrder(a)) {
    const other = b.activations[one.id];
    if (!other) return { a: one.id, why: "node" };
    if (one.status !== other.status) return { a: one.id, b: other.id, why: "status" };
    if (!isSameOutput(one.output, other.output)) return { a: one.id, b: other.id, why: "output" };
    if (!isSameWay(one, other)) return { a: one.id, b: other.id, why: "way" };
  }
  const more = inOrder(b).find(({ id }) => !a.activations[id]);
  return more ? { b: more.id, why: "node" } : null;
}

function totalsOf({ run, totals }: RunState): RunTotals {
  const { started_at, finished_at, final_status } = run;
  return {
    final_status: final_status ?? null,
    tokens: totals.usage.input_tokens + totals.usage.output_tokens,
    cost_usd: knownCost(totals),
    ms: started_at === undefined || finished_at === undefined ? 0 : finished_at - started_at,
    steps: totals.steps,
  };
}
