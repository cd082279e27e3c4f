// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { type KnownCard, unlessAsKnown } from "./known-sizes";

const CARD = { width: 208, height: 74, hasHandles: true };

function card(width: number, height: number): HTMLDivElement {
  const element = document.createElement("div");
  Object.defineProperties(element, { offsetWidth: { value: width }, offsetHeight: { value: height } });
  element.innerHTML = '<span class="react-flow__handle"></span>';
  return element;
}

function plate(width: number, height: number): HTMLDivElement {
  const element = card(width, height);
  element.replaceChildren();
  return element;
}

/** Reports cards as React Flow's observer does; answers which of them were measured, report by report. */
function reports(known: Record<string, KnownCard>, ...rounds: Record<string, HTMLDivElement>[]) {
  const measured: string[][] = [];
  const measure = unlessAsKnown(
    (updates) => void measured.push([...updates.keys()]),
    (id) => known[id],
  );
  for (const round of rounds)
    measure(
      new Map(Object.entries(round).map(([id, nodeElement]) => [id, { id, nodeElement, force: true }])),
    );
  return measured;
}

test("cards whose size matches the precomputed size are not measured on first render", () => {
  expect(reports({ a: CARD, b: CARD }, { a: card(208, 74), b: card(208, 74) })).toEqual([]);
});

test("cards with an unknown size, a different size or unknown handles are measured", () => {
  const known = { same: CARD, wide: CARD, high: CARD, note: { ...CARD, hasHandles: false } };
  const drawn = {
    same: card(208, 74),
    wide: card(300, 74),
    high: card(208, 102),
    note: card(208, 74),
    stranger: card(208, 74),
  };
  expect(reports(known, drawn)).toEqual([["wide", "high", "note", "stranger"]]);
});

test("a card that is reported a second time is measured again", () => {
  const a = card(208, 74);
  expect(reports({ a: CARD }, { a }, { a })).toEqual([["a"]]);
});

test("a remounted card is not measured again if its size is known", () => {
  expect(reports({ a: CARD }, { a: card(208, 74) }, { a: card(208, 74) })).toEqual([]);
});

test("a placeholder is never measured, but the card that replaces it is", () => {
  const measured: string[] = [];
  const measure = unlessAsKnown(
    (updates) => void measured.push(...updates.keys()),
    () => CARD,
  );
  const a = plate(208, 90);
  const report = () => measure(new Map([["a", { id: "a", nodeElement: a, force: true }]]));
  report();
  report();
  expect(measured).toEqual([]);
  a.append(...card(208, 90).childNodes);
  report();
  expect(measured).toEqual(["a"]);
});
