import { RunConfig } from "@/server/domain/agent/outcome";
import { analyse } from "@/server/domain/graph/analysis";
import { bodyNodes } from "@/server/domain/graph/bodies";
import { brokenBelow, type CallableWorkflow, callPath, outputsOf } from "@/server/domain/graph/callable";
import { bodyError, graphOfBody } from "@/server/domain/graph/called";
import { inputFields } from "@/server/domain/graph/run-input";
import { bodyIdOf, calledBy, getNodeKind, settingsOf, type WorkflowNode } from "@/server/domain/nodes";
import { expressionReads } from "@/server/domain/text/expression/expression";
import type { Check, Report } from "../check";
import { nameOf, quoted } from "../names";
import { nearest } from "../nearest";
import { checkCycles } from "./cycles";
import { checkLoopKeys } from "./loop-keys";
import { checkParallelWrites } from "./workflow";

/** Nodes that run other workflows or parts of this one. */
export function checkCalls(check: Check): void {
  const { graph, report } = check;
  for (const node of Object.values(graph.nodes)) {
    const workflow = calledBy(node);
    const body = bodyIdOf(node);
    if (workflow !== undefined && body === undefined) checkCalled(check, node, workflow);
    if (workflow !== undefined || body === undefined) continue;
    const error = bodyError(graph, node.id, body);
    const field = fieldOf(node, "body");
    if (error !== null)
      report.error(
        "E_MAP_BODY",
        { kind: "node", id: node.id, field },
        `${error} Choose another node or group.`,
      );
    else checkBody(check, node, body);
  }
}

const fieldOf = (node: WorkflowNode, variant: "body" | "workflow"): string =>
  getNodeKind(node.node_type).fields.find(({ as }) => as === variant)?.key ?? "";

/** The workflow that a node runs: whether it exists, which others it runs, its inputs and its outputs. */
function checkCalled({ graph, report, here: { workflows } }: Check, node: WorkflowNode, id: string): void {
  if (!workflows) return;
  const at = { kind: "node" as const, id: node.id, field: fieldOf(node, "workflow") };
  const called = workflows.find(id);
  if (!called)
    return report.error(
      "E_UNKNOWN_WORKFLOW",
      at,
      `${nameOf(node)} runs the workflow "${id}", which isn't here. Choose another one, or restore it from the trash. If this workflow was imported, import that one too, then choose it.`,
    );
  const name = (workflows.self !== undefined && workflows.find(workflows.self)?.name) || "This workflow";
  const path = callPath(workflows, name, id);
  if (path.isCycle)
    return report.error(
      "E_WORKFLOW_CYCLE",
      at,
      `${nameOf(node)} would never end, because these workflows run each other: ${path.names.join(" → ")}. Choose another workflow.`,
    );
  const most = graph.config?.max_subrun_depth ?? RunConfig.shape.max_subrun_depth.parse(undefined);
  // A node that is repeated runs one level further down.
  const levels = path.names.length - 1 + (bodyNodes(graph).has(node.id) ? 1 : 0);
  if (levels > most)
    report.error(
      "E_WORKFLOW_DEPTH",
      at,
      `${nameOf(node)} runs workflows ${levels} levels deep (${path.names.join(" → ")}); the maximum is ${most}. Merge some of them, or raise the limit in this workflow's settings.`,
    );
  const broken = brokenBelow(workflows, id);
  if (broken) {
    const problems =
      broken.errors === 1
        ? "a problem. Open that workflow and fix it."
        : `${broken.errors} problems. Open that workflow and fix them.`;
    report.error("E_WORKFLOW_PROBLEMS", at, `"${broken.workflow.name}" has ${problems}`);
  }
  checkInputs(report, node, called);
  checkOutputs(report, node, called);
}

/** A part of this workflow that a node repeats, as the workflow that it is then. */
function checkBody(check: Check, node: WorkflowNode, body: string): void {
  const graph = graphOfBody(check.graph, body);
  if (!graph) return;
  const part = check.graph.groups?.find(({ id }) => id === body) ?? check.graph.nodes[body];
  const called = { name: part?.name || body, inputs: inputFields(graph), outputs: outputsOf(graph) };
  checkInputs(check.report, node, called);
  checkOutputs(check.report, node, called);
  const inner = { ...check, graph, analysis: analyse(graph) };
  for (const checkFlow of [checkCycles, checkLoopKeys, checkParallelWrites]) checkFlow(inner);
}

type Called = Pick<CallableWorkflow, "name" | "inputs" | "outputs">;

function checkInputs(report: Report, node: WorkflowNode, { name, inputs }: Called): void {
  const given = Object.keys(settingsOf(node).input ?? {});
  const at = { kind: "node" as const, id: node.id, field: "input" };
  const missing = inputs.filter(({ key, required }) => required && !given.includes(key));
  const [first] = missing;
  const isRepeated = getNodeKind(node.node_type).body !== undefined;
  const value = isRepeated ? "item" : `state.${first?.key}`;
  if (first)
    report.error(
      "E_WORKFLOW_INPUT",
      at,
      `"${name}" needs ${quoted(missing.map(({ key }) => key))}. Add ${missing.length === 1 ? "it" : "them"} to the inputs of ${nameOf(node)}.`,
      missing.length === 1 || !isRepeated
        ? {
            kind: "set_config",
            node_id: node.id,
            path: ["input", first.key],
            value,
            label: `Set ${first.key} to ${value}`,
          }
        : undefined,
    );
  const known = inputs.map(({ key }) => key);
  for (const key of given) {
    if (known.includes(key)) continue;
    const near = nearest(key, known);
    report.warning(
      "W_WORKFLOW_INPUT",
      { ...at, field: `input.${key}` },
      `"${name}" has no input "${key}". ${near === null ? "Remove it." : `Did you mean "${near}"?`}`,
    );
  }
}

/** What a node takes of a result that doesn't have it. */
function checkOutputs(report: Report, node: WorkflowNode, { name, outputs }: Called): void {
  const { output } = settingsOf(node);
  const { body } = getNodeKind(node.node_type);
  const absent = (key: string, field: string, isFatal: boolean) => {
    const near = nearest(key, outputs);
    if (outputs.includes(key) || (near === null && !isFatal)) return;
    report.warning(
      "W_WORKFLOW_OUTPUT",
      { kind: "node", id: node.id, field },
      `"${name}" doesn't return "${key}". ${near === null ? "Remove it, or return it there." : `Did you mean "${near}"?`}`,
    );
  };
  if (typeof output === "string")
    for (const { variable, key, optional } of expressionReads(output))
      if (variable === "output" && !optional) absent(key, "output", true);
  // Those of a node with a list of items are its own. A single key of another name takes the whole result.
  if (!body) for (const key of node.output_keys) absent(key, "output_keys", node.output_keys.length > 1);
}
