import { type NodeHandle, Position } from "@xyflow/react";
import type { Port } from "@/components/forms/ports";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind, noteTextOf } from "@/server/domain/nodes";

/*
 * The sizes of cards and where edges start and end on them, known before anything renders. In canvas pixels; keep in sync
 * with canvas.css.
 */

export interface CardSize {
  width: number;
  height: number;
}

export const CARD_WIDTH = 208;
const HANDLE = 11;
/** How wide the line around a card is, in pixels. */
const BORDER = 1;
/** How high the part of a card with its name is; lines arrive at its middle. */
const HEAD = 72;
const ROW_HEIGHT = 28;
/** The space below a card's last row. */
const ROWS_END = 8;
/** A card without rows. */
export const PLAIN_HEIGHT = HEAD + 2 * BORDER;
/** How far below the top of a card lines arrive. */
export const ENTRY_LINE = BORDER + HEAD / 2;

/**
 * Where edges start and end on a card, known before it renders; keep in sync with canvas.css. `grown`: its size if it
 * has grown.
 */
export function cardHandles(node: WorkflowNode, ports: readonly Port[], grown?: CardSize): NodeHandle[] {
  const at = (x: number, y: number) => ({
    x: x - HANDLE / 2,
    y: BORDER + y - HANDLE / 2,
    width: HANDLE,
    height: HANDLE,
  });
  const kind = getNodeKind(node.node_type);
  const rows = ports.filter((port) => !!kind.routes || port.kind !== "out");
  const right = (grown?.width ?? CARD_WIDTH) - BORDER;
  // On a grown card the rows are at the bottom.
  const firstRow = grown ? grown.height - 2 * BORDER - ROWS_END - rows.length * ROW_HEIGHT : HEAD;
  const top = firstRow + ROW_HEIGHT / 2;
  const entry: NodeHandle[] =
    kind.hasEntry === false
      ? []
      : [{ id: "in", type: "target", position: Position.Left, ...at(BORDER, HEAD / 2) }];
  return [
    ...entry,
    ...ports.map((port): NodeHandle => {
      const row = rows.indexOf(port);
      const y = row < 0 ? HEAD / 2 : top + row * ROW_HEIGHT;
      return { id: port.id, type: "source", position: Position.Right, ...at(right, y) };
    }),
  ];
}

/** The height of a card, known before it renders; keep in sync with canvas.css. */
export function cardHeight(node: WorkflowNode, ports: readonly Port[]): number {
  if (noteTextOf(node) !== undefined) return 96;
  const rows = ports.filter(({ kind }) => kind !== "out").length;
  const isRouter = !!getNodeKind(node.node_type).routes;
  return (
    PLAIN_HEIGHT +
    ROW_HEIGHT * (isRouter ? ports.length : rows) +
    (ports.length > 0 && (isRouter || rows > 0) ? ROWS_END : 0)
  );
}
