import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Box, curvePoint, drawRoute, isForward, type Line, routesOf } from "./routes";

const CARD = { width: 208, height: 74 };
const at = (id: string, column: number, row: number): Box => ({ id, x: column * 272, y: row * 152, ...CARD });
const line = (id: string, a: Box, b: Box): Line => ({
  id,
  source: a.id,
  target: b.id,
  from: { x: a.x + a.width + 5, y: a.y + 37 },
  to: { x: b.x - 5, y: b.y + 37 },
});

/** Points along a line, two pixels apart at most. */
function pointsOf(one: Line, route: readonly { x: number; y: number }[] | undefined) {
  if (!route) return Array.from({ length: 101 }, (_, step) => curvePoint(one, step / 100));
  return route.slice(1).flatMap((b, index) => {
    const a = route[index] ?? b;
    const steps = Math.max(1, Math.ceil(Math.hypot(b.x - a.x, b.y - a.y) / 2));
    return Array.from({ length: steps + 1 }, (_, step) => ({
      x: a.x + ((b.x - a.x) * step) / steps,
      y: a.y + ((b.y - a.y) * step) / steps,
    }));
  });
}

const isInside = (box: Box, x: number, y: number) =>
  x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height;

describe("edge routing", () => {
  test("an edge that skips a column crosses no card in between", () => {
    const [a, b, c] = [at("a", 0, 0), at("b", 1, 0), at("c", 2, 0)];
    const straight = line("a-c", a, c);
    const route = routesOf([straight], [a, b, c]).get("a-c");
    expect(route?.at(0)).toEqual(straight.from);
    expect(route?.at(-1)).toEqual(straight.to);
    expect(pointsOf(straight, route).some(({ x, y }) => isInside(b, x, y))).toBe(false);
  });

  test("an edge between neighbors keeps its default curve", () => {
    const [a, b] = [at("a", 0, 0), at("b", 1, 1)];
    expect(routesOf([line("a-b", a, b)], [a, b]).size).toBe(0);
  });

  test("an edge down many rows between two columns has only straight segments", () => {
    const [a, b] = [at("a", 0, 0), at("b", 1, 9)];
    const route = routesOf([line("a-b", a, b)], [a, b]).get("a-b") ?? [];
    expect(
      route.slice(1).every((point, index) => point.x === route[index]?.x || point.y === route[index]?.y),
    ).toBe(true);
    expect(route.length).toBeGreaterThan(2);
  });

  test("edges in a grid layout never cross unrelated cards", () => {
    const place = fc.record({ column: fc.nat(6), row: fc.nat(5) });
    fc.assert(
      fc.property(
        fc.uniqueArray(place, {
          minLength: 2,
          maxLength: 24,
          selector: ({ column, row }) => `${column} ${row}`,
        }),
        fc.array(fc.tuple(fc.nat(23), fc.nat(23)), { minLength: 1, maxLength: 20 }),
        (places, pairs) => {
          const boxes = places.map(({ column, row }, index) => at(`n${index}`, column, row));
          const lines = pairs.flatMap(([from, to], index) => {
            const [a, b] = [boxes[from % boxes.length], boxes[to % boxes.length]];
            return a && b && a !== b ? [line(`e${index}`, a, b)] : [];
          });
          const routes = routesOf(lines, boxes);
          const covered = lines.filter((one) => {
            const others = boxes.filter(({ id }) => id !== one.source && id !== one.target);
            return pointsOf(one, routes.get(one.id)).some(({ x, y }) =>
              others.some((box) => isInside(box, x, y)),
            );
          });
          expect(covered).toEqual([]);
        },
      ),
      { numRuns: 150 },
    );
  });

  test("edges to different cards run in parallel through a gap, and edges to the same card merge", () => {
    const boxes = [at("a", 3, 0), at("b", 3, 1), at("c", 0, 0), at("d", 0, 1), at("e", 1, 0), at("f", 2, 0)];
    const [a, b, c, d] = boxes as [Box, Box, Box, Box];
    const routes = routesOf([line("a-c", a, c), line("b-d", b, d), line("a-d", a, d)], boxes);
    const heightOf = (id: string) => routes.get(id)?.[2]?.y;
    expect(heightOf("a-d")).toBe(heightOf("b-d"));
    expect(heightOf("a-c")).not.toBe(heightOf("b-d"));
  });

  test("an edge label is centered on the longest segment", () => {
    const drawn = drawRoute([
      { x: 0, y: 0 },
      { x: 20, y: 0 },
      { x: 20, y: 60 },
      { x: 420, y: 60 },
    ]);
    expect([drawn.x, drawn.y]).toEqual([220, 60]);
    expect(isForward({ from: { x: 0, y: 0 }, to: { x: 20, y: 0 } })).toBe(false);
  });
});
