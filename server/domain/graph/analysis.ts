import { must } from "@/server/domain/base/must";
import { getNodeKind } from "../nodes";
import type { WorkflowEdge, WorkflowGraph } from "./graph";

/**
 * Analysis of a graph, computed once: order, loops, and which nodes can still reach a join. Shared by the editor
 * (problems) and the interpreter.
 */
export interface Analysis {
  readonly graph: WorkflowGraph;
  /** Where a run begins, or null. */
  readonly start: string | null;
  /** Executable nodes that can be reached from the start, in topological order without the back edges. */
  readonly order: readonly string[];
  readonly position: ReadonlyMap<string, number>;
  readonly outgoing: ReadonlyMap<string, readonly WorkflowEdge[]>;
  readonly incoming: ReadonlyMap<string, readonly WorkflowEdge[]>;
  readonly backEdges: ReadonlySet<string>;
  /** Where loops begin, each with the nodes of its loop (the header among them). */
  readonly loops: ReadonlyMap<string, ReadonlySet<string>>;
  /** The loops that contain a node, by header, the outermost first. */
  around(node: string): readonly string[];
  /** Back edges into loops that can also be entered past their header. */
  readonly irreducible: readonly string[];
  /** Whether tokens of several edges are collected here before the node runs. */
  isJoin(node: string): boolean;
  /** Nodes from which the join can be reached without passing through it and without another iteration of its loops. */
  upstream(join: string): ReadonlySet<string>;
  /** Nodes that can be reached from here by at least one edge. */
  downstream(node: string): ReadonlySet<string>;
}

/** Analyzes a graph. Cost: linear in nodes and edges for each loop; the reach of joins on demand. */
export function analyse(graph: WorkflowGraph): Analysis {
  const runs = (id: string) => {
    const node = graph.nodes[id];
    return node !== undefined && getNodeKind(node.node_type).executes !== false;
  };
  const start = startOf(graph);
  const outgoing = new Map<string, WorkflowEdge[]>();
  for (const id of Object.keys(graph.nodes)) if (runs(id)) outgoing.set(id, []);
  for (const edge of graph.edges)
    if (runs(edge.source_node_id) && runs(edge.target_node_id))
      must(outgoing, edge.source_node_id).push(edge);

  const { preorder, backEdges } =
    start === null ? { preorder: [], backEdges: new Set<string>() } : walk(start, outgoing);
  const incoming = new Map<string, WorkflowEdge[]>();
  for (const id of preorder) incoming.set(id, []);
  for (const id of preorder)
    for (const edge of must(outgoing, id)) must(incoming, edge.target_node_id).push(edge);

  const order = topological(preorder, { outgoing, incoming, backEdges });
  const position = new Map(order.map((id, at) => [id, at]));
  const { loops, irreducible } =
    start === null
      ? { loops: new Map<string, Set<string>>(), irreducible: [] }
      : findLoops(start, preorder, { outgoing, incoming, backEdges });

  const forwardIn = (id: string) => (incoming.get(id) ?? []).filter((edge) => !backEdges.has(edge.id)).length;
  return {
    graph,
    start,
    order,
    position,
    outgoing,
    incoming,
    backEdges,
    loops,
    irreducible,
    around: memoized((node) =>
      [...loops.keys()]
        .filter((header) => must(loops, header).has(node))
        .sort((x, y) => must(loops, y).size - must(loops, x).size || must(position, x) - must(position, y)),
    ),
    isJoin: memoized((node) => graph.nodes[node]?.join !== "each" && forwardIn(node) >= 2),
    upstream: memoized((join) =>
      reach([join], (id) =>
        (incoming.get(id) ?? [])
          .filter((edge) => !(backEdges.has(edge.id) && loops.get(edge.target_node_id)?.has(join)))
          .map((edge) => edge.source_node_id)
          .filter((id) => id !== join),
      ),
    ),
    downstream: memoized((node) =>
      reach([node], (id) => (outgoing.get(id) ?? []).map((edge) => edge.target_node_id)),
    ),
  };
}

/** Computes the value of each node once. */
function memoized<T>(compute: (id: string) => T): (id: string) => T {
  const known = new Map<string, T>();
  return (id) => {
    let value = known.get(id);
    if (value === undefined) {
      value = compute(id);
      known.set(id, value);
    }
    return value;
  };
}

/** The node where a run starts: the named one, else the only start node. */
export function startOf(graph: WorkflowGraph): string | null {
  const named = graph.start_node_id;
  if (named && Object.hasOwn(graph.nodes, named)) return named;
  const starts = Object.values(graph.nodes).filter((node) => getNodeKind(node.node_type).begins);
  return starts.length === 1 ? must(starts, 0).id : null;
}

/** Depth first along the order of the edges; an edge to a node still being visited leads back. */
function walk(start: string, outgoing: ReadonlyMap<string, readonly WorkflowEdge[]>) {
  const preorder: string[] = [start];
  const backEdges = new Set<string>();
  const open = new Set([start]);
  const seen = new Set([start]);
  const stack: { id: string; next: number }[] = [{ id: start, next: 0 }];
  while (stack.length > 0) {
    const top = must(stack, stack.length - 1);
    const edge = must(outgoing, top.id)[top.next++];
    if (!edge) {
      open.delete(top.id);
      stack.pop();
    } else if (open.has(edge.target_node_id)) backEdges.add(edge.id);
    else if (!seen.has(edge.target_node_id)) {
      seen.add(edge.target_node_id);
      open.add(edge.target_node_id);
      preorder.push(edge.target_node_id);
      stack.push({ id: edge.target_node_id, next: 0 });
    }
  }
  return { preorder, backEdges };
}

type Flow = Pick<Analysis, "outgoing" | "incoming" | "backEdges">;

function topological(preorder: readonly string[], { outgoing, incoming, backEdges }: Flow): string[] {
  const rank = new Map(preorder.map((id, at) => [id, at]));
  const missing = new Map(
    preorder.map((id) => [id, must(incoming, id).filter((edge) => !backEdges.has(edge.id)).length]),
  );
  const free = preorder.filter((id) => missing.get(id) === 0);
  const order: string[] = [];
  for (let id = free.shift(); id !== undefined; id = free.shift()) {
    order.push(id);
    for (const edge of must(outgoing, id)) {
      if (backEdges.has(edge.id)) continue;
      const left = must(missing, edge.target_node_id) - 1;
      missing.set(edge.target_node_id, left);
      if (left > 0) continue;
      const place = free.findIndex((other) => must(rank, other) > must(rank, edge.target_node_id));
      free.splice(place < 0 ? free.length : place, 0, edge.target_node_id);
    }
  }
  return order;
}

function findLoops(start: string, reachable: readonly string[], { outgoing, incoming, backEdges }: Flow) {
  const sources = new Map<string, WorkflowEdge[]>();
  for (const id of reachable)
    for (const edge of must(outgoing, id))
      if (backEdges.has(edge.id))
        sources.set(edge.target_node_id, [...(sources.get(edge.target_node_id) ?? []), edge]);
  const loops = new Map<string, Set<string>>();
  const irreducible: string[] = [];
  for (const [header, edges] of sources) {
    const ahead = reach([header], (id) => must(outgoing, id).map((edge) => edge.target_node_id));
    const body = new Set([header]);
    const open = edges.map((edge) => edge.source_node_id);
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (body.has(id) || !ahead.has(id)) continue;
      body.add(id);
      for (const edge of must(incoming, id)) open.push(edge.source_node_id);
    }
    loops.set(header, body);
    if (header === start) continue;
    const around = reachAround(start, header, outgoing);
    for (const edge of edges)
      if (edge.source_node_id !== header && around.has(edge.source_node_id)) irreducible.push(edge.id);
  }
  return { loops, irreducible };
}

/** What a run can reach without passing through this node. */
function reachAround(
  start: string,
  node: string,
  outgoing: ReadonlyMap<string, readonly WorkflowEdge[]>,
): Set<string> {
  const around = reach([start], (id) =>
    must(outgoing, id)
      .map((edge) => edge.target_node_id)
      .filter((to) => to !== node),
  );
  return around.add(start);
}

/** The edges that enter the loop of a back edge past its header, the target of that edge. */
export function sideEntries(a: Analysis, back: WorkflowEdge): WorkflowEdge[] {
  const { source_node_id: last, target_node_id: header } = back;
  if (a.start === null) return [];
  const isForward = (edge: WorkflowEdge) => !a.backEdges.has(edge.id);
  const ahead = reach([header], (id) =>
    (a.outgoing.get(id) ?? []).filter(isForward).map((edge) => edge.target_node_id),
  );
  const behind = reach([last], (id) =>
    (a.incoming.get(id) ?? []).filter(isForward).map((edge) => edge.source_node_id),
  ).add(last);
  const inside = (id: string) => id !== header && ahead.has(id) && behind.has(id);
  const around = reachAround(a.start, header, a.outgoing);
  return [...ahead]
    .filter(inside)
    .flatMap((id) => a.incoming.get(id) ?? [])
    .filter(({ source_node_id: from }) => around.has(from) && !inside(from));
}

/** What can be reached by at least one step. */
function reach(from: readonly string[], next: (id: string) => readonly string[]): Set<string> {
  const found = new Set<string>();
  const open = [...from];
  for (let id = open.pop(); id !== undefined; id = open.pop())
    for (const to of next(id))
      if (!found.has(to)) {
        found.add(to);
        open.push(to);
      }
  return found;
}
