import { useEffect, useRef } from "react";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { isSameView, type View } from "./layout/view-fit";
import type { CanvasView } from "./use-canvas-view";
import type { Selection } from "./use-flow";

/** How long the second click of a double click may take. */
const DOUBLE_CLICK_MS = 400;

/** The subject of a form: the cards themselves, and those cards with what is around them. Node ids. */
interface Subject {
  cards: readonly string[];
  around: readonly string[];
}

/** Cards with their direct neighbors, both ends of a connection, or everything if nothing is selected. */
export function subjectOf({ nodes, edges }: WorkflowGraph, selection: Selection): Subject {
  const [first, ...others] = selection.nodes;
  if (others.length > 0) return { cards: [...selection.nodes], around: [...selection.nodes] };
  const known = edges.filter(({ id, source_node_id, target_node_id }) =>
    first === undefined ? selection.edges.has(id) : source_node_id === first || target_node_id === first,
  );
  const ends = new Set(
    known.flatMap(({ source_node_id, target_node_id }) => [source_node_id, target_node_id]),
  );
  if (first !== undefined) return { cards: [first], around: [...ends.add(first)] };
  return { cards: [], around: ends.size > 0 ? [...ends] : Object.keys(nodes) };
}

/**
 * While a form covers part of the canvas, keeps its subject in view; then the view returns, unless the person moved it.
 * `subject`: null while nothing is covered. `place`: changes when the form covers another part.
 */
export function useViewBeside(view: CanvasView, subject: Subject | null, place: unknown) {
  const moved = useRef<{ from: View; to: View } | null>(null);
  // The same subject again, as after each edit, must not move the view.
  const key = subject && [subject.cards, subject.around].map((ids) => ids.join("\n")).join("\t");
  useEffect(() => {
    const isUntouched = () => moved.current !== null && isSameView(view.getView(), moved.current.to);
    if (key === null) {
      if (moved.current && isUntouched()) view.setView(moved.current.from);
      moved.current = null;
      return;
    }
    const [cards = [], around = []] = key.split("\t").map((ids) => ids.split("\n").filter(Boolean));
    // Keep the target of a double click under the pointer until the second click.
    const timer = setTimeout(() => {
      const to = view.beside(around, cards);
      if (!to) return;
      moved.current = { from: (isUntouched() && moved.current?.from) || view.getView(), to };
      view.setView(to);
    }, DOUBLE_CLICK_MS);
    return () => clearTimeout(timer);
  }, [view, key, place]);
}
