import { expect, test } from "vitest";
import { withRoom } from "./make-room";
import type { Box } from "./routes";

const box = (id: string, x: number, y: number): Box => ({ id, x, y, width: 208, height: 74 });
const LARGE = { width: 808, height: 474 };

test("a growing card pushes cards to its right and below it, and leaves all others in place", () => {
  const boxes = [box("before", 0, 0), box("crew", 272, 0), box("next", 544, 0), box("below", 272, 152)];
  const corner = box("corner", 0, -152);
  expect(Object.fromEntries(withRoom([...boxes, corner], new Map([["crew", LARGE]])))).toEqual({
    before: { x: 0, y: 0 },
    crew: { x: 272, y: 0 },
    next: { x: 1144, y: 0 },
    below: { x: 272, y: 552 },
    corner: { x: 0, y: -152 },
  });
});

test("rows and columns stay aligned when a card grows", () => {
  const rows = [0, 152].flatMap((y) => [0, 272, 544].map((x) => box(`${x} ${y}`, x, y)));
  const places = withRoom(rows, new Map([["272 0", LARGE]]));
  expect([...places.values()].map(({ x, y }) => [x, y])).toEqual([
    [0, 0],
    [272, 0],
    [1144, 0],
    [0, 552],
    [272, 552],
    [1144, 552],
  ]);
});

test("cards that grow in one column widen it once; cards that grow in one row add up", () => {
  const boxes = [box("a", 0, 0), box("b", 0, 152), box("c", 272, 0), box("last", 544, 304)];
  const grown = new Map(["a", "b", "c"].map((id) => [id, LARGE]));
  expect(Object.fromEntries(withRoom(boxes, grown))).toEqual({
    a: { x: 0, y: 0 },
    b: { x: 0, y: 552 },
    c: { x: 872, y: 0 },
    last: { x: 1744, y: 1104 },
  });
});

test("cards that didn't overlap before don't overlap after any of them grow", () => {
  const boxes = Array.from({ length: 24 }, (_, at) => box(String(at), (at % 5) * 240, at * 91));
  for (const ids of [["3"], ["0", "7", "12"], ["5", "10", "15", "20"], boxes.map(({ id }) => id)]) {
    const grown = new Map(ids.map((id) => [id, LARGE]));
    const places = withRoom(boxes, grown);
    const after = boxes.map(({ id, width, height }) => ({
      id,
      ...{ width, height, ...grown.get(id) },
      ...(places.get(id) ?? { x: Number.NaN, y: Number.NaN }),
    }));
    const lying = after.flatMap((a, at) =>
      after
        .slice(at + 1)
        .filter(
          (b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height,
        )
        .map((b) => `${a.id} on ${b.id}`),
    );
    expect(lying).toEqual([]);
  }
});
