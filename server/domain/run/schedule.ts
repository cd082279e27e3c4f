import type { RunError } from "@/server/domain/agent/outcome";
import { type Change, changeOf, WORTH_REFERRING } from "@/server/domain/base/changes";
import { must, present } from "@/server/domain/base/must";
import { cutText, sizeOf, sizeText } from "@/server/domain/base/sizes";
import type { Json, JsonObject } from "@/server/domain/base/values";
import { Work } from "@/server/domain/base/work-budget";
import type { Analysis } from "@/server/domain/graph/analysis";
import type { WorkflowEdge, WorkflowNode } from "@/server/domain/graph/graph";
import { reduceValue } from "@/server/domain/graph/reducers";
import { findInvalid } from "@/server/domain/graph/state-check";
import { reducerOf } from "@/server/domain/graph/state-properties";
import { settingsOf } from "@/server/domain/nodes";
import { isDefaultWord } from "@/server/domain/nodes/conditional-router";
import { REPEATED } from "@/server/domain/nodes/end";
import { ExpressionError, evaluateCondition, evaluateExpression } from "@/server/domain/text/expression";
import { getNodeKind, type NodeResult, writtenKeys } from "../nodes";
import type { Activation, RunState } from "./";
import type { NewEvent, Payloads } from "./events";

/**
 * Which events follow from the tokens as they lie; call until it answers []. `force` breaks the ties of graphs
 * whose loops have two entries: the topologically first node that holds tokens goes on.
 *
 * The rules (docs/decisions/03-tokens-and-joins.md): a node with one way in runs for every token; a join runs once, when it holds a token
 * and nothing still under way can reach it; a token on a back edge waits until its loop is quiet.
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
    const join = present(s.graph.nodes[id], "s.graph.nodes[id]").join;
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
  const consumes = mentions(present(s.backbox[id], "s.backbox[id]"));
  const done = s.loops[id]?.iteration ?? 1;
  const max = loopMax(s, id);
  if (done < max) {
    const body = must(a.loops, id);
    // A loop with two entries can be quiet while one of its joins is still waited for from outside.
    const inside = [...s.fired].filter((join) => join !== id && body.has(join));
    return [
      ...inside.map(rearmed),
      { type: "loop_iteration", node_id: id, payload: { iteration: done + 1, max } },
      ready(a, s, id, consumes, { back: true, iteration: done + 1, ...(force ? { tie: true } : {}) }),
    ];
  }
  const exit = loopExit(a, id);
  if (!exit)
    return [{ type: "loop_finished", node_id: id, payload: { iterations: done, reason: "limit", consumes } }];
  const from = Object.values(present(s.backbox[id], "s.backbox[id]"))[0]?.[0] ?? "";
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

/** The way out of a loop that has reached its limit: an error or default edge that leaves it. */
function loopExit(a: Analysis, header: string): WorkflowEdge | undefined {
  const body = must(a.loops, header);
  const leaving = (id: string) =>
    (a.outgoing.get(id) ?? []).find(
      (edge) => (edge.kind === "error" || edge.is_default) && !body.has(edge.target_node_id),
    );
  const own = leaving(header);
  if (own) return own;
  for (const id of a.order) {
    const node = present(a.graph.nodes[id], "a.graph.nodes[id]");
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

/**
 * Where an activation stands in the order that the drawing gives, whatever the timing: a loop as a whole at the place
 * of its header, inside it round by round. Causes come before their effects, but in loops with two entries.
 */
function placeOf(a: Analysis, { node_id, rounds }: Activation): number[] {
  const place = a.around(node_id).flatMap((header, at) => [must(a.position, header), rounds?.[at] ?? 0]);
  return [...place, must(a.position, node_id)];
}

/** Whether one activation has its place before another. Of one node in one round the causes decide. */
function isBefore(a: Analysis, s: RunState, one: string, other: string): boolean {
  for (let [x, y] = [s.activations[one], s.activations[other]]; x && y && x !== y; ) {
    const [here, there] = [placeOf(a, x), placeOf(a, y)];
    const at = here.findIndex((step, k) => step !== there[k]);
    if (at >= 0 || here.length !== there.length)
      return at >= 0 && present(here[at], "here[at]") < (there[at] ?? -1);
    const causes = [s.activations[x.causes[0] ?? ""], s.activations[y.causes[0] ?? ""]] as const;
    if (!causes[0] || !causes[1] || causes[0] === causes[1]) return x.order < y.order;
    [x, y] = causes;
  }
  return false;
}

/** Before how many of the values that were merged into a key already one of this activation has its place. */
function placesBefore(a: Analysis, s: RunState, activationId: string, key: string): number {
  const parts = s.merged[key]?.parts ?? [];
  let at = parts.length;
  while (at > 0 && isBefore(a, s, activationId, present(parts[at - 1], "parts[at - 1]").writer)) at--;
  return parts.length - at;
}

/** The first activation of a run. */
export function begin(a: Analysis, s: RunState): NewEvent[] {
  if (a.start === null) return [];
  const loop: NewEvent[] = a.loops.has(a.start)
    ? [{ type: "loop_started", node_id: a.start, payload: { max: loopMax(s, a.start) } }]
    : [];
  return [...loop, ready(a, s, a.start, [], a.loops.has(a.start) ? { iteration: 1 } : {})];
}

const firstEdge = (tokens: Record<string, string[]>) =>
  present(Object.keys(tokens)[0], "Object.keys(tokens)[0]");

/** Each edge as often as it holds tokens. */
const mentions = (tokens: Record<string, string[]>) =>
  Object.entries(tokens).flatMap(([edge, queue]) => queue.map(() => edge));

/** Whether something under way can still bring a token to this join. */
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

export const taken = (a: Analysis, edge: WorkflowEdge, activation_id: string): NewEvent => ({
  type: "edge_taken",
  node_id: edge.target_node_id,
  activation_id,
  payload: {
    edge_id: edge.id,
    ...(edge.edge_label ? { label: edge.edge_label } : {}),
    ...(a.backEdges.has(edge.id) ? { back: true } : {}),
  },
});

const skipped = (edge: WorkflowEdge, activation_id: string): NewEvent => ({
  type: "edge_skipped",
  node_id: edge.target_node_id,
  activation_id,
  payload: { edge_id: edge.id },
});

/** The way from a node to another one that a person may send a run; undefined where there is none. */
export const wayTo = (a: Analysis, node_id: string, to: string): WorkflowEdge | undefined =>
  (a.outgoing.get(node_id) ?? []).find(
    ({ kind, target_node_id }) => kind === "normal" && target_node_id === to,
  );

/** The way that a person chose for an activation, whatever its node chooses. */
function chosenWay(a: Analysis, { node_id, next }: Activation): WorkflowEdge | undefined {
  return next === undefined ? undefined : wayTo(a, node_id, next);
}

/** Which normal edges a router's labels choose; null where none matches and there is no default. */
export function chooseEdges(
  a: Analysis,
  node: WorkflowNode,
  labels: readonly string[],
): WorkflowEdge[] | null {
  const config = settingsOf(node);
  const edges = (a.outgoing.get(node.id) ?? []).filter((edge) => edge.kind === "normal");
  const wanted = new Set(config.mode === "all" ? labels : labels.slice(0, 1));
  const matching = edges.filter((edge) => edge.edge_label != null && wanted.has(edge.edge_label));
  if (matching.length > 0) return matching;
  const fallback = edges.filter(
    (edge) =>
      edge.is_default ||
      (edge.edge_label != null &&
        (edge.edge_label === config.default_label || isDefaultWord(edge.edge_label))),
  );
  if (fallback.length > 0) return fallback;
  const unnamed = edges.filter((edge) => edge.edge_label == null || edge.edge_label === "");
  return unnamed.length > 0 ? unnamed : null;
}

/**
 * What follows when an activation has its result: state, completion, tokens on the edges. `now`, here and below: the
 * recorded time at which it follows, for conditions that ask for it (Unix time in milliseconds).
 */
export function complete(
  a: Analysis,
  s: RunState,
  activationId: string,
  given: NodeResult,
  now?: number,
): NewEvent[] {
  const activation = present(s.activations[activationId], "s.activations[activationId]");
  const node = present(s.graph.nodes[activation.node_id], "s.graph.nodes[activation.node_id]");
  const kind = getNodeKind(node.node_type);
  const mapped = given.pinned ? { output: given.output } : mapOutput(node, s, given.output, now);
  if ("error" in mapped) return fail(a, s, activationId, mapped.error, now);
  const { output } = mapped;
  const isChosen = chosenWay(a, activation) !== undefined;
  const chosen = kind.routes && !isChosen ? chooseEdges(a, node, given.labels ?? []) : null;
  if (kind.routes && !isChosen && chosen === null)
    return fail(
      a,
      s,
      activationId,
      {
        code: "ROUTER_NO_MATCH",
        message: `${nameOf(node)} chose ${quoted(given.labels ?? [])}, and no edge has that label. Add an edge with it, or a default edge.`,
        retryable: false,
        user_action: "edit_graph",
        node_id: node.id,
        activation_id: activationId,
      },
      now,
    );

  const large = tooLarge(`What ${nameOf(node)} gives`, sizeOf(output), s);
  if (large) return fail(a, s, activationId, large, now);
  const allowed = declaredKeys(node);
  const dropped: string[] = [];
  const written: JsonObject = {};
  for (const key of Object.keys(output)) {
    if (!allowed.has(key)) dropped.push(key);
    else if (!kind.ends) written[key] = present(output[key], "output[key]");
  }
  if (given.writes) Object.assign(written, given.writes);
  const write = patch(a, s, activationId, written);
  if ("error" in write) return fail(a, s, activationId, write.error, now);
  const ways = leave(a, s, activationId, output, chosen, now);
  if ("error" in ways) return fail(a, s, activationId, ways.error, now);
  const { events } = write;
  if (dropped.length > 0 && !kind.ends && !kind.begins)
    events.push({
      type: "warning",
      node_id: node.id,
      activation_id: activationId,
      payload: {
        code: "OUTPUT_DROPPED",
        message: `${nameOf(node)} also gave ${quoted(dropped)}, which it does not declare; dropped.`,
      },
    });
  if (kind.routes)
    events.push({
      type: "router_decided",
      node_id: node.id,
      activation_id: activationId,
      payload: {
        kind: settingsOf(node).kind ?? node.node_type,
        labels: [...(given.labels ?? [])],
        ...given.why,
      },
    });
  const said = referring(s.state, output, write);
  const payload: Payloads["node_completed"] = said.from_state
    ? { output: said.input, from_state: said.from_state, written_keys: write.keys }
    : { output: said.input, written_keys: write.keys };
  if (given.labels) payload.labels = given.labels;
  if (given.pinned) payload.pinned = true;
  if (given.usage) payload.usage = given.usage;
  if (given.cost_usd !== undefined) payload.cost_usd = given.cost_usd;
  events.push({ type: "node_completed", node_id: node.id, activation_id: activationId, payload });
  events.push(...ways.events);
  return events;
}

const declared = new WeakMap<WorkflowNode, ReadonlySet<string>>();

/** The state keys that a node writes; worked out once, since no run changes its nodes. */
function declaredKeys(node: WorkflowNode): ReadonlySet<string> {
  let keys = declared.get(node);
  if (!keys) declared.set(node, (keys = new Set(writtenKeys(node))));
  return keys;
}

/** What a node gives by its output mapping, which has one budget of work; without one, what it gave itself. */
function mapOutput(
  node: WorkflowNode,
  s: RunState,
  output: JsonObject,
  now: number | undefined,
): { output: JsonObject } | { error: RunError } {
  if (!node.output_mapping) return { output };
  const scope = { state: s.state, output, now };
  const work = new Work();
  const mapped: JsonObject = {};
  for (const [key, expression] of Object.entries(node.output_mapping))
    try {
      mapped[key] = evaluateExpression(expression, scope, work);
    } catch (error) {
      return { error: failedExpression(`${nameOf(node)}: its output mapping of "${key}"`, error) };
    }
  return { output: mapped };
}

/**
 * Tokens on the edges of a node that is done: the chosen ones, or those whose conditions hold. An error where a
 * condition cannot be evaluated; then it is the node that fails. All conditions share one budget of work.
 */
function leave(
  a: Analysis,
  s: RunState,
  activationId: string,
  output: JsonObject,
  chosen: readonly WorkflowEdge[] | null,
  now: number | undefined,
): { events: NewEvent[] } | { error: RunError } {
  const activation = present(s.activations[activationId], "s.activations[activationId]");
  const { node_id } = activation;
  const edges = a.outgoing.get(node_id) ?? [];
  const way = chosenWay(a, activation);
  if (way)
    return {
      events: edges.map((edge) =>
        edge === way ? taken(a, edge, activationId) : skipped(edge, activationId),
      ),
    };
  if (!chosen && edges.every(isAlwaysTaken))
    return { events: edges.map((edge) => taken(a, edge, activationId)) };
  const candidates = chosen ?? edges.filter((edge) => edge.kind === "normal");
  const work = new Work();
  const open: WorkflowEdge[] = [];
  for (const edge of candidates)
    try {
      if (isOpen(edge, s, output, now, work)) open.push(edge);
    } catch (error) {
      const target = nameOf(
        present(s.graph.nodes[edge.target_node_id], "s.graph.nodes[edge.target_node_id]"),
      );
      return {
        error: failedExpression(
          `${nameOf(present(s.graph.nodes[node_id], "s.graph.nodes[node_id]"))}: the condition of the way to ${target}`,
          error,
        ),
      };
    }
  const guarded = candidates.some(
    (edge) => edge.is_default || edge.condition !== undefined || edge.condition_name,
  );
  const takes =
    chosen || !guarded
      ? new Set(open)
      : new Set(
          open.filter((edge) => !edge.is_default).length > 0 ? open.filter((edge) => !edge.is_default) : open,
        );
  return {
    events: edges.map((edge) =>
      takes.has(edge) ? taken(a, edge, activationId) : skipped(edge, activationId),
    ),
  };
}

const isAlwaysTaken = (edge: WorkflowEdge) =>
  edge.kind === "normal" && !edge.is_default && edge.condition === undefined && !edge.condition_name;

function isOpen(
  edge: WorkflowEdge,
  s: RunState,
  output: JsonObject,
  now: number | undefined,
  work: Work,
): boolean {
  if (edge.condition_name && s.state[edge.condition_name] !== true && output[edge.condition_name] !== true)
    return false;
  return (
    edge.condition === undefined ||
    evaluateCondition(edge.condition, { state: { ...s.state, ...output }, output, now }, work).value
  );
}

/** What is wrong with an expression, in words that name it. Throws what is no fault of an expression. */
function failedExpression(what: string, error: unknown): RunError {
  if (!(error instanceof ExpressionError)) throw error;
  return {
    code: "CONFIG",
    message: `${what}, ${cutText(error.expression)}, cannot be evaluated: ${error.message}`,
    retryable: false,
    user_action: "edit_graph",
  };
}

/** Whether a node is to run at all, by its `when`. An error where that cannot be evaluated. */
export function isWanted(s: RunState, node: WorkflowNode, now?: number): boolean | { error: RunError } {
  if (node.when === undefined) return true;
  try {
    return evaluateCondition(node.when, { state: s.state, nodes: s.outputs, now }).value;
  } catch (error) {
    return { error: failedExpression(`${nameOf(node)}: its condition`, error) };
  }
}

/** What follows when a node's `when` does not hold: it is passed through, unless nobody can say where to. */
export function passThrough(
  a: Analysis,
  s: RunState,
  activationId: string,
  now?: number,
): { events: NewEvent[] } | { error: RunError } {
  const { node_id } = present(s.activations[activationId], "s.activations[activationId]");
  const routes = getNodeKind(present(s.graph.nodes[node_id], "s.graph.nodes[node_id]").node_type).routes;
  const chosen = routes
    ? chooseEdges(a, present(s.graph.nodes[node_id], "s.graph.nodes[node_id]"), [])
    : null;
  const ways = leave(a, s, activationId, {}, chosen, now);
  if ("error" in ways) return ways;
  const at = { node_id, activation_id: activationId };
  return { events: [{ type: "node_skipped", ...at, payload: { reason: "condition" } }, ...ways.events] };
}

/** What follows when an attempt failed: a retry unless none may be, or what the node's settings say. */
export function fail(
  a: Analysis,
  s: RunState,
  activationId: string,
  cause: RunError,
  now?: number,
  mayRetry = true,
): NewEvent[] {
  const activation = present(s.activations[activationId], "s.activations[activationId]");
  const node = present(s.graph.nodes[activation.node_id], "s.graph.nodes[activation.node_id]");
  const error: RunError = { ...cause, node_id: node.id, activation_id: activationId };
  const { attempt } = activation;
  const at = { node_id: node.id, activation_id: activationId };
  if (mayRetry && attempt < node.retry.max_attempts && node.retry.retry_on.includes(error.code))
    return [
      { type: "node_failed", ...at, payload: { attempt, error, next: "retry" } },
      {
        type: "node_retry_scheduled",
        ...at,
        payload: { attempt: attempt + 1, delay_ms: retryDelay(node, activationId, attempt) },
      },
    ];
  const edges = a.outgoing.get(node.id) ?? [];
  const ways = edges.filter((edge) => edge.kind === "error");
  const about: JsonObject = { _error: { node_id: node.id, code: error.code, message: error.message } };
  if (ways.length > 0 || node.on_error === "error_edge") {
    if (ways.length === 0)
      return [{ type: "node_failed", ...at, payload: { attempt, error, next: "fail_run" } }];
    return [
      { type: "node_failed", ...at, payload: { attempt, error, next: "error_edge" } },
      { type: "state_patched", ...at, payload: { set: about, writer: activationId } },
      ...edges.map((edge) =>
        edge.kind === "error" ? taken(a, edge, activationId) : skipped(edge, activationId),
      ),
    ];
  }
  if (node.on_error === "continue") {
    const output = node.default_output ?? {};
    const write = patch(a, s, activationId, output);
    if ("error" in write)
      return [{ type: "node_failed", ...at, payload: { attempt, error: write.error, next: "fail_run" } }];
    const kind = getNodeKind(node.node_type);
    const chosen = kind.routes ? (chooseEdges(a, node, []) ?? []) : null;
    const ways = leave(a, s, activationId, output, chosen, now);
    if ("error" in ways)
      return [{ type: "node_failed", ...at, payload: { attempt, error: ways.error, next: "fail_run" } }];
    return [
      { type: "node_failed", ...at, payload: { attempt, error, next: "continue" } },
      ...write.events,
      ...ways.events,
    ];
  }
  if (node.on_error === "skip_branch")
    return [
      { type: "node_failed", ...at, payload: { attempt, error, next: "skip_branch" } },
      ...edges.map((edge) => skipped(edge, activationId)),
    ];
  return [{ type: "node_failed", ...at, payload: { attempt, error, next: "fail_run" } }];
}

/** Exponential back-off with a jitter that depends on the activation alone, so that a replay finds the same. */
function retryDelay(node: WorkflowNode, activationId: string, attempt: number): number {
  const { initial_delay_ms, backoff_factor, max_delay_ms, jitter } = node.retry;
  const base = Math.min(max_delay_ms, initial_delay_ms * backoff_factor ** (attempt - 1));
  return Math.round(base * (1 + jitter * (2 * fraction(`${activationId}/${attempt}`) - 1)));
}

/** A number in [0, 1) that a text always gives. */
export function fraction(text: string): number {
  let hash = 2166136261;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16777619);
  return (hash >>> 0) / 4294967296;
}

/**
 * Writes values into the state by their reducers. A key that a branch wrote which did not know of the present
 * writer is a conflict: the writer later in topological order wins, whatever the timing.
 */
function patch(
  a: Analysis,
  s: RunState,
  activationId: string,
  values: JsonObject,
):
  | { events: NewEvent[]; keys: string[]; set: JsonObject; reducers: Record<string, string> }
  | { error: RunError } {
  const set: JsonObject = {};
  const reducers: Record<string, string> = {};
  const merged: string[] = [];
  const events: NewEvent[] = [];
  const { node_id } = present(s.activations[activationId], "s.activations[activationId]");
  const at = { node_id, activation_id: activationId };
  for (const key of Object.keys(values)) {
    const reducer = reducerOf(s.graph, key);
    const before = s.writer[key];
    const value: Json = present(values[key], "values[key]");
    if (reducer !== "last") {
      reducers[key] = reducer;
      merged.push(key);
    } else if (before !== undefined && before !== "input" && !knows(s, activationId, before)) {
      const winner = isLater(a, s, activationId, before) ? activationId : before;
      const strict = s.run.config.strict_state;
      events.push({
        type: "state_conflict",
        ...at,
        payload: {
          key,
          writers: [before, activationId],
          winner,
          policy: strict ? "strict" : "topological_order",
        },
      });
      if (strict)
        return {
          error: {
            code: "STATE_INVALID",
            message: `Two branches write "${key}" at the same time (${before} and ${activationId}). Give the key a reducer, or let one branch come first.`,
            retryable: false,
            user_action: "edit_graph",
          },
        };
      if (winner !== activationId) continue;
    }
    const errors = findInvalid(s.graph, key, value, reducer);
    if (errors.length > 0) {
      if (s.run.config.strict_state)
        return {
          error: {
            code: "STATE_INVALID",
            message: `"${key}" does not have its declared shape: ${errors.join("; ")}`,
            retryable: false,
            user_action: "edit_graph",
          },
        };
      events.push({ type: "state_invalid", ...at, payload: { key, errors, writer: activationId } });
    }
    set[key] = value;
  }
  const keys = Object.keys(set);
  const large = findTooLarge(s, node_id, set, reducers);
  if (large) return { error: large };
  if (keys.length > 0)
    events.push({
      type: "state_patched",
      ...at,
      payload: {
        ...asChanges(s, set, reducers),
        ...(merged.length > 0 ? mergedBefore(a, s, activationId, merged) : null),
        writer: activationId,
        ...(merged.length > 0 ? { reducers } : null),
      },
    });
  return { events, keys, set, reducers };
}

function mergedBefore(
  a: Analysis,
  s: RunState,
  activationId: string,
  keys: readonly string[],
): { before?: Record<string, number> } {
  const places = keys
    .map((key) => [key, placesBefore(a, s, activationId, key)] as const)
    .filter(([, count]) => count > 0);
  return places.length > 0 ? { before: Object.fromEntries(places) } : {};
}

/** What is written, by what it changes where that is shorter. Merged values are changes already. */
function asChanges(
  s: RunState,
  written: JsonObject,
  reducers: Readonly<Record<string, string>>,
): { set: JsonObject; changed?: Record<string, Change> } {
  const set: JsonObject = {};
  let changed: Record<string, Change> | undefined;
  for (const key of Object.keys(written)) {
    const change = key in reducers ? null : changeOf(s.state[key], present(written[key], "written[key]"));
    if (change) (changed ??= {})[key] = change;
    else set[key] = present(written[key], "written[key]");
  }
  return changed ? { set, changed } : { set };
}

/**
 * Values of a node's input or output, without saying again what is long and stands in the state under the same key.
 * `written`: what is set there by then; what is merged by a reducer becomes something else.
 */
export function referring(
  state: RunState["state"],
  values: JsonObject,
  written?: { set: JsonObject; reducers: Readonly<Record<string, string>> },
): { input: JsonObject; from_state?: string[] } {
  const from_state = Object.keys(values).filter((key) => {
    const value = values[key];
    if (sizeOf(value) < WORTH_REFERRING || (written && key in written.reducers)) return false;
    return value === (written && Object.hasOwn(written.set, key) ? written.set[key] : state[key]);
  });
  if (from_state.length === 0) return { input: values };
  const input = Object.fromEntries(Object.entries(values).filter(([key]) => !from_state.includes(key)));
  return { input, from_state };
}

/** What is wrong with so many characters, or null where they fit. */
function tooLarge(what: string, size: number, s: RunState): RunError | null {
  const most = s.run.config.max_state_chars;
  if (size <= most) return null;
  return {
    code: "TOO_LARGE",
    message: `${what} is too large: ${sizeText(size)}, and at most ${sizeText(most)} fit. Keep less of it, write it into a file, or raise the limit in the settings of the workflow.`,
    retryable: false,
    user_action: "edit_graph",
  };
}

/** What is wrong with the size that the state has once these values are written, or null. */
function findTooLarge(
  s: RunState,
  node_id: string,
  set: JsonObject,
  reducers: Readonly<Record<string, string>>,
): RunError | null {
  // What merging makes of a value is seldom larger than both; only where that might not fit it is made to see.
  let most = sizeOf(set);
  for (const key in s.state) most += key.length + 4 + sizeOf(s.state[key]);
  if (most <= s.run.config.max_state_chars) return null;
  most = sizeOfState({ ...s.state, ...set });
  for (const key in reducers) most += sizeOf(s.state[key]);
  if (most <= s.run.config.max_state_chars) return null;
  const after = { ...s.state, ...set };
  for (const key in reducers)
    after[key] = reduceValue(
      present(reducers[key], "reducers[key]"),
      s.state[key],
      present(set[key], "set[key]"),
    );
  const what = `The state, with ${quoted(Object.keys(set))} from ${nameOf(present(s.graph.nodes[node_id], "s.graph.nodes[node_id]"))},`;
  return tooLarge(what, sizeOfState(after), s);
}

function sizeOfState(state: Readonly<Record<string, Json>>): number {
  let size = 0;
  for (const key in state) {
    const value = state[key];
    // An end repeats what it gives under a second name.
    const isRepeated = key.startsWith(REPEATED) && state[key.slice(REPEATED.length)] === value;
    size += key.length + 4 + (isRepeated ? 0 : sizeOf(value));
  }
  return size;
}

/** Whether one activation comes after another along the tokens: the other is among its causes' causes. */
function knows(s: RunState, activationId: string, earlier: string): boolean {
  if (activationId === earlier || s.activations[activationId]?.causes.includes(earlier)) return true;
  const target = s.activations[earlier];
  if (!target) return true;
  const open = [activationId];
  const seen = new Set(open);
  while (open.length > 0)
    for (const cause of s.activations[present(open.pop(), "open.pop()")]?.causes ?? []) {
      if (cause === earlier) return true;
      const known = s.activations[cause];
      // Causes come before their effects, so older ones than the target cannot lead to it.
      if (!known || known.order < target.order || seen.has(cause)) continue;
      seen.add(cause);
      open.push(cause);
    }
  return false;
}

function isLater(a: Analysis, s: RunState, one: string, other: string): boolean {
  const x = present(s.activations[one], "s.activations[one]");
  const y = present(s.activations[other], "s.activations[other]");
  if (x.node_id === y.node_id)
    return Number(one.slice(one.lastIndexOf("#") + 1)) > Number(other.slice(other.lastIndexOf("#") + 1));
  return must(a.position, x.node_id) > must(a.position, y.node_id);
}

/**
 * Nodes that nothing under way can reach any more, beginning at edges that were not taken. For people: the
 * scheduler itself never needs to know.
 */
export function unreachable(a: Analysis, s: RunState, candidates: readonly string[]): NewEvent[] {
  const events: NewEvent[] = [];
  const seen = new Set<string>();
  const open = [...candidates];
  while (open.length > 0) {
    const id = present(open.pop(), "open.pop()");
    if (seen.has(id)) continue;
    seen.add(id);
    if ((s.nodes[id]?.status ?? "idle") !== "idle" || s.parked.has(id)) continue;
    if (canReach(a, s, id)) continue;
    events.push({ type: "node_skipped", node_id: id, payload: { reason: "unreachable" } });
    for (const edge of a.outgoing.get(id) ?? []) open.push(edge.target_node_id);
  }
  return events;
}

/** Whether a node is under way or may still come to it. */
export const isAhead = (a: Analysis, s: RunState, id: string): boolean =>
  s.work.has(id) || s.parked.has(id) || canReach(a, s, id);

function canReach(a: Analysis, s: RunState, target: string): boolean {
  for (const id of s.work.keys()) if (a.downstream(id).has(target)) return true;
  for (const id of s.parked) if (a.downstream(id).has(target)) return true;
  return false;
}

const nameOf = (node: WorkflowNode) => node.name || node.id;
const quoted = (words: readonly string[]) =>
  words.length === 0 ? "nothing" : words.map((word) => `"${word}"`).join(", ");
