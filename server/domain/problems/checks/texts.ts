import { MAX_EXPRESSION_CHARS } from "@/server/domain/base/work-budget";
import { checkExpression } from "@/server/domain/text/expression";
import { checkTemplate } from "@/server/domain/text/template";
import type { NodeCheck } from "../check";
import { formatCount, nameOf } from "../names";
import { charsOf } from "../reading";

/** Expressions and templates that cannot be read. */
export function checkTexts({ report, at, node, kind, edges, isRead }: NodeCheck): void {
  if (!isRead) return;
  const own = kind.expressions?.(node.config) ?? [];
  const mapped = [node.input_mapping, node.output_mapping].map((mapping) => Object.values(mapping ?? {}));
  // What is evaluated at once shares one budget: the node's own, each mapping, and the conditions of the ways on.
  const edgeConditions = edges.flatMap(({ condition }) => (condition === undefined ? [] : [condition]));
  const long = [own.map(({ expression }) => expression), ...mapped, edgeConditions].find(
    (texts) => charsOf(texts) > MAX_EXPRESSION_CHARS,
  );
  if (long) {
    report.error(
      "E_NODE_TOO_LARGE",
      at,
      `The ${long.length} ${long === edgeConditions ? "conditions of the ways on from" : "expressions of"} ${nameOf(node)} have ${formatCount(charsOf(long))} characters together; one step can evaluate at most ${formatCount(MAX_EXPRESSION_CHARS)}. Spread them over several nodes.`,
    );
    return;
  }
  for (const { field, expression, result } of own)
    report.texts("E_BAD_EXPRESSION", at, field, checkExpression(expression, { result: result ?? "any" }));
  for (const { field, template } of kind.templates?.(node.config) ?? [])
    report.texts("E_BAD_TEMPLATE", at, field, checkTemplate(template));
  if (node.when !== undefined)
    report.texts("E_BAD_EXPRESSION", at, "when", checkExpression(node.when, { result: "bool" }));
  for (const [key, expression] of Object.entries(node.input_mapping ?? {}))
    report.texts("E_BAD_EXPRESSION", at, `input_mapping.${key}`, checkExpression(expression));
  for (const [key, expression] of Object.entries(node.output_mapping ?? {}))
    report.texts("E_BAD_EXPRESSION", at, `output_mapping.${key}`, checkExpression(expression));
}
