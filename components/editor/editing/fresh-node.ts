import type { WorkflowEdge, WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind, type NodeBase, type NodeType } from "@/server/domain/nodes";
import { newNode } from "@/server/domain/nodes/new-node";
import type { Place } from "./placing";

export interface NewNode {
  id: string;
  type: NodeType;
  /** Absent: next to the node it is connected to. */
  at?: Place | undefined;
  /** Comes after this node, from this output. */
  after?: { nodeId: string; edge: Pick<WorkflowEdge, "kind" | "edge_label"> } | undefined;
  /** Leads to this node. */
  before?: string | undefined;
  /** Comes in between. */
  onEdge?: string | undefined;
  /** The id of an end node to add after it. */
  end?: string | undefined;
  config?: Record<string, unknown> | undefined;
  base?: Partial<NodeBase> | undefined;
}

/** A node with a name and output keys that no other node has. */
export function freshNode(
  graph: WorkflowGraph,
  { id, type, config, base }: NewNode,
  place: Place,
): WorkflowNode {
  const kind = getNodeKind(type);
  const name = freeName(graph, base?.name ?? kind.newNode?.().name ?? kind.title);
  const keys = base?.output_keys ?? kind.newNode?.().output_keys ?? [];
  const output_keys = keys.map((key) => freeKey(graph, key));
  return newNode(type, { ...base, name, id, config, output_keys, ui: { ...place } });
}

/** A name that no other node has: "End", "End 2". */
function freeName(graph: WorkflowGraph, name: string): string {
  const taken = new Set(Object.values(graph.nodes).map((node) => node.name));
  for (let n = 1; ; n++) {
    const free = n === 1 ? name : `${name} ${n}`;
    if (!taken.has(free)) return free;
  }
}

/** The key, or one with a number after it, that no node writes yet. */
function freeKey(graph: WorkflowGraph, key: string): string {
  const taken = new Set(Object.values(graph.nodes).flatMap((node) => node.output_keys));
  for (let n = 1; ; n++) {
    const free = n === 1 ? key : `${key}_${n}`;
    if (!taken.has(free)) return free;
  }
}
