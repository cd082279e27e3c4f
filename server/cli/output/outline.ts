import { present } from "@/server/domain/base/must";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { findNodeKind } from "@/server/domain/nodes";

/** A line of the outline: a node, how deep it lies, and the label of the way that leads to it. */
export interface OutlineRow {
  id: string;
  depth: number;
  label: string | null;
}

/**
 * A graph as an indented list: a branch goes one step in, a join comes back out, and a node stands below everything
 * that leads to it. Ways back into a loop do not indent anything.
 */
export function outlineOf(graph: WorkflowGraph): OutlineRow[] {
  const ids = Object.keys(graph.nodes).filter(
    (id) => findNodeKind(present(graph.nodes[id], "graph.nodes[id]").node_type)?.executes !== false,
  );
  const exits = new Map(
    ids.map((id) => [id, graph.edges.filter(({ source_node_id }) => source_node_id === id)]),
  );
  const back = backEdges(ids, exits, startOf(graph, ids));
  const forward = graph.edges.filter(({ id }) => !back.has(id));
  const rows = new Map<string, OutlineRow>();

  const place = (id: string, depth: number, label: string | null) => {
    if (rows.has(id) || !graph.nodes[id]) return;
    rows.set(id, { id, depth, label });
    const next = forward.filter(({ source_node_id }) => source_node_id === id);
    const targets = new Set(next.map(({ target_node_id }) => target_node_id));
    for (const edge of next) {
      const before = forward.filter(({ target_node_id }) => target_node_id === edge.target_node_id);
      const placed = before.map(({ source_node_id }) => rows.get(source_node_id));
      if (placed.some((row) => !row)) continue;
      const isJoin = new Set(before.map(({ source_node_id }) => source_node_id)).size > 1;
      const shallowest = Math.min(...placed.map((row) => present(row, "row").depth));
      place(
        edge.target_node_id,
        isJoin ? Math.max(0, shallowest - 1) : depth + (targets.size > 1 ? 1 : 0),
        isJoin ? null : (edge.edge_label ?? null),
      );
    }
  };
  for (const id of [startOf(graph, ids), ...ids]) if (id) place(id, 0, null);
  return [...rows.values()];
}

function startOf(graph: WorkflowGraph, ids: string[]): string | undefined {
  return (
    graph.start_node_id ?? ids.find((id) => findNodeKind(graph.nodes[id]?.node_type ?? "")?.begins) ?? ids[0]
  );
}

/** Edges that lead back to a node still being followed. */
function backEdges(
  ids: string[],
  exits: Map<string, WorkflowGraph["edges"]>,
  start: string | undefined,
): Set<string> {
  const back = new Set<string>();
  const open = new Set<string>();
  const done = new Set<string>();
  for (const root of start ? [start, ...ids] : ids) {
    if (done.has(root)) continue;
    // An explicit stack: a chain of a thousand nodes must not overflow the real one.
    const path: { id: string; at: number }[] = [{ id: root, at: 0 }];
    open.add(root);
    while (path.length > 0) {
      const top = present(path.at(-1), "path.at(-1)");
      const edge = exits.get(top.id)?.[top.at++];
      if (!edge) {
        open.delete(top.id);
        done.add(top.id);
        path.pop();
      } else if (open.has(edge.target_node_id)) back.add(edge.id);
      else if (!done.has(edge.target_node_id) && exits.has(edge.target_node_id)) {
        open.add(edge.target_node_id);
        path.push({ id: edge.target_node_id, at: 0 });
      }
    }
  }
  return back;
}
