import type { RunError } from "@/server/domain/agent/outcome";
import { must } from "@/server/domain/base/must";
import { sizeOf } from "@/server/domain/base/sizes";
import type { JsonObject } from "@/server/domain/base/values";
import { Work } from "@/server/domain/base/work-budget";
import type { Analysis } from "@/server/domain/graph/analysis";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind, type NodeResult, settingsOf, writtenKeys } from "@/server/domain/nodes";
import { evaluateCondition, evaluateExpression } from "@/server/domain/text/expression/expression";
import type { RunState } from "..";
import { isSince } from "../edition";
import type { NewEvent, Payloads } from "../events";
import { chooseEdges } from "./choose-edges";
import { nameOf, quoted } from "./names";
import { chosenWay, failedExpression, leave, skipped, taken } from "./outgoing-edges";
import { retryDelay } from "./retry-delay";
import { patch, referring, tooLarge } from "./state-write";

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
  const activation = must(s.activations, activationId);
  const node = must(s.graph.nodes, activation.node_id);
  const kind = getNodeKind(node.node_type);
  const mapped = given.pinned ? { output: given.output } : mapOutput(node, s, given.output, now);
  if ("error" in mapped) return fail(a, s, activationId, mapped.error, now);
  const { output } = mapped;
  const isChosen = chosenWay(a, activation) !== undefined;
  const chosen =
    kind.routes && !isChosen ? chooseEdges(a.outgoing.get(node.id), node, given.labels ?? []) : null;
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
    else if (!kind.ends) written[key] = must(output, key);
  }
  if (given.writes) Object.assign(written, given.writes);
  const write = patch(a, s, activationId, written);
  if ("error" in write) return fail(a, s, activationId, write.error, now);
  const outgoing = leave(a, s, activationId, output, chosen, now);
  if ("error" in outgoing) return fail(a, s, activationId, outgoing.error, now);
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
  const referenced = referring(s.state, output, write);
  const payload: Payloads["node_completed"] = referenced.from_state
    ? { output: referenced.input, from_state: referenced.from_state, written_keys: write.keys }
    : { output: referenced.input, written_keys: write.keys };
  if (given.labels) payload.labels = given.labels;
  if (given.pinned) payload.pinned = true;
  if (given.usage) payload.usage = given.usage;
  if (given.cost_usd !== undefined) payload.cost_usd = given.cost_usd;
  events.push({ type: "node_completed", node_id: node.id, activation_id: activationId, payload });
  events.push(...outgoing.events);
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

/** Whether a node is to run at all, by its `when`. An error where that cannot be evaluated. */
export function isWanted(s: RunState, node: WorkflowNode, now?: number): boolean | { error: RunError } {
  if (node.when === undefined) return true;
  try {
    return evaluateCondition(node.when, { state: s.state, nodes: s.outputs, now }).value;
  } catch (error) {
    return { error: failedExpression(`${nameOf(node)}: its condition`, error) };
  }
}

/** What follows when a node's `when` is false: the token passes through, unless the next edge is ambiguous. */
export function passThrough(
  a: Analysis,
  s: RunState,
  activationId: string,
  now?: number,
): { events: NewEvent[] } | { error: RunError } {
  const { node_id } = must(s.activations, activationId);
  const routes = getNodeKind(must(s.graph.nodes, node_id).node_type).routes;
  const chosen = routes ? chooseEdges(a.outgoing.get(node_id), must(s.graph.nodes, node_id), []) : null;
  const outgoing = leave(a, s, activationId, {}, chosen, now);
  if ("error" in outgoing) return outgoing;
  const at = { node_id, activation_id: activationId };
  return { events: [{ type: "node_skipped", ...at, payload: { reason: "condition" } }, ...outgoing.events] };
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
  const activation = must(s.activations, activationId);
  const node = must(s.graph.nodes, activation.node_id);
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
  const errorEdges = edges.filter((edge) => edge.kind === "error");
  const about: JsonObject = { _error: { node_id: node.id, code: error.code, message: error.message } };
  if (errorEdges.length > 0 || node.on_error === "error_edge") {
    if (errorEdges.length === 0)
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
    const ended = (misfit: RunError): NewEvent[] => {
      const placed = isSince(s.run, 2)
        ? { ...misfit, node_id: node.id, activation_id: activationId }
        : misfit;
      return [{ type: "node_failed", ...at, payload: { attempt, error: placed, next: "fail_run" } }];
    };
    const write = patch(a, s, activationId, output);
    if ("error" in write) return ended(write.error);
    const kind = getNodeKind(node.node_type);
    const chosen = kind.routes ? (chooseEdges(a.outgoing.get(node.id), node, []) ?? []) : null;
    const outgoing = leave(a, s, activationId, output, chosen, now);
    if ("error" in outgoing) return ended(outgoing.error);
    return [
      { type: "node_failed", ...at, payload: { attempt, error, next: "continue" } },
      ...write.events,
      ...outgoing.events,
    ];
  }
  if (node.on_error === "skip_branch")
    return [
      { type: "node_failed", ...at, payload: { attempt, error, next: "skip_branch" } },
      ...edges.map((edge) => skipped(edge, activationId)),
    ];
  return [{ type: "node_failed", ...at, payload: { attempt, error, next: "fail_run" } }];
}
