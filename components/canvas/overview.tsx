import { MiniMap } from "@xyflow/react";
import { useEffect, useState } from "react";
import { whenSettled } from "@/components/ui/when-idle";

/** Until then the drawing itself has what there is of the processor. */
const SETTLED_MS = 250;

/** The whole drawing, small, in a corner. It comes once the drawing is there: it draws every card a second time. */
export function Overview() {
  const [isDue, setDue] = useState(false);
  useEffect(() => whenSettled(() => setDue(true), SETTLED_MS), []);
  if (!isDue) return null;
  return (
    <MiniMap
      className="canvas-minimap"
      pannable
      zoomable
      ariaLabel="Overview of the drawing"
      nodeBorderRadius={24}
      maskColor="var(--minimap-mask)"
      nodeColor="var(--minimap-node)"
      bgColor="var(--surface)"
    />
  );
}
