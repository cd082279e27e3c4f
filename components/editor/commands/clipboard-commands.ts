import { edits } from "@/components/editor/editing/edits";
import {
  cornerOf,
  type Fragment,
  fragmentOf,
  freshIds,
  isFragmentText,
  writeFragment,
} from "@/components/editor/editing/fragment";
import { centredAt, type Place, snap } from "@/components/editor/editing/placing";
import { toast } from "@/components/ui/toasts";
import type { CommandContext } from "./command-context";

/** Copy, paste and duplicate. */
export function clipboardCommands({ store, ui, view, announce, graph, pickedNodes, focus }: CommandContext) {
  /** The pointer over the canvas, in client coordinates: pasted nodes go there. */
  let pointer: Place | null = null;

  function insert(fragment: Fragment, at: Place, how: "insert" | "duplicate" = "insert") {
    const ids = freshIds(graph(), fragment);
    const select = { nodes: Object.values(ids) };
    store.getState().edit(edits[how], { fragment, at, ids }, { select });
    const count = select.nodes.length;
    announce(`${how === "insert" ? "Pasted" : "Duplicated"} ${count} ${count === 1 ? "node" : "nodes"}`);
    view.reveal(select.nodes);
    if (select.nodes[0]) focus(select.nodes[0]);
  }

  function duplicate() {
    const fragment = fragmentOf(graph(), pickedNodes());
    if (Object.keys(fragment.nodes).length === 0) return;
    const { x, y } = cornerOf(fragment);
    insert(fragment, { x: x + 32, y: y + 48 }, "duplicate");
  }

  function copy(data: DataTransfer): boolean {
    const fragment = fragmentOf(graph(), pickedNodes());
    const count = Object.keys(fragment.nodes).length;
    if (count === 0) return false;
    data.setData("text/plain", writeFragment(fragment));
    announce(`Copied ${count} ${count === 1 ? "node" : "nodes"}`);
    return true;
  }

  /**
   * Adds what was copied at the pointer; a whole workflow asks first what to do with it. False: the text is neither.
   */
  function paste(text: string): boolean {
    const at = pointer ? view.toFlow(pointer) : centredAt(view.middle());
    if (isFragmentText(text)) {
      void insertCopied(text, { x: snap(at.x), y: snap(at.y) });
      return true;
    }
    if (!looksLikeWorkflow(text)) return false;
    ui.setState({ incoming: { text, at } });
    return true;
  }

  async function insertCopied(text: string, at: Place) {
    const { readFragment } = await import("@/components/editor/editing/read-fragment");
    const fragment = readFragment(text);
    if (!fragment) return;
    const { leftOut = 0 } = fragment;
    if (leftOut > 0)
      toast(`Skipped ${leftOut} invalid copied ${leftOut === 1 ? "node" : "nodes"}`, {
        tone: "error",
      });
    if (Object.keys(fragment.nodes).length > 0) insert(fragment, at);
  }

  return {
    insert,
    duplicate,
    copy,
    paste,
    pointAt(client: Place | null) {
      pointer = client;
    },
  };
}

function looksLikeWorkflow(text: string): boolean {
  const trimmed = text.trimStart();
  return trimmed.startsWith("{") && /"nodes"\s*:/.test(text);
}
