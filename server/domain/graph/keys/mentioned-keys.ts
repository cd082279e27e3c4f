import { toId } from "@/server/domain/base/ids";
import { StateKey } from "@/server/domain/base/values";
import { getNodeKind, type WorkflowNode } from "@/server/domain/nodes";
import { templateReads } from "@/server/domain/text/template/template";
import type { WorkflowGraph } from "../graph";

/** The keys that a node's texts name in double braces; `optional`: those that may be missing. */
export function mentionedKeys(node: WorkflowNode): { required: string[]; optional: string[] } {
  const kind = getNodeKind(node.node_type);
  const reads = (kind.templates?.(node.config) ?? []).flatMap(({ template }) =>
    typeof template === "string" ? templateReads(template) : [],
  );
  const required = new Set(reads.flatMap(({ key, optional }) => (optional ? [] : [key])));
  const optional = new Set(reads.flatMap(({ key }) => (required.has(key) ? [] : [key])));
  return { required: [...required], optional: [...optional] };
}

/**
 * The node after an edit, with its inputs following its texts: newly mentioned keys are added, keys no longer mentioned
 * are removed. Keys that were added or removed by hand stay so while the texts mention them.
 */
export function withMentioned(before: WorkflowNode, after: WorkflowNode): WorkflowNode {
  // Where names inside the node are mapped, its inputs are not keys of the state.
  if (after.input_mapping) return after;
  const was = mentionedKeys(before);
  const is = mentionedKeys(after);
  const required = followed(after.input_keys, was.required, is.required);
  const optional = followed(after.optional_input_keys, was.optional, is.optional);
  const input_keys = required.filter((key) => after.input_keys.includes(key) || !optional.includes(key));
  return {
    ...after,
    input_keys,
    optional_input_keys: optional.filter((key) => !input_keys.includes(key)),
  };
}

function followed(keys: readonly string[], was: readonly string[], is: readonly string[]): string[] {
  const gone = new Set(was.filter((key) => !is.includes(key)));
  const come = is.filter((key) => !was.includes(key) && StateKey.safeParse(key).success);
  return [...new Set([...keys.filter((key) => !gone.has(key)), ...come])];
}

const MAX_PROPOSALS = 3;

/** Proposed names for a node's outputs: keys that others read and nothing writes, then one made from its name. */
export function proposedKeys(graph: WorkflowGraph, node: WorkflowNode): string[] {
  const all = Object.values(graph.nodes);
  const written = new Set(all.flatMap(({ output_keys }) => output_keys));
  const wanted = all.flatMap((other) =>
    other.id === node.id ? [] : [...other.input_keys, ...mentionedKeys(other).required],
  );
  const own = toId(node.name || getNodeKind(node.node_type).title).toLowerCase();
  const names = [...wanted, own].filter((key) => !written.has(key) && StateKey.safeParse(key).success);
  return [...new Set(names)].slice(0, MAX_PROPOSALS);
}
