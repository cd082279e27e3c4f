import type { RunError } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import type { Durable, Flow } from "@/server/domain/base/durable";
import { errorMessage } from "@/server/domain/base/guards";
import { must } from "@/server/domain/base/must";
import type { Json, JsonObject } from "@/server/domain/base/values";
import { WORK_LIMITS, Work, workSoFar } from "@/server/domain/base/work-budget";
import { graphOfBody } from "@/server/domain/graph/called";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { hasOwnVars, VARS } from "@/server/domain/graph/run-input";
import { getNodeKind, NodeFailure, type WorkflowNode, writtenKeys } from "@/server/domain/nodes";
import type { ItemOutcome, MapRequest, NodeContext } from "@/server/domain/nodes/define";
import { evaluateExpression } from "@/server/domain/text/expression/expression";
import { toRunError } from "../interpreter/node-error";
import { Children } from "../node/flow";
import { type ChildRuntime, runChild, type Target, vouchedTexts } from "./child-run";

/** What a map needs of its attempt. */
export interface MapRuntime extends ChildRuntime {
  /** Ends what is evaluated at once: others may have the thread. */
  breathe(key: string): Durable;
}

/** The workflow with this id, in the version saved when the run was created. Throws NodeFailure. */
export function calledTarget(run: ChildRuntime, workflow_id: string, shares = 1): Target {
  const workflow = run.s.run.workflows?.[workflow_id];
  if (!workflow) throw new NodeFailure("CONFIG", `There is no workflow "${workflow_id}".`);
  return { workflow_id, workflow, shares, isVouched: vouchedTexts(run) };
}

/** Runs each item of a list. Throws NodeFailure at the first failure if the request says so. */
export function* mapItems(run: MapRuntime, request: MapRequest): Flow<ItemOutcome[]> {
  const { items, target } = request;
  run.emit({ type: "map_started", payload: { total: items.length } });
  const pure = "body" in target ? pureBody(run.s.graph, target.body) : null;
  if (pure) return yield* computeItems(run, request, pure);
  return yield* runItems(run, request, targetOf(run, request));
}

function targetOf(run: MapRuntime, { target, items, concurrency }: MapRequest): Target {
  const shares = Math.min(concurrency, Math.max(1, items.length));
  if ("workflow_id" in target) return calledTarget(run, target.workflow_id, shares);
  const graph = graphOfBody(run.s.graph, target.body);
  if (!graph) throw new NodeFailure("CONFIG", `There is no node or group "${target.body}" to run.`);
  const { roles, run: about } = run.s;
  const group = run.s.graph.groups?.find(({ id }) => id === target.body);
  const name = (group ?? run.s.graph.nodes[target.body])?.name || target.body;
  return {
    workflow_id: null,
    shares,
    isVouched: vouchedTexts(run),
    workflow: {
      name,
      graph,
      roles: [...roles],
      provider_summary: about.provider_summary,
      ...(about.context_windows ? { context_windows: { ...about.context_windows } } : {}),
      ...defined({ foreign: about.foreign, variables: about.variables }),
    },
  };
}

function* runItems(run: MapRuntime, request: MapRequest, target: Target): Flow<ItemOutcome[]> {
  const { items, concurrency, stopsAtFailure } = request;
  const outcomes: ItemOutcome[] = [];
  const children = new Children<Json>();
  let next = 0;
  try {
    for (;;) {
      for (; children.size < concurrency && next < items.length; next++)
        children.add(String(next), runItem(run, request, target, next));
      if (children.size === 0) return outcomes;
      const done = yield* children.next();
      const index = Number(done.id);
      outcomes[index] = done.ok
        ? { ok: true, value: done.value }
        : { ok: false, error: toRunError(done.error, run.node) };
      const outcome = outcomes[index];
      // One that was cancelled has no result, not even a failure.
      if (!outcome.ok && (stopsAtFailure || outcome.error.code === "CANCELLED"))
        throw itemFailed(index, items.length, outcome.error);
    }
  } finally {
    children.stop();
  }
}

function* runItem(run: MapRuntime, request: MapRequest, target: Target, index: number): Flow<Json> {
  const output = yield* runChild(run, target, inputOf(run, request, index), index);
  return resultOf(run, request, index, output);
}

const itemFailed = (index: number, count: number, { code, message }: RunError) =>
  new NodeFailure(
    code === "CANCELLED" ? code : "SUBRUN_FAILED",
    `Item ${index + 1} of ${count} failed: ${message}`,
    { user_action: "retry" },
  );

function inputOf({ state, now }: MapRuntime, { input, items }: MapRequest, index: number): JsonObject {
  const scope = { state, now, item: items[index] ?? null, index };
  const work = new Work();
  return Object.fromEntries(
    Object.entries(input).map(([key, expression]) => [key, evaluateExpression(expression, scope, work)]),
  );
}

const resultOf = (
  { state, now }: MapRuntime,
  { output: expression, items }: MapRequest,
  index: number,
  output: Json,
) =>
  expression
    ? evaluateExpression(expression, { state, now, output, item: items[index] ?? null, index })
    : output;

/** The node of a body that only computes, and in which nothing but its settings counts; null for any other. */
function pureBody({ nodes, groups }: WorkflowGraph, bodyId: string): WorkflowNode | null {
  const node = nodes[bodyId];
  if (!node || groups?.some(({ id }) => id === bodyId) || !getNodeKind(node.node_type).isPure) return null;
  return node.when === undefined && !node.input_mapping && !node.output_mapping ? node : null;
}

/** How many items share an event. */
const BATCH = 500;

/** Computes items here, many in one turn. */
function* computeItems(run: MapRuntime, request: MapRequest, node: WorkflowNode): Flow<ItemOutcome[]> {
  const { items, stopsAtFailure } = request;
  const outcomes: ItemOutcome[] = [];
  const compute = itemComputer(run, request, node);
  while (outcomes.length < items.length) {
    const before = workSoFar();
    const begin = outcomes.length;
    let failed = 0;
    while (
      outcomes.length < items.length &&
      outcomes.length - begin < BATCH &&
      workSoFar() - before < WORK_LIMITS.units / 4
    ) {
      const index = outcomes.length;
      const outcome = compute(index);
      outcomes.push(outcome);
      if (outcome.ok) continue;
      failed++;
      if (stopsAtFailure) throw itemFailed(index, items.length, outcome.error);
    }
    run.emit({ type: "map_progressed", payload: { done: outcomes.length - begin - failed, failed } });
    yield [run.breathe(`items${begin}`)];
  }
  return outcomes;
}

function itemComputer(run: MapRuntime, request: MapRequest, node: WorkflowNode) {
  const { graph, run: about } = run.s;
  const given = about.variables && !hasOwnVars(graph) ? { [VARS]: about.variables } : {};
  return (index: number): ItemOutcome => {
    try {
      const state = inputOf(run, request, index);
      const work = new Work();
      const context: Pick<NodeContext, "evaluate"> = {
        evaluate: (expression) =>
          evaluateExpression(expression, { state: { ...given, ...state }, input: state, now: run.now }, work),
      };
      // A pure kind only evaluates, so its flow ends at once.
      const flow = must(getNodeKind(node.node_type), "run")(node.config, context as NodeContext);
      const step = flow.next();
      if (!step.done) throw new Error(`${node.node_type} waits, although it is pure.`);
      const output = Object.fromEntries(
        writtenKeys(node).flatMap((key) =>
          Object.hasOwn(step.value.output, key) ? [[key, step.value.output[key] ?? null]] : [],
        ),
      );
      return { ok: true, value: resultOf(run, request, index, output) };
    } catch (error) {
      return {
        ok: false,
        error: { code: "CONFIG", message: errorMessage(error), retryable: false, user_action: "edit_graph" },
      };
    }
  };
}
