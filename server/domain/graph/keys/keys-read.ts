import { getNodeKind, type WorkflowNode } from "@/server/domain/nodes";
import { expressionReads } from "@/server/domain/text/expression/expression";
import { templateReads } from "@/server/domain/text/template/template";
import { ruleOf } from "../rule-of-node";

/**
 * The state keys that a node reads: those it declares and those that its templates, expressions, mappings and rule name.
 * `required`: it fails without them.
 */
export function keysRead(node: WorkflowNode): { required: string[]; optional: string[] } {
  const kind = getNodeKind(node.node_type);
  const mapped = node.input_mapping;
  const reads: { key: string; optional: boolean }[] = [];
  const add = (keys: readonly string[], optional = false) => {
    for (const key of keys) reads.push({ key, optional });
  };
  const addExpression = (text = "") => {
    const found = expressionReads(text).filter(({ variable }) => variable === "state");
    // `has(state.a) ? state.a : 0` does without it.
    const asked = new Set(found.flatMap(({ key, optional }) => (optional ? key : [])));
    for (const { key } of found) add([key], asked.has(key));
  };
  if (mapped) for (const text of Object.values(mapped)) addExpression(text);
  else {
    add(node.input_keys);
    add(node.optional_input_keys, true);
  }
  for (const { template } of kind.templates?.(node.config) ?? [])
    for (const { key, optional } of templateReads(template))
      if (!(mapped && Object.hasOwn(mapped, key))) add([key], optional);
  for (const { expression } of kind.expressions?.(node.config) ?? []) addExpression(expression);
  add(ruleOf(node, kind)?.reads ?? []);
  addExpression(node.when);
  for (const text of Object.values(node.output_mapping ?? {})) addExpression(text);
  const required = new Set(reads.flatMap(({ key, optional }) => (optional ? [] : [key])));
  const optional = new Set(reads.flatMap(({ key }) => (required.has(key) ? [] : [key])));
  return { required: [...required], optional: [...optional] };
}
