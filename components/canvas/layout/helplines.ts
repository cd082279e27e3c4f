import type { XY } from "./places";
import type { Box } from "./routes";

/** An alignment guide: its position and extent. */
export interface Guide {
  at: number;
  from: number;
  to: number;
}

export interface Alignment {
  /** The position of the dragged box. */
  place: XY;
  vertical: Guide | null;
  horizontal: Guide | null;
}

/** Snaps a dragged box to the edges and middles of others that it nearly lines up with. */
export function align(dragged: Box, others: readonly Box[], reach = 5): Alignment {
  const vertical = nearest(linesX(dragged), others, linesX, reach);
  const horizontal = nearest(linesY(dragged), others, linesY, reach);
  const place = { x: dragged.x + (vertical?.shift ?? 0), y: dragged.y + (horizontal?.shift ?? 0) };
  return {
    place,
    vertical: vertical && {
      at: vertical.at,
      from: Math.min(place.y, vertical.other.y),
      to: Math.max(place.y + dragged.height, vertical.other.y + vertical.other.height),
    },
    horizontal: horizontal && {
      at: horizontal.at,
      from: Math.min(place.x, horizontal.other.x),
      to: Math.max(place.x + dragged.width, horizontal.other.x + horizontal.other.width),
    },
  };
}

const linesX = ({ x, width }: Box) => [x, x + width / 2, x + width];
const linesY = ({ y, height }: Box) => [y, y + height / 2, y + height];

function nearest(mine: number[], others: readonly Box[], lines: (box: Box) => number[], reach: number) {
  let best: { at: number; shift: number; other: Box } | null = null;
  for (const other of others)
    for (const [index, at] of lines(other).entries()) {
      const shift = at - (mine[index] ?? Number.POSITIVE_INFINITY);
      if (Math.abs(shift) <= reach && (!best || Math.abs(shift) < Math.abs(best.shift)))
        best = { at, shift, other };
    }
  return best;
}
