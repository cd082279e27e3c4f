import { defined } from "@/server/domain/base/defined";
import { recordOf } from "@/server/domain/base/guards";
import { NodeGroup, WorkflowEdge, WorkflowNode } from "@/server/domain/graph/graph";
import { FRAGMENT_FORMAT, type Fragment, parseJson } from "./fragment";

/** Reads a copied text. Null: this is none of ours. */
export function readFragment(text: string): Fragment | null {
  const value = parseJson(text);
  if (value === null || typeof value !== "object" || recordOf(value).format !== FRAGMENT_FORMAT) return null;
  const { nodes, edges, groups } = recordOf(value);
  const known: Record<string, WorkflowNode> = {};
  const copied = Object.values(nodes && typeof nodes === "object" ? nodes : {});
  for (const entry of copied) {
    const node = WorkflowNode.safeParse(entry);
    if (node.success) known[node.data.id] = node.data;
  }
  const leftOut = copied.length - Object.keys(known).length;
  const framed = (Array.isArray(groups) ? groups : []).flatMap((entry) => {
    const group = NodeGroup.safeParse(entry);
    const isInside = group.success && group.data.node_ids.every((id) => Object.hasOwn(known, id));
    return isInside ? [group.data] : [];
  });
  return {
    ...defined({
      groups: framed.length > 0 ? framed : undefined,
      leftOut: leftOut > 0 ? leftOut : undefined,
    }),
    nodes: known,
    edges: (Array.isArray(edges) ? edges : []).flatMap((entry) => {
      const edge = WorkflowEdge.safeParse(entry);
      const isInside =
        edge.success &&
        Object.hasOwn(known, edge.data.source_node_id) &&
        Object.hasOwn(known, edge.data.target_node_id);
      return isInside ? [edge.data] : [];
    }),
  };
}
