import type { RunError } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import { must } from "@/server/domain/base/must";
import { cutText } from "@/server/domain/base/sizes";
import type { JsonObject } from "@/server/domain/base/values";
import { Work } from "@/server/domain/base/work-budget";
import type { Analysis } from "@/server/domain/graph/analysis";
import type { WorkflowEdge } from "@/server/domain/graph/graph";
import { ExpressionError, evaluateCondition } from "@/server/domain/text/expression/expression";
import type { Activation, RunState } from "..";
import type { NewEvent } from "../events";
import { nameOf } from "./names";

/** On which of its edges a completed node sends tokens. */

export const taken = (a: Analysis, edge: WorkflowEdge, activation_id: string): NewEvent => ({
  type: "edge_taken",
  node_id: edge.target_node_id,
  activation_id,
  payload: {
    edge_id: edge.id,
    ...defined({ label: edge.edge_label || undefined, back: a.backEdges.has(edge.id) || undefined }),
  },
});

export const skipped = (edge: WorkflowEdge, activation_id: string): NewEvent => ({
  type: "edge_skipped",
  node_id: edge.target_node_id,
  activation_id,
  payload: { edge_id: edge.id },
});

/** The edge to a node to which a person may send a run; undefined if there is none. */
export const wayTo = (a: Analysis, node_id: string, to: string): WorkflowEdge | undefined =>
  (a.outgoing.get(node_id) ?? []).find(
    ({ kind, target_node_id }) => kind === "normal" && target_node_id === to,
  );

/** The edge that a person chose for an activation, whatever its node chooses. */
export function chosenWay(a: Analysis, { node_id, next }: Activation): WorkflowEdge | undefined {
  return next === undefined ? undefined : wayTo(a, node_id, next);
}

interface Departure {
  output: JsonObject;
  /** The edges that a router chose; null if conditions choose. */
  chosen: readonly WorkflowEdge[] | null;
  now: number | undefined;
}

/**
 * Tokens on the edges of a completed node: the chosen ones, or those whose conditions hold. An error if a condition
 * can't be evaluated; then the node fails. All conditions share one budget of work.
 */
export function leave(
  a: Analysis,
  s: RunState,
  activationId: string,
  { output, chosen, now }: Departure,
): { events: NewEvent[] } | { error: RunError } {
  const activation = must(s.activations, activationId);
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
      if (isOpen(edge, s.state, { output, now }, work)) open.push(edge);
    } catch (error) {
      const target = nameOf(must(s.graph.nodes, edge.target_node_id));
      return {
        error: failedExpression(
          `The condition of the connection from ${nameOf(must(s.graph.nodes, node_id))} to ${target}`,
          error,
        ),
      };
    }
  const conditional = open.filter((edge) => !edge.is_default);
  const takes = new Set(chosen || conditional.length === 0 ? open : conditional);
  return {
    events: edges.map((edge) =>
      takes.has(edge) ? taken(a, edge, activationId) : skipped(edge, activationId),
    ),
  };
}

const isAlwaysTaken = (edge: WorkflowEdge) =>
  edge.kind === "normal" && !edge.is_default && edge.condition === undefined && !edge.condition_name;

function isOpen(
  { condition, condition_name: name }: WorkflowEdge,
  state: RunState["state"],
  { output, now }: Pick<Departure, "output" | "now">,
  work: Work,
): boolean {
  if (name && state[name] !== true && output[name] !== true) return false;
  return (
    condition === undefined ||
    evaluateCondition(condition, { state: { ...state, ...output }, output, now }, work).value
  );
}

/** The error of an expression, with the expression's name. Rethrows any other error. */
export function failedExpression(what: string, error: unknown): RunError {
  if (!(error instanceof ExpressionError)) throw error;
  return {
    code: "CONFIG",
    message: `${what} (${cutText(error.expression)}) can't be evaluated: ${error.message}`,
    retryable: false,
    user_action: "edit_graph",
  };
}
