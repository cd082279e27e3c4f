import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CARD_WIDTH, PLAIN_HEIGHT } from "../cards/card-size";
import { arrange, type ToArrange } from "./arrange";
import { COLUMN } from "./places";

const cards = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ id: `n${at}`, height: PLAIN_HEIGHT }));
const chain = (count: number) =>
  Array.from({ length: count - 1 }, (_, at) => ({ from: `n${at}`, to: `n${at + 1}` }));

function size(places: ReturnType<typeof arrange>) {
  const all = Object.values(places);
  const xs = all.map(({ x }) => x);
  const ys = all.map(({ y }) => y);
  return {
    width: Math.max(...xs) - Math.min(...xs) + CARD_WIDTH,
    height: Math.max(...ys) - Math.min(...ys) + PLAIN_HEIGHT,
  };
}

describe("automatic layout", () => {
  test("eight nodes in a chain are arranged in two rows of four, read left to right", () => {
    const places = arrange({ cards: cards(8), lines: chain(8) });
    const rows = [...new Set(Object.values(places).map(({ y }) => y))];
    expect(rows.map((row) => Object.keys(places).filter((id) => places[id]?.y === row))).toEqual([
      ["n0", "n1", "n2", "n3"],
      ["n4", "n5", "n6", "n7"],
    ]);
  });

  test("five nodes in a chain fit one row, and a wider window fits more per row", () => {
    const rows = (task: ToArrange) => new Set(Object.values(arrange(task)).map(({ y }) => y)).size;
    expect(rows({ cards: cards(5), lines: chain(5) })).toBe(1);
    expect(rows({ cards: cards(8), lines: chain(8), width: 2000 })).toBe(1);
    expect(rows({ cards: cards(8), lines: chain(8), width: 390 })).toBe(2);
  });

  test("forks run from left to right, even at the end of a chain", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 2, max: 4 }), (before, branches) => {
        // A chain to a router, and branches of two steps with one end each.
        const names = (at: number) => [`a${at}`, `b${at}`, `end${at}`];
        const all = Array.from({ length: branches }, (_, at) => names(at));
        const ids = [...cards(before + 1).map(({ id }) => id), ...all.flat()];
        const lines = [
          ...chain(before + 1),
          ...all.flatMap((way) =>
            way.map((to, at) => ({ from: at === 0 ? `n${before}` : (way[at - 1] ?? ""), to })),
          ),
        ];
        const places = arrange({ cards: ids.map((id) => ({ id, height: PLAIN_HEIGHT })), lines });
        const x = (id: string) => places[id]?.x ?? Number.NaN;
        for (const way of all) {
          expect(x(`n${before}`)).toBeLessThan(x(way[0] ?? ""));
          expect(way.map(x)).toEqual([...way.map(x)].sort((a, b) => a - b));
        }
        const tops = all.map(([first = ""]) => places[first]?.y ?? Number.NaN);
        expect(tops).toEqual([...tops].sort((a, b) => a - b));
        // One row as long as all of it fits on a laptop.
        if (before < 3) expect(size(places).width).toBe((before + 4) * COLUMN - COLUMN + CARD_WIDTH);
        else expect(size(places).width).toBeLessThan(8 * COLUMN);
      }),
    );
  });

  test("a join is placed in the column after its branches", () => {
    const branches = ["a", "b", "c", "d", "e"];
    const lines = branches.flatMap((id) => [
      { from: "start", to: id },
      { from: id, to: "end" },
    ]);
    const all = ["start", ...branches, "end"].map((id) => ({ id, height: PLAIN_HEIGHT }));
    const places = arrange({ cards: all, lines });
    expect(places.end?.x).toBeGreaterThan(places.a?.x ?? 0);
    expect(places.end?.y).toBeCloseTo(places.start?.y ?? 0);
  });

  test("a long chain with a shared error target wraps, and the target is placed below it", () => {
    const failed = { id: "failed", height: PLAIN_HEIGHT };
    const lines = [...chain(60), ...cards(60).map(({ id }) => ({ from: id, to: "failed" }))];
    const places = arrange({ cards: [...cards(60), failed], lines });
    const { width, height } = size(places);
    expect(width / height).toBeLessThan(2.5);
    const lowest = Math.max(...cards(60).map(({ id }) => places[id]?.y ?? 0));
    expect(places.failed?.y).toBeGreaterThan(lowest);
  });

  test("cards never overlap, whatever the connections", () => {
    const anyTask: fc.Arbitrary<ToArrange> = fc
      .tuple(fc.integer({ min: 1, max: 25 }), fc.array(fc.tuple(fc.nat(24), fc.nat(24)), { maxLength: 50 }))
      .map(([count, pairs]) => ({
        cards: cards(count).map((card, at) => ({ ...card, height: PLAIN_HEIGHT + (at % 3) * 36 })),
        lines: pairs.flatMap(([a, b]) =>
          // Forward only, as lines back are left out.
          a % count < b % count ? [{ from: `n${a % count}`, to: `n${b % count}` }] : [],
        ),
      }));
    fc.assert(
      fc.property(anyTask, (task) => {
        const places = arrange(task);
        const boxes = task.cards.map(({ id, height }) => ({ height, ...(places[id] ?? { x: 0, y: 0 }) }));
        const overlapping = boxes.flatMap((a, at) =>
          boxes
            .slice(at + 1)
            .filter(
              (b) => Math.abs(a.x - b.x) < CARD_WIDTH && a.y < b.y + b.height - 1 && b.y < a.y + a.height - 1,
            ),
        );
        expect(overlapping).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});
