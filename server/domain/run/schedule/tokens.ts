import { defined } from "@/server/domain/base/defined";
import { must } from "@/server/domain/base/must";
import type { Analysis } from "@/server/domain/graph/analysis";
import type { WorkflowEdge } from "@/server/domain/graph/graph";
import { getNodeKind } from "@/server/domain/nodes";
import type { RunState } from "..";
import type { NewEvent, Payloads } from "../events";
import { taken } from "./outgoing-edges";

/**
 * The events that follow from the current tokens; call until it returns []. `force` breaks ties in graphs whose loops
 * have two entries: the topologically first node that holds tokens continues.
 *
 * The rules (docs/decisions/03-tokens-and-joins.md): a node with one incoming edge runs for every token; a join runs
 * once, when it holds a token and no active node can reach it anymore; a token on a back edge waits until its loop is
 * idle.
 */
export function decide(a: Analysis, s: RunState, force = false): NewEvent[] {
  if (s.failing || s.run.status === "finished") return [];
  // First of all: a round that begins now must find its joins ready for it.
  for (const id of s.fired) if (!s.inbox[id] && !isBlocked(a, s, id)) return [rearmed(id)];
  const parked =
    s.parked.size > 1 ? [...s.parked].sort((x, y) => must(a.position, x) - must(a.position, y)) : s.parked;
  for (const id of parked) {
    const isHeader = a.loops.has(id);
    if (isHeader && s.backbox[id]) {
      if (isQuiet(a, s, id, force)) return nextIteration(a, s, id, force);
      continue;
    }
    const tokens = s.inbox[id];
    if (!tokens) continue;
    if (isHeader && !isQuiet(a, s, id, force)) continue;
    const entering: NewEvent[] = isHeader
      ? [{ type: "loop_started", node_id: id, payload: { max: loopMax(s, id) } }]
      : [];
    const first = isHeader ? { iteration: 1 } : {};
    if (!a.isJoin(id))
      return [...entering, ready(a, s, id, [firstEdge(tokens)], force ? { ...first, tie: true } : first)];

    const consumes = mentions(tokens);
    if (s.fired.has(id)) return [{ type: "token_absorbed", node_id: id, payload: { consumes } }];
    const join = must(s.graph.nodes, id).join;
    const need = join === "any" ? 1 : typeof join === "object" ? join.n : null;
    const got = Object.keys(tokens).length;
    if (need !== null && got >= need)
      return [...entering, ready(a, s, id, consumes, { fired: true, ...first })];
    if (!force && isBlocked(a, s, id)) continue;
    if (need !== null) {
      const action = typeof join === "object" ? join.on_shortfall : "fire";
      if (action === "fire") return [...entering, ready(a, s, id, consumes, { fired: true })];
      return [
        { type: "join_shortfall", node_id: id, payload: { got, need, action, consumes } },
        ...(action === "skip"
          ? [{ type: "node_skipped", node_id: id, payload: { reason: "join_shortfall" } } as const]
          : []),
      ];
    }
    return [...entering, ready(a, s, id, consumes, force ? { ...first, tie: true } : first)];
  }
  return [];
}

const rearmed = (node_id: string): NewEvent => ({ type: "join_rearmed", node_id, payload: {} });

const loopMax = (s: RunState, id: string) =>
  s.graph.nodes[id]?.max_iterations ?? s.run.config.max_loop_iterations;

function nextIteration(a: Analysis, s: RunState, id: string, force: boolean): NewEvent[] {
  const consumes = mentions(must(s.backbox, id));
  const done = s.loops[id]?.iteration ?? 1;
  const max = loopMax(s, id);
  if (done < max) {
    const body = must(a.loops, id);
    // A loop with two entries can be quiet while one of its joins is still waited for from outside.
    const inside = [...s.fired].filter((join) => join !== id && body.has(join));
    return [
      ...inside.map(rearmed),
      { type: "loop_iteration", node_id: id, payload: { iteration: done + 1, max } },
      ready(a, s, id, consumes, { back: true, iteration: done + 1, ...defined({ tie: force || undefined }) }),
    ];
  }
  const exit = loopExit(a, id);
  if (!exit)
    return [{ type: "loop_finished", node_id: id, payload: { iterations: done, reason: "limit", consumes } }];
  const from = Object.values(must(s.backbox, id))[0]?.[0] ?? "";
  return [
    {
      type: "loop_finished",
      node_id: id,
      payload: { iterations: done, reason: "limit", consumes, exit_edge: exit.id },
    },
    { type: "state_patched", payload: { set: { _loop_limit: id }, writer: from } },
    taken(a, exit, from),
  ];
}

/** The exit edge of a loop that reached its limit: an error or default edge that leaves it. */
function loopExit(a: Analysis, header: string): WorkflowEdge | undefined {
  const body = must(a.loops, header);
  const leaving = (id: string) =>
    (a.outgoing.get(id) ?? []).find(
      (edge) => (edge.kind === "error" || edge.is_default) && !body.has(edge.target_node_id),
    );
  const own = leaving(header);
  if (own) return own;
  for (const id of a.order) {
    const node = must(a.graph.nodes, id);
    if (!body.has(id) || !getNodeKind(node.node_type).routes) continue;
    const exit = leaving(id);
    if (exit) return exit;
  }
  return undefined;
}

function ready(
  a: Analysis,
  s: RunState,
  node_id: string,
  consumes: string[],
  more: { back?: boolean; fired?: boolean; iteration?: number; tie?: boolean } = {},
): NewEvent {
  const payload: Payloads["node_ready"] = { consumes, ...more };
  const around = a.around(node_id);
  if (around.length > 0) payload.rounds = roundsOf(s, node_id, around);
  const activation_id = `${node_id}#${(s.nodes[node_id]?.count ?? 0) + 1}`;
  return { type: "node_ready", node_id, activation_id, payload };
}

/** In which round of the loops around it a node is about to run: a header begins one with each of its activations. */
const roundsOf = (s: RunState, node_id: string, around: readonly string[]): number[] =>
  around.map((header) => (s.nodes[header]?.count ?? 0) + (header === node_id ? 1 : 0));

/** The first activation of a run. */
export function begin(a: Analysis, s: RunState): NewEvent[] {
  if (a.start === null) return [];
  const loop: NewEvent[] = a.loops.has(a.start)
    ? [{ type: "loop_started", node_id: a.start, payload: { max: loopMax(s, a.start) } }]
    : [];
  return [...loop, ready(a, s, a.start, [], a.loops.has(a.start) ? { iteration: 1 } : {})];
}

const firstEdge = (tokens: Record<string, string[]>) => must(Object.keys(tokens), 0);

/** Each edge as often as it holds tokens. */
const mentions = (tokens: Record<string, string[]>) =>
  Object.entries(tokens).flatMap(([edge, queue]) => queue.map(() => edge));

/** Whether an active node can still send a token to this join. */
function isBlocked(a: Analysis, s: RunState, join: string): boolean {
  const up = a.upstream(join);
  for (const id of s.work.keys()) if (up.has(id)) return true;
  for (const id of s.parked) {
    if (id === join || !up.has(id)) continue;
    // Tokens parked where a loop begins wait for this very loop, so they must not hold up its inside.
    if (!a.loops.get(id)?.has(join)) return true;
  }
  return false;
}

/** Whether nothing of this loop but its header's tokens is left. */
function isQuiet(a: Analysis, s: RunState, header: string, force: boolean): boolean {
  if (s.work.has(header)) return false;
  if (force) return true;
  const body = must(a.loops, header);
  for (const id of s.work.keys()) if (body.has(id)) return false;
  for (const id of s.parked) if (id !== header && body.has(id)) return false;
  return true;
}
