import { must } from "@/server/domain/base/must";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { keysAvailableAt } from "@/server/domain/graph/keys/data-flow";
import { stateProperties } from "@/server/domain/graph/keys/state-properties";
import { inputFields } from "@/server/domain/graph/run-input";
import { getNodeKind, type WorkflowNode, writtenKeys } from "@/server/domain/nodes";
import { templateReads } from "@/server/domain/text/template/template";
import type { Check } from "../check";
import { named, nameOf } from "../names";

/** Keys that are needed after a loop and that only nodes of the loop write: the loop may never have run. */
export function checkLoopKeys({ graph, analysis, report, reading }: Check): void {
  if (analysis.start === null || analysis.loops.size === 0) return;
  const given = keysAtStart(graph);
  const writers = writersByKey(graph, analysis.order);
  for (const id of analysis.order) {
    const node = must(graph.nodes, id);
    // An end hands out what there is.
    if (getNodeKind(node.node_type).ends || node.input_mapping) continue;
    const around = new Set(analysis.around(id));
    const isInOtherLoop = (writer: string) => analysis.around(writer).some((loop) => !around.has(loop));
    for (const key of neededKeys(node, reading.ofNode(id))) {
      const from = writers.get(key) ?? [];
      if (given.has(key) || from.length === 0 || !from.every(isInOtherLoop)) continue;
      const here = keysAvailableAt(graph, id, analysis).find((one) => one.key === key);
      if (!here || here.certain) continue;
      const who = from.length === 1 ? named(graph, must(from, 0)) : "nodes in a loop";
      report.warning(
        "W_INPUT_ONLY_IN_LOOP",
        { kind: "node", id, field: "input_keys" },
        `${nameOf(node)} needs "${key}", which only ${who} ${from.length === 1 ? "writes, in a loop" : "write"}. If a run skips the loop, the node fails with INPUT_MISSING. Make the input optional, or set it before the loop.`,
        {
          kind: "set_node",
          node_id: id,
          set: {
            input_keys: node.input_keys.filter((other) => other !== key),
            optional_input_keys: [...node.optional_input_keys, key],
          },
          label: `Make "${key}" optional`,
        },
      );
    }
  }
}

function keysAtStart(graph: WorkflowGraph): Set<string> {
  const withDefault = Object.entries(stateProperties(graph)).filter(
    ([, schema]) => schema.default !== undefined,
  );
  return new Set([...inputFields(graph).map(({ key }) => key), ...withDefault.map(([key]) => key)]);
}

function writersByKey(graph: WorkflowGraph, order: readonly string[]): Map<string, string[]> {
  const writers = new Map<string, string[]>();
  for (const id of order)
    for (const key of writtenKeys(must(graph.nodes, id))) writers.set(key, [...(writers.get(key) ?? []), id]);
  return writers;
}

/** The keys without which a node fails. `isRead`: whether its templates are read. */
function neededKeys(node: WorkflowNode, isRead: boolean): string[] {
  const templates = isRead ? (getNodeKind(node.node_type).templates?.(node.config) ?? []) : [];
  const mentioned = templates
    .flatMap(({ template }) => templateReads(template))
    .flatMap(({ key, optional }) => (optional ? [] : [key]));
  return [...new Set([...node.input_keys, ...mentioned])].filter(
    (key) => !node.optional_input_keys.includes(key),
  );
}
