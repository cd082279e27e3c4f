import { useEffect, useRef } from "react";
import { readingOrder } from "@/components/canvas/navigation";
import { useCanvasView } from "@/components/canvas/use-canvas-view";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { useEditorStore } from "./editing/editor-store";
import { edits } from "./editing/edits";

const tidyPlaces = (graph: WorkflowGraph) =>
  import("@/components/canvas/layout/layout").then(({ layout }) => layout(graph));

/** Files that say no places are tidied up when they are first opened; that is no step to take back. */
export function useFirstLayout() {
  const store = useEditorStore();
  const view = useCanvasView();
  const open = useRef(view.open);
  useEffect(() => {
    const { graph } = store.getState().doc;
    if (Object.values(graph.nodes).every(({ ui }) => ui)) return;
    void tidyPlaces(graph).then((places) => {
      const { doc, revision } = store.getState();
      if (!places || doc.graph !== graph) return;
      const placed = { ...doc, graph: edits.layout.apply(graph, { places }) };
      store.getState().adopt(placed, revision);
      requestAnimationFrame(() => open.current(readingOrder(graph)[0], true));
    });
  }, [store]);
}
