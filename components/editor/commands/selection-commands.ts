import { type Direction, neighbour } from "@/components/canvas/navigation";
import { countOf } from "@/components/display/format";
import { edits } from "@/components/editor/editing/edits";
import type { WorkflowEdge, WorkflowGraph } from "@/server/domain/graph/graph";
import type { CommandContext } from "./command-context";

/** Selecting by keyboard: all, one more, and along the connections of a node. */
export function selectionCommands({
  store,
  view,
  announce,
  graph,
  nameOf,
  pickedNodes,
  pickedEdges,
  focus,
}: CommandContext) {
  function selectAll() {
    const all = graph();
    store.getState().select({ nodes: Object.keys(all.nodes), edges: all.edges.map(({ id }) => id) });
    const count = Object.keys(all.nodes).length;
    announce(`${countOf(count, "node")} selected`);
  }

  /** Takes a node into the selection, or out of it. */
  function toggle(id: string) {
    const { selection } = store.getState();
    const nodes = new Set(selection.nodes);
    if (!nodes.delete(id)) nodes.add(id);
    store.getState().select({ nodes, edges: selection.edges });
    announce(`${nameOf(id)} ${nodes.has(id) ? "selected" : "deselected"}, ${nodes.size} in total`);
  }

  /** Selects and announces the next edge of the selected node, or of the source of the selected edge. */
  function walkEdges(step: 1 | -1) {
    const [node] = pickedNodes();
    const [picked] = pickedEdges();
    const all = graph().edges;
    const current = all.find(({ id }) => id === picked);
    const from = node ?? current?.source_node_id;
    const near = [
      ...all.filter(({ source_node_id }) => source_node_id === from),
      ...all.filter(
        ({ source_node_id, target_node_id }) => target_node_id === from && source_node_id !== from,
      ),
    ];
    const list = from === undefined ? all : near;
    if (list.length === 0) return announce("No connection here");
    const at = list.findIndex(({ id }) => id === picked);
    const next = list[at < 0 ? (step === 1 ? 0 : list.length - 1) : (at + step + list.length) % list.length];
    if (!next) return;
    store.getState().select({ edges: [next.id] });
    view.reveal([next.source_node_id, next.target_node_id]);
    view.focusDrawing();
    announce(
      `${describeEdge(next)}. ${list.indexOf(next) + 1} of ${list.length}. Press Enter to open it, Delete to delete it, or an arrow key to go to its source or target.`,
    );
  }

  /** Connection from Review to End, route “approved”. */
  function describeEdge({ source_node_id, target_node_id, edge_label, kind }: WorkflowEdge): string {
    const way = edge_label ? `, route “${edge_label}”` : kind === "error" ? ", on error" : "";
    return `Connection from ${nameOf(source_node_id)} to ${nameOf(target_node_id)}${way}`;
  }

  /** Goes from the selected edge to its source or target. True: there was an edge. */
  function leaveEdge(way: Direction): boolean {
    const [picked, ...others] = pickedEdges();
    const edge = graph().edges.find(({ id }) => id === picked);
    if (!edge || others.length > 0 || pickedNodes().length > 0) return false;
    const to = way === "left" || way === "up" ? edge.source_node_id : edge.target_node_id;
    store.getState().select({ nodes: [to] });
    focus(to);
    return true;
  }

  return { selectAll, toggle, walkEdges, leaveEdge };
}

/** Deletes the selection and focuses a neighbor. */
export function deleteCommands({ store, announce, graph, nameOf, pickedNodes, focus }: CommandContext) {
  function remove() {
    const { selection } = store.getState();
    const nodes = [...selection.nodes];
    const edges = [...selection.edges];
    if (nodes.length + edges.length === 0) return;
    const next = nodes[0] === undefined ? null : neighbourOf(graph(), nodes);
    const deletedName =
      nodes.length === 1 && nodes[0] ? nameOf(nodes[0]) : `${nodes.length + edges.length} items`;
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

/** The node to focus after deleting these: the one before them. */
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
