import { defined } from "@/server/domain/base/defined";
import { must } from "@/server/domain/base/must";
import type { Analysis } from "@/server/domain/graph/analysis";
import type { WorkflowEdge } from "@/server/domain/graph/graph";
import { getNodeKind, type Join } from "@/server/domain/nodes";
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
  // First, so that the joins of an iteration are ready when it starts.
  for (const id of s.fired) if (!s.inbox[id] && !isBlocked(a, s, id)) return [rearmed(id)];
  const parked =
    s.parked.size > 1 ? [...s.parked].sort((x, y) => must(a.position, x) - must(a.position, y)) : s.parked;
  for (const id of parked) {
    const isHeader = a.loops.has(id);
    if (isHeader && !isQuiet(a, s, id, force)) continue;
    if (isHeader && s.backbox[id]) return nextIteration(a, s, id, force);
    const events = startWith(a, s, id, force);
    if (events.length > 0) return events;
  }
  return [];
}

/** What the tokens in front of a node start; empty if the node waits. */
function startWith(a: Analysis, s: RunState, id: string, force: boolean): NewEvent[] {
  const tokens = s.inbox[id];
  if (!tokens) return [];
  const isHeader = a.loops.has(id);
  const first = isHeader ? { iteration: 1 } : {};
  const tie = force ? { tie: true } : {};
  const start = (ready: ReadyPayload): NewEvent[] => [
    ...(isHeader ? [loopStarted(s, id)] : []),
    nodeReady(a, s, id, ready),
  ];
  if (!a.isJoin(id)) return start({ consumes: [firstEdge(tokens)], ...first, ...tie });

  const consumes = mentions(tokens);
  if (s.fired.has(id)) return [{ type: "token_absorbed", node_id: id, payload: { consumes } }];
  const { join } = must(s.graph.nodes, id);
  const need = neededTokens(join);
  const got = Object.keys(tokens).length;
  if (need !== null && got >= need) return start({ consumes, fired: true, ...first });
  if (!force && isBlocked(a, s, id)) return [];
  if (need === null) return start({ consumes, ...first, ...tie });
  const action = typeof join === "object" ? join.on_shortfall : "fire";
  if (action === "fire") return start({ consumes, fired: true });
  const shortfall: NewEvent = {
    type: "join_shortfall",
    node_id: id,
    payload: { got, need, action, consumes },
  };
  if (action !== "skip") return [shortfall];
  return [shortfall, { type: "node_skipped", node_id: id, payload: { reason: "join_shortfall" } }];
}

/** How many edges of a join must hold tokens; null: all that still can. */
const neededTokens = (join: Join | undefined): number | null =>
  join === "any" ? 1 : typeof join === "object" ? join.n : null;

const rearmed = (node_id: string): NewEvent => ({ type: "join_rearmed", node_id, payload: {} });

const loopStarted = (s: RunState, node_id: string): NewEvent => ({
  type: "loop_started",
  node_id,
  payload: { max: loopMax(s, node_id) },
});

const loopMax = (s: RunState, id: string) =>
  s.graph.nodes[id]?.max_iterations ?? s.run.config.max_loop_iterations;

function nextIteration(a: Analysis, s: RunState, id: string, force: boolean): NewEvent[] {
  const consumes = mentions(must(s.backbox, id));
  const done = s.loops[id]?.iteration ?? 1;
  const max = loopMax(s, id);
  if (done < max) {
    const body = must(a.loops, id);
    // A loop with two entries can be idle while one of its joins waits for a token from outside.
    const inside = [...s.fired].filter((join) => join !== id && body.has(join));
    return [
      ...inside.map(rearmed),
      { type: "loop_iteration", node_id: id, payload: { iteration: done + 1, max } },
      nodeReady(a, s, id, {
        consumes,
        back: true,
        iteration: done + 1,
        ...defined({ tie: force || undefined }),
      }),
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

type ReadyPayload = Omit<Payloads["node_ready"], "rounds">;

function nodeReady(a: Analysis, s: RunState, node_id: string, ready: ReadyPayload): NewEvent {
  const payload: Payloads["node_ready"] = { ...ready };
  const around = a.around(node_id);
  if (around.length > 0) payload.rounds = roundsOf(s, node_id, around);
  const activation_id = `${node_id}#${(s.nodes[node_id]?.count ?? 0) + 1}`;
  return { type: "node_ready", node_id, activation_id, payload };
}

/** The iteration of each loop around a node that is about to run: a header starts one with each activation. */
const roundsOf = (s: RunState, node_id: string, around: readonly string[]): number[] =>
  around.map((header) => (s.nodes[header]?.count ?? 0) + (header === node_id ? 1 : 0));

/** The first activation of a run. */
export function begin(a: Analysis, s: RunState): NewEvent[] {
  if (a.start === null) return [];
  if (!a.loops.has(a.start)) return [nodeReady(a, s, a.start, { consumes: [] })];
  return [loopStarted(s, a.start), nodeReady(a, s, a.start, { consumes: [], iteration: 1 })];
}

const firstEdge = (tokens: Record<string, string[]>) => must(Object.keys(tokens), 0);

/** The edges with tokens, each once per token. */
const mentions = (tokens: Record<string, string[]>) =>
  Object.entries(tokens).flatMap(([edge, queue]) => queue.map(() => edge));

/** Whether an active node can still send a token to this join. */
function isBlocked(a: Analysis, s: RunState, join: string): boolean {
  const up = a.upstream(join);
  for (const id of s.work.keys()) if (up.has(id)) return true;
  for (const id of s.parked) {
    if (id === join || !up.has(id)) continue;
    // Tokens at the header of a loop wait for this loop, so they must not block its joins.
    if (!a.loops.get(id)?.has(join)) return true;
  }
  return false;
}

/** Whether a loop has no active nodes and no tokens except those of its header. */
function isQuiet(a: Analysis, s: RunState, header: string, force: boolean): boolean {
  if (s.work.has(header)) return false;
  if (force) return true;
  const body = must(a.loops, header);
  for (const id of s.work.keys()) if (body.has(id)) return false;
  for (const id of s.parked) if (id !== header && body.has(id)) return false;
  return true;
}
