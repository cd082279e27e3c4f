import type { CardSize } from "../cards/card-size";
import type { XY } from "./places";
import type { Box } from "./routes";

/*
 * Makes room for cards that grow: cards to the right move right, cards below move down. Rows and columns stay, and cards
 * that were apart don't overlap. Affects only the view, never the positions in the graph.
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
