import { MiniMap, useStore, ViewportPortal } from "@xyflow/react";
import { Maximize, Minus, Plus } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { createPortal } from "react-dom";
import { whenSettled } from "@/components/ui/when-idle";
import { elementOf } from "./hits";
import type { Alignment } from "./layout/helplines";
import { useCanvasView } from "./use-canvas-view";

/** What is drawn over the cards of a canvas, in its coordinates. React Flow's own portal leads into canvases within cards. */
export function CanvasLayer({ children }: { children: ReactNode }) {
  const layer = useStore(({ domNode }) => elementOf(domNode, ".react-flow__viewport-portal"));
  return layer && createPortal(children, layer);
}

/** The lines to which a dragged card snaps. */
export function Guides({ guides }: { guides: Alignment | null }) {
  if (!guides) return null;
  const { vertical, horizontal } = guides;
  return (
    <ViewportPortal>
      {vertical && (
        <div
          className="canvas-guide"
          style={{
            left: vertical.at,
            top: vertical.from - 16,
            width: 1,
            height: vertical.to - vertical.from + 32,
          }}
        />
      )}
      {horizontal && (
        <div
          className="canvas-guide"
          style={{
            left: horizontal.from - 16,
            top: horizontal.at,
            width: horizontal.to - horizontal.from + 32,
            height: 1,
          }}
        />
      )}
    </ViewportPortal>
  );
}

/** One arrow head for all lines: it takes the colour of its line. */
export function Arrow() {
  return (
    <svg aria-hidden className="canvas-defs">
      <defs>
        <marker
          id="troupe-arrow"
          viewBox="-9 -6 10 12"
          markerWidth="11"
          markerHeight="11"
          orient="auto-start-reverse"
          markerUnits="userSpaceOnUse"
        >
          <path
            d="M -7 -4.2 L 0 0 L -7 4.2"
            fill="none"
            stroke="context-stroke"
            strokeWidth="1.75"
            strokeLinecap="round"
            strokeLinejoin="round"
          />
        </marker>
      </defs>
    </svg>
  );
}

/** How long the processor belongs to the canvas alone. */
const SETTLED_MS = 250;

/** The minimap. It appears after the canvas, since it renders every card a second time. */
export function Overview() {
  const [isDue, setDue] = useState(false);
  useEffect(() => whenSettled(() => setDue(true), SETTLED_MS), []);
  if (!isDue) return null;
  return (
    <MiniMap
      className="canvas-minimap"
      pannable
      zoomable
      ariaLabel="Minimap"
      nodeBorderRadius={24}
      maskColor="var(--minimap-mask)"
      nodeColor="var(--minimap-node)"
      bgColor="var(--surface)"
    />
  );
}

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
        aria-label={`Reset zoom (${percent}%)`}
        title="Zoom to 100% (0)"
        onClick={() => view.zoomTo(1)}
      >
        {percent}%
      </button>
      <button type="button" aria-label="Zoom in" onClick={view.zoomIn}>
        <Plus aria-hidden size={15} />
      </button>
      <button type="button" aria-label="Zoom to fit" title="Zoom to fit (1)" onClick={() => view.fit()}>
        <Maximize aria-hidden size={14} />
      </button>
    </>
  );
}
