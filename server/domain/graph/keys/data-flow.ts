import { must } from "@/server/domain/base/must";
import { getNodeKind, settingsOf, writtenKeys } from "@/server/domain/nodes";
import { type Analysis, analyse } from "../analysis";
import type { WorkflowEdge, WorkflowGraph } from "../graph";
import { inputFields } from "../run-input";
import { reducerOf, stateProperties } from "./state-properties";

/** A key that can exist when a node starts. `from`: the nodes that write it; empty if the state schema sets it. */
export interface AvailableKey {
  key: string;
  from: string[];
  /** Whether it exists on every route to the node. */
  certain: boolean;
}

/** The keys that can exist when a node starts, for checks and completion; certain ones first. */
export function keysAvailableAt(
  graph: WorkflowGraph,
  nodeId: string,
  analysis: Analysis = analyse(graph),
): AvailableKey[] {
  const sure = certainWriters(analysis, nodeId);
  const found = new Map<string, AvailableKey>();
  const add = (key: string, from: string | null, certain: boolean) => {
    const known = found.get(key) ?? { key, from: [], certain: false };
    if (from !== null && !known.from.includes(from)) known.from.push(from);
    known.certain ||= certain;
    found.set(key, known);
  };
  for (const [key, schema] of Object.entries(stateProperties(graph)))
    if (schema.default !== undefined) add(key, null, true);
  if (analysis.start !== null)
    for (const { key, required, default: preset } of inputFields(graph))
      add(key, analysis.start, required || preset !== undefined);
  for (const id of analysis.order)
    if (analysis.downstream(id).has(nodeId))
      for (const key of writtenKeys(must(graph.nodes, id)))
        add(key, id, id !== analysis.start && sure.has(id));
  return [...found.values()].sort(
    (a, b) => Number(b.certain) - Number(a.certain) || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0),
  );
}

/** The keys that can exist at one place. */
export interface KeySet {
  has(key: string): boolean;
  list(): string[];
}

/** For every reachable node, the keys that are written on some route to it. */
export function possibleKeys(graph: WorkflowGraph, analysis: Analysis): Map<string, KeySet> {
  const numbers = new Map<string, number>();
  const numberOf = (key: string) => numbers.get(key) ?? (numbers.set(key, numbers.size), numbers.size - 1);
  const given = Object.entries(stateProperties(graph)).flatMap(([key, schema]) =>
    schema.default === undefined ? [] : [numberOf(key)],
  );
  // The start node can read the run's input, too.
  const asked = inputFields(graph).map(({ key }) => numberOf(key));
  const written = new Map(
    analysis.order.map((id) => [id, writtenKeys(must(graph.nodes, id)).map(numberOf)] as const),
  );
  const bits = new Map<string, Bits>(analysis.order.map((id) => [id, new Bits(numbers.size)]));
  const first = analysis.start === null ? undefined : bits.get(analysis.start);
  for (const number of [...given, ...asked]) first?.add(number);
  for (let changed = true; changed; ) {
    changed = false;
    for (const id of analysis.order) {
      const out = must(bits, id).copy();
      for (const number of must(written, id)) out.add(number);
      for (const edge of analysis.outgoing.get(id) ?? [])
        if (bits.get(edge.target_node_id)?.addAll(out)) changed ||= analysis.backEdges.has(edge.id);
    }
  }
  const toKeySet = (set: Bits): KeySet => ({
    has: (key) => {
      const number = numbers.get(key);
      return number !== undefined && set.has(number);
    },
    list: () => [...numbers].filter(([, number]) => set.has(number)).map(([key]) => key),
  });
  return new Map([...bits].map(([id, set]) => [id, toKeySet(set)]));
}

/**
 * The nodes that have certainly completed when this one starts: those on every route to it, and those that these start
 * without a condition and that this one waits for.
 */
function certainWriters(analysis: Analysis, nodeId: string): ReadonlySet<string> {
  if (analysis.start === null || !analysis.position.has(nodeId)) return new Set();
  const tree = dominators(
    analysis.start,
    (id) => forward(analysis, id).map((edge) => edge.target_node_id),
    analysis.order,
  );
  const passed: string[] = [];
  for (let id: string | undefined = tree.get(nodeId); id !== undefined; id = tree.get(id)) passed.push(id);
  const certain = new Set(passed);
  const before = ancestors(analysis, nodeId);
  // A node that doesn't wait for all its edges may start before their nodes have completed.
  const isStrict = [nodeId, ...before].every((id) => analysis.graph.nodes[id]?.join === "all");
  const open = isStrict ? [...passed] : [];
  for (let id = open.pop(); id !== undefined; id = open.pop())
    for (const edge of forward(analysis, id))
      if (isAlwaysTaken(analysis.graph, edge) && !certain.has(edge.target_node_id)) {
        certain.add(edge.target_node_id);
        open.push(edge.target_node_id);
      }
  return new Set([...certain].filter((id) => before.has(id) && !mayGoOnWithoutWriting(analysis.graph, id)));
}

const forward = (analysis: Analysis, id: string): readonly WorkflowEdge[] =>
  (analysis.outgoing.get(id) ?? []).filter((edge) => !analysis.backEdges.has(edge.id));

function ancestors(analysis: Analysis, nodeId: string): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [nodeId];
  for (let id = open.pop(); id !== undefined; id = open.pop())
    for (const edge of analysis.incoming.get(id) ?? [])
      if (!analysis.backEdges.has(edge.id) && !found.has(edge.source_node_id)) {
        found.add(edge.source_node_id);
        open.push(edge.source_node_id);
      }
  return found;
}

/** Whether an edge is taken each time its source completes. */
export function isAlwaysTaken(graph: WorkflowGraph, edge: WorkflowEdge): boolean {
  const source = graph.nodes[edge.source_node_id];
  if (!source || edge.kind === "error" || edge.condition !== undefined || edge.condition_name) return false;
  return getNodeKind(source.node_type).routes !== true;
}

function mayGoOnWithoutWriting(graph: WorkflowGraph, id: string): boolean {
  const node = graph.nodes[id];
  if (!node) return true;
  const hasErrorEdge = graph.edges.some((edge) => edge.source_node_id === id && edge.kind === "error");
  return (
    node.when !== undefined || node.on_error === "continue" || node.on_error === "skip_branch" || hasErrorEdge
  );
}

/** Two nodes that can run at the same time and write the same key, which has no reducer. */
export interface ParallelWrite {
  key: string;
  nodes: [string, string];
}

/** At most one pair for each key. */
export function parallelWrites(graph: WorkflowGraph, analysis: Analysis): ParallelWrite[] {
  const writers = new Map<string, string[]>();
  for (const id of analysis.order)
    for (const key of new Set(writtenKeys(must(graph.nodes, id))))
      writers.set(key, [...(writers.get(key) ?? []), id]);
  const shared = [...writers].filter(([key, ids]) => ids.length > 1 && reducerOf(graph, key) === "last");
  if (shared.length === 0) return [];

  const reach = forwardReach(analysis);
  const found: ParallelWrite[] = [];
  const forks = analysis.order.flatMap((id) => forksAt(analysis, id));
  for (const [key, ids] of shared) {
    const pair = findPair(analysis, reach, forks, ids);
    if (pair) found.push({ key, nodes: pair });
  }
  return found;
}

/** Edges that can be taken together. */
interface Fork {
  node: string;
  edges: WorkflowEdge[];
  /** The immediate dominators of what can be reached through these edges; computed when first needed. */
  tree?: Map<string, string>;
}

function forksAt(analysis: Analysis, id: string): Fork[] {
  const node = must(analysis.graph.nodes, id);
  const edges = forward(analysis, id);
  if (edges.length < 2) return [];
  const kind = getNodeKind(node.node_type);
  const takesAll = !kind.routes || settingsOf(node).mode === "all";
  const groups = new Map<string, WorkflowEdge[]>();
  for (const edge of edges) {
    const name = edge.kind === "error" ? "error" : takesAll ? "normal" : `label ${edge.edge_label ?? ""}`;
    groups.set(name, [...(groups.get(name) ?? []), edge]);
  }
  return [...groups.values()]
    .filter((group) => group.length > 1)
    .map((group) => ({ node: id, edges: group }));
}

/** Max pairs to check; a key that so many branches write has simpler problems. */
const MAX_PAIRS = 2000;

function findPair(
  analysis: Analysis,
  reach: ReadonlyMap<string, Bits>,
  forks: readonly Fork[],
  ids: readonly string[],
): [string, string] | null {
  const at = (id: string) => must(analysis.position, id);
  const sorted = [...ids].sort((a, b) => at(a) - at(b));
  let looked = 0;
  for (const [i, a] of sorted.entries()) {
    const after = must(reach, a);
    for (let j = i + 1; j < sorted.length; j++) {
      const b = must(sorted, j);
      if (after.has(at(b))) continue;
      if (++looked > MAX_PAIRS) return null;
      for (const fork of forks) {
        // The fork is the only common node of all paths to both: there are two otherwise disjoint paths.
        if (at(fork.node) < at(a) && meetingPoint(treeOf(analysis, fork), a, b) === fork.node) return [a, b];
      }
    }
  }
  return null;
}

function treeOf(analysis: Analysis, fork: Fork): Map<string, string> {
  fork.tree ??= dominators(
    fork.node,
    (id) => (id === fork.node ? fork.edges : forward(analysis, id)).map((edge) => edge.target_node_id),
    analysis.order,
  );
  return fork.tree;
}

function meetingPoint(tree: ReadonlyMap<string, string>, a: string, b: string): string | undefined {
  if (!tree.has(a) || !tree.has(b)) return undefined;
  const above = new Set<string>();
  for (let id: string | undefined = a; id !== undefined; id = tree.get(id)) above.add(id);
  for (let id: string | undefined = b; id !== undefined; id = tree.get(id)) if (above.has(id)) return id;
  return undefined;
}

/** The immediate dominators in an acyclic graph whose nodes are given in topological order. */
function dominators(
  root: string,
  next: (id: string) => readonly string[],
  order: readonly string[],
): Map<string, string> {
  const depth = new Map([[root, 0]]);
  const tree = new Map<string, string>();
  for (const id of order) {
    if (!depth.has(id)) continue;
    if (id !== root) depth.set(id, must(depth, must(tree, id)) + 1);
    for (const to of next(id)) {
      if (to === root) continue;
      const known = tree.get(to);
      if (known === undefined) {
        tree.set(to, id);
        depth.set(to, 0);
        continue;
      }
      let [a, b]: [string, string] = [known, id];
      while (a !== b) {
        if (must(depth, a) >= must(depth, b)) a = must(tree, a);
        else b = must(tree, b);
      }
      tree.set(to, a);
    }
  }
  return tree;
}

/** For every node, the positions of the nodes that can be reached without a back edge. */
function forwardReach(analysis: Analysis): Map<string, Bits> {
  const reach = new Map<string, Bits>();
  for (const id of [...analysis.order].reverse()) {
    const bits = new Bits(analysis.order.length);
    for (const edge of forward(analysis, id)) {
      bits.add(must(analysis.position, edge.target_node_id));
      const further = reach.get(edge.target_node_id);
      if (further) bits.addAll(further);
    }
    reach.set(id, bits);
  }
  return reach;
}

/** A set of small whole numbers. */
class Bits {
  private readonly words: Uint32Array;
  constructor(size: number | Uint32Array) {
    this.words = typeof size === "number" ? new Uint32Array((size >>> 5) + 1) : size;
  }
  copy(): Bits {
    return new Bits(this.words.slice());
  }
  add(n: number): void {
    this.words[n >>> 5] = (this.words[n >>> 5] ?? 0) | (1 << (n & 31));
  }
  has(n: number): boolean {
    return ((this.words[n >>> 5] ?? 0) & (1 << (n & 31))) !== 0;
  }
  /** Whether anything was new. */
  addAll(other: Bits): boolean {
    let changed = false;
    for (let i = 0; i < this.words.length; i++) {
      const before = this.words[i] ?? 0;
      const after = (before | (other.words[i] ?? 0)) >>> 0;
      if (after !== before) {
        this.words[i] = after;
        changed = true;
      }
    }
    return changed;
  }
}
