import type { CardSize } from "../cards/card-size";
import type { XY } from "./places";
import type { Box } from "./routes";

/*
 * Cards that grow on the drawing, and how the others make room: what stands to the right of one moves right, what stands
 * below moves down. Rows stay rows, columns stay columns, and nothing that lay apart comes to lie on something else. Only
 * the view: the places that a graph says are never changed by it.
 */

/** The position of each card after some have grown. `boxes`: all cards before. */
export function withRoom(
  boxes: readonly Box[],
  grown: ReadonlyMap<string, CardSize>,
): ReadonlyMap<string, XY> {
  const growing = boxes.flatMap((box) => {
    const size = grown.get(box.id);
    return size ? [{ ...box, more: { x: size.width - box.width, y: size.height - box.height } }] : [];
  });
  const shiftX = shifts(growing.map(({ x, width, more }) => ({ from: x, to: x + width, by: more.x })));
  const shiftY = shifts(growing.map(({ y, height, more }) => ({ from: y, to: y + height, by: more.y })));
  return new Map(boxes.map(({ id, x, y }) => [id, { x: x + shiftX(x), y: y + shiftY(y) }]));
}

interface Growth {
  from: number;
  to: number;
  by: number;
}

/** By how much a place moves along one axis: what grows side by side needs its room once. */
function shifts(growths: readonly Growth[]): (place: number) => number {
  const sorted = growths.filter(({ by }) => by > 0).toSorted((a, b) => a.to - b.to);
  const steps: { to: number; shift: number }[] = [];
  const shiftAt = (place: number) =>
    steps.reduce((most, { to, shift }) => (to <= place ? Math.max(most, shift) : most), 0);
  for (const { from, to, by } of sorted) steps.push({ to, shift: shiftAt(from) + by });
  return shiftAt;
}
