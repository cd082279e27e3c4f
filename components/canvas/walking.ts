import type { KeyboardEvent } from "react";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { nodeIdOf } from "./hits";
import { type Direction, neighbour, readingOrder } from "./navigation";

const ARROWS: Record<string, Direction> = {
  ArrowLeft: "left",
  ArrowRight: "right",
  ArrowUp: "up",
  ArrowDown: "down",
};

/** Select the node alone, add it to the selection, or only focus it. */
export type WalkMode = "only" | "add" | "look";

/**
 * Arrow keys move from node to node along the graph: Shift adds to the selection, Ctrl moves only the focus. Escape
 * focuses the canvas.
 */
export function walk(
  event: KeyboardEvent<HTMLElement>,
  graph: WorkflowGraph,
  focusNode: (id: string) => void,
  onPick: (id: string | null, how: WalkMode) => void,
) {
  const direction = ARROWS[event.key];
  const isFocusOnly = event.ctrlKey || event.metaKey;
  if (event.altKey || (isFocusOnly && !direction)) return;
  const here = nodeIdOf(event.target);
  const order = readingOrder(graph);
  const to = (id: string | null | undefined) => {
    if (!id) return;
    event.preventDefault();
    onPick(id, isFocusOnly ? "look" : event.shiftKey && direction ? "add" : "only");
    focusNode(id);
  };
  if (direction) to(here ? neighbour(graph, here, direction) : order[0]);
  else if (event.key === "Home") to(order[0]);
  else if (event.key === "End") to(order.at(-1));
  else if (event.key === "Enter" && !here && event.target === event.currentTarget) to(order[0]);
  else if (event.key === "Escape" && here) {
    event.preventDefault();
    event.currentTarget.focus({ preventScroll: true });
    onPick(null, "only");
  }
}
