import { neighbour } from "@/components/canvas/navigation";
import { edits } from "@/components/editor/editing/edits";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { CommandContext } from "./command-context";

/** Taking away what is picked. The keyboard goes on to a neighbour. */
export function deleteCommands({ store, announce, graph, nameOf, pickedNodes, focus }: CommandContext) {
  function remove() {
    const { selection } = store.getState();
    const nodes = [...selection.nodes];
    const edges = [...selection.edges];
    if (nodes.length + edges.length === 0) return;
    const next = nodes[0] === undefined ? null : neighbourOf(graph(), nodes);
    const deletedName =
      nodes.length === 1 && nodes[0] ? nameOf(nodes[0]) : `${nodes.length + edges.length} things`;
    store.getState().edit(edits.remove, { nodes, edges }, { select: { nodes: next ? [next] : [] } });
    announce(`Deleted ${nodes.length === 0 && edges.length === 1 ? "the connection" : deletedName}`);
    if (next) focus(next);
  }

  function removeAndReconnect() {
    const nodes = pickedNodes();
    if (nodes.length === 0) return;
    const next = neighbourOf(graph(), nodes);
    store.getState().edit(edits.removeAndReconnect, { nodes }, { select: { nodes: next ? [next] : [] } });
    announce("Deleted and reconnected");
    if (next) focus(next);
  }

  return { remove, removeAndReconnect };
}

/** Where the keyboard goes when these nodes are gone: to what came before them. */
function neighbourOf(graph: WorkflowGraph, ids: readonly string[]): string | null {
  const gone = new Set(ids);
  const [first] = ids;
  if (first === undefined) return null;
  const before = graph.edges.find(
    ({ source_node_id, target_node_id }) => target_node_id === first && !gone.has(source_node_id),
  );
  if (before) return before.source_node_id;
  const next = neighbour(graph, first, "right");
  return next && !gone.has(next) ? next : null;
}
