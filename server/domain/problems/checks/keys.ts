import { must } from "@/server/domain/base/must";
import { type KeySet, possibleKeys } from "@/server/domain/graph/keys/data-flow";
import { ruleOf } from "@/server/domain/graph/rule-of-node";
import { getNodeKind, givenKeys, writtenKeys } from "@/server/domain/nodes";
import { expressionReads } from "@/server/domain/text/expression/expression";
import { templateReads } from "@/server/domain/text/template/template";
import type { Check, NodeCheck } from "../check";
import { nameOf } from "../names";
import { nearest } from "../nearest";

/** Looking for what a misspelt key may mean is slow where hundreds are wrong, and the first few show the pattern. */
const MAX_HINTS = 20;

/** Keys that are read where no way to them writes them. */
export function checkKeys({ graph, analysis, report, reading }: Check): void {
  if (analysis.start === null) return;
  const possible = possibleKeys(graph, analysis);
  let hints = MAX_HINTS;
  const startId = analysis.start;
  for (const id of analysis.order) {
    const node = must(graph.nodes, id);
    const kind = getNodeKind(node.node_type);
    const here: KeySet | undefined = possible.get(id);
    // Written by the engine itself, after failures and at limits.
    const exists = (key: string) => here?.has(key) || key === "_error" || key === "_loop_limit";
    const at = { kind: "node" as const, id };
    const reported = new Set<string>();
    const missing = (key: string, field: string, range: { from?: number; to?: number } = {}) => {
      if (reported.has(key)) return;
      reported.add(key);
      const near = hints-- > 0 ? nearest(key, here?.list() ?? []) : null;
      const hint =
        near === null
          ? "Let a node before it write it, or ask for it at the start."
          : `Did you mean "${near}"?`;
      const isListed = field === "input_keys" && near !== null && !node.input_keys.includes(near);
      report.warning(
        "W_INPUT_KEY_NOT_PRODUCED",
        { ...at, field, ...range },
        `${nameOf(node)} reads "${key}", which nothing before it writes. ${hint}`,
        isListed && near !== null
          ? {
              kind: "set_node",
              node_id: id,
              set: { input_keys: node.input_keys.map((other) => (other === key ? near : other)) },
              label: `Read "${near}"`,
            }
          : undefined,
      );
    };
    if (id !== startId && !node.input_mapping)
      for (const key of node.input_keys) if (!exists(key)) missing(key, "input_keys");

    const inputs = node.input_mapping
      ? Object.keys(node.input_mapping)
      : [...node.input_keys, ...node.optional_input_keys];
    const readExpression = (
      text: string,
      field: string,
      withInputs: boolean,
      extra: ReadonlySet<string> = new Set(),
    ) => {
      for (const { variable, key, optional, from, to } of isRead ? expressionReads(text) : []) {
        if (optional) continue;
        if (variable === "state" && !exists(key) && !extra.has(key)) missing(key, field, { from, to });
        if (variable === "input" && withInputs && !inputs.includes(key))
          report.warning(
            "W_INPUT_KEY_NOT_PRODUCED",
            { ...at, field, from, to },
            `"${key}" is not among the inputs of ${nameOf(node)}. Add it to its input keys, or read state.${key}.`,
          );
      }
    };
    const isRead = reading.ofNode(id);
    for (const { field, template } of isRead ? (kind.templates?.(node.config) ?? []) : [])
      for (const { key, optional, from, to } of templateReads(template))
        if (!optional && !inputs.includes(key) && !exists(key)) missing(key, field, { from, to });
    for (const { field, expression } of kind.expressions?.(node.config) ?? [])
      readExpression(expression, field, true);
    const rule = ruleOf(node, kind);
    for (const key of rule?.reads ?? []) if (!exists(key)) missing(key, "input_keys");
    if (node.when !== undefined) readExpression(node.when, "when", false);
    for (const [key, text] of Object.entries(node.input_mapping ?? {}))
      readExpression(text, `input_mapping.${key}`, false);
    const after = new Set(writtenKeys(node));
    for (const [key, text] of Object.entries(node.output_mapping ?? {})) {
      readExpression(text, `output_mapping.${key}`, false, after);
      if (isRead) checkResult({ report, node, kind, at }, key, text);
    }
    for (const edge of analysis.outgoing.get(id) ?? []) {
      const place = { kind: "edge" as const, id: edge.id };
      const absent = (key: string, field: string, range: { from?: number; to?: number } = {}) =>
        report.warning(
          "W_INPUT_KEY_NOT_PRODUCED",
          { ...place, field, ...range },
          `This edge reads "${key}", which nothing before it writes, so it is never taken.`,
        );
      if (edge.condition_name && !exists(edge.condition_name) && !after.has(edge.condition_name))
        absent(edge.condition_name, "condition_name");
      if (edge.condition !== undefined && reading.ofEdge(edge.id))
        for (const { variable, key, optional, from, to } of expressionReads(edge.condition))
          if (variable === "state" && !optional && !exists(key) && !after.has(key))
            absent(key, "condition", { from, to });
    }
  }
}

/** What an output mapping takes from a result must be in the result: at run time it would end the node. */
function checkResult(
  { report, node, kind, at }: Pick<NodeCheck, "report" | "node" | "kind" | "at">,
  mapped: string,
  expression: string,
): void {
  if (kind.ends) return;
  const given = givenKeys(node);
  const place = { ...at, field: `output_mapping.${mapped}` };
  for (const { variable, key, optional, from, to } of expressionReads(expression)) {
    if (variable !== "output" || optional || given.includes(key)) continue;
    const near = nearest(key, [...given]);
    report.error(
      "E_OUTPUT_KEY_NOT_GIVEN",
      { ...place, from, to },
      `${nameOf(node)} gives no "${key}". ${near === null ? `Add "${key}" to its output keys.` : `Did you mean output.${near}?`}`,
    );
  }
}
