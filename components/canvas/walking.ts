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

/**
 * Arrow keys walk from node to node in the order of the graph: with Shift they take in one more, with Ctrl they only
 * look. Escape goes back to the drawing as a whole.
 */
export function walk(
  event: KeyboardEvent<HTMLElement>,
  graph: WorkflowGraph,
  focusNode: (id: string) => void,
  onPick: (id: string | null, how: "only" | "add" | "look") => void,
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
