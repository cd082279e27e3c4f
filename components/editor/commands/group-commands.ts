import { countOf } from "@/components/display/format";
import { edits } from "@/components/editor/editing/edits";
import { freshId } from "@/server/domain/base/ids";
import type { NodeGroup } from "@/server/domain/graph/graph";
import type { CommandContext } from "./command-context";

/** Frames around nodes that belong together, which collapse to one card. */
export function groupCommands({ store, ui, announce, graph, pickedNodes, focus }: CommandContext) {
  const groupOf = (id: string): NodeGroup | undefined => graph().groups?.find((one) => one.id === id);

  /** The group of the first selected node; null if it has none. */
  function pickedGroup(): NodeGroup | null {
    const [id] = pickedNodes();
    return graph().groups?.find(({ node_ids }) => id !== undefined && node_ids.includes(id)) ?? null;
  }

  /** Groups the selected nodes, and asks for a name. */
  function group() {
    const nodes = pickedNodes();
    if (nodes.length === 0) return announce("Select nodes to group");
    const taken = new Set([...Object.keys(graph().nodes), ...(graph().groups ?? []).map(({ id }) => id)]);
    const id = freshId("group", taken);
    store.getState().edit(edits.group, { id, nodes });
    ui.setState({ naming: id });
    announce(`Grouped ${nodes.length} ${nodes.length === 1 ? "node" : "nodes"}. Enter a group name.`);
  }

  function ungroup() {
    const found = pickedGroup();
    if (!found) return announce("Select a node in a group");
    store.getState().edit(edits.ungroup, { id: found.id });
    announce(`Ungrouped ${found.name || "the nodes"}`);
  }

  /** Collapses or expands a group. `id` absent: the group of the selection. */
  function foldGroup(id?: string) {
    const found = id === undefined ? pickedGroup() : groupOf(id);
    if (!found) return announce("Select a node in a group");
    const is_collapsed = !found.is_collapsed;
    store
      .getState()
      .edit(
        { ...edits.setGroup, label: is_collapsed ? "Collapse group" : "Expand group" },
        { id: found.id, patch: { is_collapsed } },
        { select: { nodes: is_collapsed ? [] : found.node_ids } },
      );
    const count = found.node_ids.length;
    announce(
      `${found.name || "Group"}: ${is_collapsed ? `collapsed, ${countOf(count, "node")}` : "expanded"}`,
    );
    if (is_collapsed) focus(found.id);
    else if (found.node_ids[0]) focus(found.node_ids[0]);
  }

  return { pickedGroup, isGroup: (id: string) => groupOf(id) !== undefined, group, ungroup, foldGroup };
}
