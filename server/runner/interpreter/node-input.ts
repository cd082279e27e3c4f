import type { RunError } from "@/server/domain/agent/outcome";
import { errorMessage } from "@/server/domain/base/guards";
import { cutText, sizeOf } from "@/server/domain/base/sizes";
import type { JsonObject } from "@/server/domain/base/values";
import { Work } from "@/server/domain/base/work-budget";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { isStartNode } from "@/server/domain/graph/run-input";
import type { RunState } from "@/server/domain/run";
import { writtenAs } from "@/server/domain/run/fork/lineage";
import { evaluateExpression } from "@/server/domain/text/expression/expression";
import { tooLarge } from "./steps";

/** What a node reads, unless it is more than the state may be: a mapping can say the same thing many times. */
export function readInput(
  s: RunState,
  node: WorkflowNode,
  now: number,
): { input: JsonObject; error?: RunError } {
  const read = pickInput(s, node, now);
  const size = sizeOf(read.input);
  const most = s.run.config.max_state_chars;
  if (size <= most) return read;
  return { input: {}, error: tooLarge(`The input of ${node.name || node.id}`, size, most).toRunError() };
}

/** Its mapping, or its keys picked from the state. */
function pickInput(s: RunState, node: WorkflowNode, now: number): { input: JsonObject; error?: RunError } {
  if (node.input_mapping) {
    const scope = { state: s.state, nodes: s.outputs, input: s.input, run: { id: writtenAs(s.run) }, now };
    const work = new Work();
    try {
      return {
        input: Object.fromEntries(
          Object.entries(node.input_mapping).map(([name, expression]) => [
            name,
            evaluateExpression(expression, scope, work),
          ]),
        ),
      };
    } catch (error) {
      return {
        input: {},
        error: {
          code: "INPUT_MISSING",
          message: `The inputs of ${node.name || node.id} can't be evaluated: ${cutText(errorMessage(error))}`,
          retryable: false,
          user_action: "edit_graph",
        },
      };
    }
  }
  const input: JsonObject = {};
  const missing: string[] = [];
  for (const key of node.input_keys) {
    const value = s.state[key];
    if (value === undefined) missing.push(key);
    else input[key] = value;
  }
  for (const key of node.optional_input_keys) {
    const value = s.state[key];
    if (value !== undefined) input[key] = value;
  }
  if (missing.length === 0 || isStartNode(node)) return { input };
  return {
    input,
    error: {
      code: "INPUT_MISSING",
      message: missingText(s, node, missing),
      retryable: false,
      user_action: "edit_graph",
    },
  };
}

function missingText(s: RunState, node: WorkflowNode, missing: readonly string[]): string {
  const producers = Object.values(s.graph.nodes).filter(
    (other) => other.id !== node.id && other.output_keys.some((key) => missing.includes(key)),
  );
  const skippedOnes = producers
    .filter((other) => s.nodes[other.id]?.status === "skipped")
    .map((other) => other.name || other.id);
  const who =
    skippedOnes.length > 0
      ? ` ${skippedOnes.join(", ")} would have written ${missing.length === 1 ? "it" : "them"}, but ${skippedOnes.length === 1 ? "was" : "were"} skipped.`
      : "";
  return `${node.name || node.id} needs ${missing.map((key) => `"${key}"`).join(", ")}, which no node has written.${who}`;
}
