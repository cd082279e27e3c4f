import type { RunError } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
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
 * recorded time, for conditions that read it (Unix time in milliseconds).
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
  const failed = (error: RunError) => fail(a, s, activationId, error, now);
  const mapped = given.pinned ? { output: given.output } : mapOutput(node, s, given.output, now);
  if ("error" in mapped) return failed(mapped.error);
  const { output } = mapped;
  const labels = given.labels ?? [];
  const mustChoose = kind.routes && chosenWay(a, activation) === undefined;
  const chosen = mustChoose ? chooseEdges(a.outgoing.get(node.id), node, labels) : null;
  if (mustChoose && chosen === null)
    return failed({
      code: "ROUTER_NO_MATCH",
      message: `${nameOf(node)} chose ${quoted(labels)}, but no connection has that label. Add one with that label, or a default connection.`,
      retryable: false,
      user_action: "edit_graph",
    });

  const large = tooLarge(`The output of ${nameOf(node)}`, sizeOf(output), s);
  if (large) return failed(large);
  const { written, dropped } = splitOutput(node, output);
  const write = patch(a, s, activationId, { ...written, ...given.writes });
  if ("error" in write) return failed(write.error);
  const outgoing = leave(a, s, activationId, { output, chosen, now });
  if ("error" in outgoing) return failed(outgoing.error);
  const { events } = write;
  const at = { node_id: node.id, activation_id: activationId };
  if (dropped.length > 0)
    events.push({
      type: "warning",
      ...at,
      payload: {
        code: "OUTPUT_DROPPED",
        message: `${nameOf(node)} also returned ${quoted(dropped)}, which it doesn't declare; dropped.`,
      },
    });
  if (kind.routes)
    events.push({
      type: "router_decided",
      ...at,
      payload: {
        kind: settingsOf(node).kind ?? node.node_type,
        labels: [...labels],
        ...given.why,
      },
    });
  const { input, from_state } = referring(s.state, output, write);
  events.push({
    type: "node_completed",
    ...at,
    payload: {
      output: input,
      ...defined({ from_state }),
      written_keys: write.keys,
      ...defined({
        labels: given.labels,
        pinned: given.pinned || undefined,
        usage: given.usage,
        cost_usd: given.cost_usd,
      }),
    },
  });
  events.push(...outgoing.events);
  return events;
}

/** What an output writes into the state, and the undeclared keys that it loses. An end writes nothing and loses nothing. */
function splitOutput(node: WorkflowNode, output: JsonObject): { written: JsonObject; dropped: string[] } {
  const { begins, ends } = getNodeKind(node.node_type);
  const written: JsonObject = {};
  if (ends) return { written, dropped: [] };
  const allowed = declaredKeys(node);
  const dropped: string[] = [];
  for (const key of Object.keys(output)) {
    if (allowed.has(key)) written[key] = must(output, key);
    else if (!begins) dropped.push(key);
  }
  return { written, dropped };
}

const declared = new WeakMap<WorkflowNode, ReadonlySet<string>>();

/** The state keys that a node writes; computed once, since no run changes its nodes. */
function declaredKeys(node: WorkflowNode): ReadonlySet<string> {
  let keys = declared.get(node);
  if (!keys) declared.set(node, (keys = new Set(writtenKeys(node))));
  return keys;
}

/** The output by the output mapping, which has one budget of work; unchanged without one. */
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
      return { error: failedExpression(`The output mapping of "${key}" in ${nameOf(node)}`, error) };
    }
  return { output: mapped };
}

/** Whether a node is to run, by its `when`; an error if that can't be evaluated. */
export function isWanted(s: RunState, node: WorkflowNode, now?: number): boolean | { error: RunError } {
  if (node.when === undefined) return true;
  try {
    return evaluateCondition(node.when, { state: s.state, nodes: s.outputs, now }).value;
  } catch (error) {
    return { error: failedExpression(`The condition of ${nameOf(node)}`, error) };
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
  const outgoing = leave(a, s, activationId, { output: {}, chosen, now });
  if ("error" in outgoing) return outgoing;
  const at = { node_id, activation_id: activationId };
  return { events: [{ type: "node_skipped", ...at, payload: { reason: "condition" } }, ...outgoing.events] };
}

/** What follows when an attempt failed: a retry if one is allowed, or what the node's settings say. */
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
  const failed = (next: Payloads["node_failed"]["next"]): NewEvent => ({
    type: "node_failed",
    ...at,
    payload: { attempt, error, next },
  });
  if (mayRetry && attempt < node.retry.max_attempts && node.retry.retry_on.includes(error.code))
    return [
      failed("retry"),
      {
        type: "node_retry_scheduled",
        ...at,
        payload: { attempt: attempt + 1, delay_ms: retryDelay(node, activationId, attempt) },
      },
    ];
  const edges = a.outgoing.get(node.id) ?? [];
  if (edges.some((edge) => edge.kind === "error")) {
    const set: JsonObject = { _error: { node_id: node.id, code: error.code, message: error.message } };
    return [
      failed("error_edge"),
      { type: "state_patched", ...at, payload: { set, writer: activationId } },
      ...edges.map((edge) =>
        edge.kind === "error" ? taken(a, edge, activationId) : skipped(edge, activationId),
      ),
    ];
  }
  if (node.on_error === "skip_branch")
    return [failed("skip_branch"), ...edges.map((edge) => skipped(edge, activationId))];
  if (node.on_error !== "continue") return [failed("fail_run")];
  const passed = passWithDefault(a, s, activationId, now);
  if (!("error" in passed)) return [failed("continue"), ...passed.events];
  const placed = isSince(s.run, 2) ? { ...passed.error, ...at } : passed.error;
  return [{ type: "node_failed", ...at, payload: { attempt, error: placed, next: "fail_run" } }];
}

/** What follows when a failed node continues with its default output. */
function passWithDefault(
  a: Analysis,
  s: RunState,
  activationId: string,
  now: number | undefined,
): { events: NewEvent[] } | { error: RunError } {
  const { node_id } = must(s.activations, activationId);
  const node = must(s.graph.nodes, node_id);
  const output = node.default_output ?? {};
  const write = patch(a, s, activationId, output);
  if ("error" in write) return write;
  const { routes } = getNodeKind(node.node_type);
  const chosen = routes ? (chooseEdges(a.outgoing.get(node_id), node, []) ?? []) : null;
  const outgoing = leave(a, s, activationId, { output, chosen, now });
  if ("error" in outgoing) return outgoing;
  return { events: [...write.events, ...outgoing.events] };
}
