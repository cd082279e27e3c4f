import { useInternalNode } from "@xyflow/react";
import type { ReactNode } from "react";
import { CARD_WIDTH } from "./card-size";
import "./card-inside.css";

/**
 * Buttons and links of the class `card-door` on the upper edge of a card; use it in a `CanvasLayer`. `at`: where along the
 * edge, from 0 to 1.
 */
export function CardDoors({
  nodeId,
  at = 0.5,
  children,
}: {
  nodeId: string;
  at?: number;
  children: ReactNode;
}) {
  const node = useInternalNode(nodeId);
  if (!node) return null;
  const { x, y } = node.internals.positionAbsolute;
  const left = x + (node.measured.width ?? CARD_WIDTH) * at;
  return (
    <div className="card-doors nodrag nopan" style={{ left, top: y }}>
      {children}
    </div>
  );
}
