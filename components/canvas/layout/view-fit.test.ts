import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  areaWith,
  besideView,
  cardsInView,
  cardView,
  READABLE,
  readableView,
  SMALLEST_WHOLE,
  viewAt,
  wholeView,
} from "./view-fit";

const CARD = { width: 208, height: 74 };
const room = { left: 20, top: 48, width: 900, height: 700 };

describe("initial viewport", () => {
  test("a small workflow is centered at its original size", () => {
    const view = readableView({ x: 0, y: 0, width: 480, height: 74 }, room, { x: 0, y: 0, ...CARD });
    expect(view).toEqual({ zoom: 1, x: 20 + 210, y: 48 + 313 });
  });

  test("a wide workflow is shown from its start at a readable zoom", () => {
    const view = readableView({ x: 100, y: 0, width: 4000, height: 74 }, room, { x: 100, y: 0, ...CARD });
    expect(view.zoom).toBe(READABLE);
    expect(100 * view.zoom + view.x).toBeCloseTo(20);
  });

  test("the whole workflow is shown if 70 % zoom suffices, and always on a phone", () => {
    const wide = { x: 0, y: 0, width: 1250, height: 300 };
    expect(readableView(wide, room, { x: 0, y: 0, ...CARD })).toEqual({
      zoom: 0.72,
      x: 20,
      y: expect.any(Number),
    });
    const phone = { left: 20, top: 48, width: 350, height: 600 };
    expect(readableView(wide, phone, { x: 0, y: 0, ...CARD })).toEqual({ zoom: 0.28, x: 20, y: 306 });
  });

  test("the initial viewport includes the relevant card at a readable zoom", () => {
    fc.assert(
      fc.property(fc.nat(6000), fc.nat(6000), fc.nat(5000), fc.nat(5000), (width, height, x, y) => {
        const drawing = { x: -50, y: 30, width: width + x + 208, height: height + y + 74 };
        const card = { x: x - 50, y: y + 30, ...CARD };
        const view = readableView(drawing, room, card);
        expect(view.zoom).toBeGreaterThanOrEqual(SMALLEST_WHOLE);
        const left = card.x * view.zoom + view.x;
        const top = card.y * view.zoom + view.y;
        expect(left).toBeGreaterThanOrEqual(room.left - 0.01);
        expect(top).toBeGreaterThanOrEqual(room.top - 0.01);
        expect(left + CARD.width * view.zoom).toBeLessThanOrEqual(room.left + room.width + 0.01);
        expect(top + CARD.height * view.zoom).toBeLessThanOrEqual(room.top + room.height + 0.01);
      }),
    );
  });
});

describe("number of visible cards", () => {
  const drawing = { count: 500, width: 8000, height: 3600 };

  test("all cards count as visible if the workflow fits", () => {
    expect(cardsInView(drawing, room, 0.1)).toBe(500);
  });

  test("the number of visible cards scales with the visible share in each direction", () => {
    expect(cardsInView(drawing, { width: 1000, height: 900 }, 0.25)).toBe(250);
    expect(cardsInView(drawing, { width: 1000, height: 900 }, 0.5)).toBe(62.5);
  });

  test("a workflow without positions has no visible cards", () => {
    const nowhere = { count: 0, width: Number.NEGATIVE_INFINITY, height: Number.NEGATIVE_INFINITY };
    expect(cardsInView(nowhere, room, 0.25)).toBeCloseTo(0);
  });
});

describe("scrolling to a card", () => {
  const drawing = { x: 0, y: 0, width: 3000, height: 74 };
  const at = (x: number) => viewAt(1, { drawing, room, card: { x, y: 0, ...CARD } });

  test("a card that was out of view is centered without empty space past the workflow's edges", () => {
    expect(at(1400)).toEqual({ zoom: 1, x: 20 + 450 - 1400 - 104, y: 48 + 313 });
    expect(at(3000 - 208).x).toBe(20 + 900 - 3000);
    expect(at(0).x).toBe(20);
  });

  test("the viewport doesn't move along an axis on which the card is already visible", () => {
    const now = { x: -800, y: 123, zoom: 1 };
    const card = { x: 2000, y: 0, ...CARD };
    expect(viewAt(1, { drawing, room, card }, now)).toEqual({ ...at(2000), y: 123 });
    expect(viewAt(1, { drawing, room, card: { ...card, x: 1000 } }, now)).toEqual(now);
    expect(viewAt(0.6, { drawing, room, card }, now)).toEqual(viewAt(0.6, { drawing, room, card }));
  });

  test("a workflow that fits is shown completely", () => {
    const view = viewAt(0.6, { drawing: { ...drawing, width: 1000 }, room, card: { x: 792, y: 0, ...CARD } });
    expect(view).toEqual({ zoom: 0.6, x: 20 + 150, y: expect.closeTo(48 + 327.8, 5) });
  });
});

describe("viewport after a card grows", () => {
  const now = { x: 0, y: 0, zoom: 1 };

  test("the viewport stays if the grown card is fully visible", () => {
    const card = { x: 100, y: 100, width: 600, height: 400 };
    expect(cardView(now, room, card, card)).toEqual(now);
  });

  test("a grown card moves just into view at a readable zoom", () => {
    const card = { x: 500, y: 300, width: 1000, height: 700 };
    const view = cardView(now, room, card, card);
    expect(view.zoom).toBeCloseTo(0.9);
    expect([card.x * view.zoom + view.x, card.y * view.zoom + view.y]).toEqual([20, expect.closeTo(118, 5)]);
  });

  test("a card that is too large for the viewport shows its relevant part", () => {
    const card = { x: 0, y: 0, width: 2000, height: 1600 };
    const part = (x: number, y: number) => ({ x, y, width: 204, height: 122 });
    const seen = (one: ReturnType<typeof part>) => {
      const view = cardView(now, room, card, one);
      expect(view.zoom).toBe(READABLE);
      return { left: one.x * view.zoom + view.x, top: one.y * view.zoom + view.y };
    };
    expect(seen(part(30, 80))).toEqual({ left: 30 * READABLE + 20, top: 80 * READABLE + 48 });
    for (const { left, top } of [seen(part(1700, 1400)), seen(part(900, 700))]) {
      expect(left).toBeGreaterThan(20);
      expect(left + 204 * READABLE).toBeLessThan(920);
      expect(top).toBeGreaterThan(48);
      expect(top + 122 * READABLE).toBeLessThan(748);
    }
  });
});

test("fitting the view includes edges that run around the cards", () => {
  const cards = { x: 0, y: 0, width: 1016, height: 226 };
  const area = areaWith(cards, [
    { x: 1036, y: 37 },
    { x: -20, y: 189 },
  ]);
  expect(area).toEqual({ x: -20, y: 0, width: 1056, height: 226 });
  const view = wholeView(area, room);
  expect(-20 * view.zoom + view.x).toBeCloseTo(room.left);
  expect(1036 * view.zoom + view.x).toBeCloseTo(room.left + room.width);
});

describe("viewport next to a form", () => {
  const beside = { ...room, width: 540 };
  const inside = (
    view: { x: number; y: number; zoom: number },
    area: { x: number; y: number; width: number; height: number },
  ) =>
    area.x * view.zoom + view.x >= beside.left - 0.01 &&
    area.y * view.zoom + view.y >= beside.top - 0.01 &&
    (area.x + area.width) * view.zoom + view.x <= beside.left + beside.width + 0.01 &&
    (area.y + area.height) * view.zoom + view.y <= beside.top + beside.height + 0.01;
  const area = (x: number, y: number, width: number, height: number) => ({ x, y, width, height });
  const anyView = fc.record({
    x: fc.integer({ min: -3000, max: 3000 }),
    y: fc.integer({ min: -3000, max: 3000 }),
    zoom: fc.constantFrom(0.3, 0.7, 1, 1.5),
  });

  test("the viewport stays while a form hides none of its cards", () => {
    expect(
      besideView({ x: 0, y: 0, zoom: 1 }, beside, area(30, 60, 480, 74), area(30, 60, 208, 74)),
    ).toBeNull();
  });

  test("a card and its neighbors move clear of a form, at the same zoom if they fit", () => {
    const now = { x: 20, y: 100, zoom: 1 };
    expect(besideView(now, beside, area(300, 0, 480, 74), area(572, 0, 208, 74))).toEqual({
      zoom: 1,
      x: -220,
      y: 100,
    });
    expect(besideView(now, beside, area(300, 0, 600, 74), area(572, 0, 208, 74))?.zoom).toBeCloseTo(0.9);
  });

  test("only the card is shown if its neighbors are too far away, and an oversized selection stays", () => {
    fc.assert(
      fc.property(
        anyView,
        fc.nat(2000),
        fc.nat(2000),
        fc.integer({ min: 208, max: 4000 }),
        (now, x, y, width) => {
          const card = area(x, y, 208, 74);
          const around = area(Math.max(0, x + 208 - width), y, width, 74);
          const view = besideView(now, beside, around, card) ?? now;
          expect(view.zoom).toBeLessThanOrEqual(now.zoom);
          expect(view.zoom).toBeGreaterThanOrEqual(Math.min(now.zoom, SMALLEST_WHOLE));
          expect(inside(view, card)).toBe(true);
          const fits = width * Math.min(now.zoom, SMALLEST_WHOLE) <= beside.width;
          if (fits) expect(inside(view, around)).toBe(true);
          else expect(besideView(now, beside, around, null)).toBeNull();
        },
      ),
    );
  });
});
