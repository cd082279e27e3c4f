import { ViewportPortal } from "@xyflow/react";
import type { Alignment } from "./layout/helplines";

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
