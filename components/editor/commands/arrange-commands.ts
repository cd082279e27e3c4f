import { type Direction, readingOrder } from "@/components/canvas/navigation";
import { edits } from "@/components/editor/editing/edits";
import { type Place, placeOf } from "@/components/editor/editing/placing";
import { movedGroup } from "@/server/domain/graph/groups";
import type { CommandContext } from "./command-context";

/** Moves cards, or arranges all of them. */
export function arrangeCommands({ store, view, announce, graph, nameOf, pickedNodes }: CommandContext) {
  /** Arranging large workflows takes time. */
  let tidying: AbortController | null = null;

  async function tidy() {
    const picked = pickedNodes();
    const before = graph();
    tidying?.abort();
    const mine = new AbortController();
    tidying = mine;
    const { layout } = await import("@/components/canvas/layout/layout");
    const only = picked.length > 1 ? new Set(picked) : undefined;
    const places = await layout(before, only, mine.signal, view.width());
    if (tidying === mine) tidying = null;
    if (!places) return;
    if (graph() !== before) return announce("The workflow changed. Run auto-layout again.");
    store.getState().edit(edits.layout, { places });
    announce("Layout applied");
    // After the new positions are rendered.
    requestAnimationFrame(() => view.open(readingOrder(graph())[0]));
  }

  /** Calls it off; false: nothing is being tidied up. */
  function cancelTidying(): boolean {
    if (!tidying) return false;
    tidying.abort();
    tidying = null;
    return true;
  }

  function nudge(direction: Direction, far: boolean) {
    const ids = pickedNodes();
    const step = far ? 32 : 8;
    const dx = direction === "left" ? -step : direction === "right" ? step : 0;
    const dy = direction === "up" ? -step : direction === "down" ? step : 0;
    const places = Object.fromEntries(
      ids.map((id) => {
        const { x, y } = placeOf(graph(), id);
        return [id, { x: x + dx, y: y + dy }];
      }),
    );
    store.getState().edit(edits.move, { places }, { mergeKey: ids.join(" ") });
    const first = ids[0];
    if (first !== undefined) {
      const { x, y } = placeOf(graph(), first);
      announce(`${ids.length === 1 ? nameOf(first) : `${ids.length} nodes`} moved to ${x}, ${y}`);
    }
  }

  /** Where cards came to rest; the card of a collapsed group takes its nodes along. */
  function moveAll(places: Record<string, Place>) {
    const all: Record<string, Place> = {};
    for (const [id, place] of Object.entries(places)) {
      const folded = graph().groups?.find((one) => one.id === id);
      if (folded) Object.assign(all, movedGroup(graph(), folded, place));
      else all[id] = place;
    }
    store.getState().edit(edits.move, { places: all });
  }

  return { tidy, cancelTidying, nudge, moveAll };
}
