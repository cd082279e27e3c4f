import { useStore } from "@xyflow/react";
import { Maximize, Minus, Plus } from "lucide-react";
import { useCanvasView } from "./use-canvas-view";

/** Smaller, larger, all of it. */
export function ZoomControls() {
  const view = useCanvasView();
  const percent = useStore(({ transform }) => Math.round(transform[2] * 100));
  return (
    <>
      <button type="button" aria-label="Zoom out" onClick={view.zoomOut}>
        <Minus aria-hidden size={15} />
      </button>
      <button
        type="button"
        className="canvas-percent"
        aria-label={`Zoom is ${percent} %, set to 100 %`}
        title="100 %  (0)"
        onClick={() => view.zoomTo(1)}
      >
        {percent} %
      </button>
      <button type="button" aria-label="Zoom in" onClick={view.zoomIn}>
        <Plus aria-hidden size={15} />
      </button>
      <button
        type="button"
        aria-label="Show the whole drawing"
        title="Show all  (1)"
        onClick={() => view.fit()}
      >
        <Maximize aria-hidden size={14} />
      </button>
    </>
  );
}
