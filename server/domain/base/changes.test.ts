import { expect, test } from "vitest";
import { seeded } from "@/server/domain/testing/simulate";
import { changed, changeOf, type Version, valueOf } from "./changes";
import type { Json, JsonObject } from "./values";

const word = (random: () => number) =>
  "abcdefgh".charAt(Math.floor(random() * 8)).repeat(1 + Math.floor(random() * 90));

function value(random: () => number, depth = 0): Json {
  const roll = random();
  if (depth > 3 || roll < 0.4)
    return roll < 0.1 ? null : roll < 0.2 ? Math.floor(random() * 9) : word(random);
  const length = Math.floor(random() * 12);
  if (roll < 0.7) return Array.from({ length }, () => value(random, depth + 1));
  return Object.fromEntries(Array.from({ length }, (_, at) => [`k${at}`, value(random, depth + 1)]));
}

/** Something like it: a little more, a little less, or another in one place. */
function altered(before: Json, random: () => number): Json {
  const at = Math.floor(random() * 12);
  if (typeof before === "string")
    return random() < 0.5 ? before + word(random) : before.slice(0, at) + word(random) + before.slice(at + 3);
  if (Array.isArray(before)) {
    if (random() < 0.4) return [...before, value(random, 2)];
    return before.flatMap((item, k) => (k === at ? (random() < 0.3 ? [] : [altered(item, random)]) : [item]));
  }
  if (before !== null && typeof before === "object") {
    const after: JsonObject = { ...before };
    const key = Object.keys(before)[at] ?? `n${at}`;
    if (random() < 0.3) delete after[key];
    else after[key] = Object.hasOwn(before, key) ? altered(before[key]!, random) : value(random, 2);
    return after;
  }
  return value(random, 2);
}

test("applying the recorded changes reproduces every version, including key order", () => {
  let used = 0;
  for (let seed = 1; seed <= 300; seed++) {
    const random = seeded(seed);
    let plain = value(random);
    let version: Version = { before: null, make: () => structuredClone(plain) };
    const first = structuredClone(plain);
    version = { before: null, make: () => first };
    const seen: [Version, string][] = [];
    for (let step = 0; step < 12; step++) {
      const next = random() < 0.05 ? value(random) : altered(plain, random);
      const change = changeOf(plain, next);
      if (change) {
        used++;
        const stored = JSON.parse(JSON.stringify(change)) as typeof change;
        expect(JSON.stringify(changed(plain, stored))).toBe(JSON.stringify(next));
        version = { before: version, make: (before) => changed(before, stored) };
      } else version = { before: null, make: () => next };
      plain = next;
      seen.push([version, JSON.stringify(next)]);
    }
    for (const [made, text] of seen) expect(JSON.stringify(valueOf(made))).toBe(text);
  }
  expect(used).toBeGreaterThan(500);
});

test.each<[string, Json, Json, unknown]>([
  [
    "appended text is stored as a change",
    "x".repeat(400),
    `${"x".repeat(400)}yes`,
    { at: 400, drop: 0, text: "yes" },
  ],
  [
    "an appended item is stored as a change",
    Array(200).fill(1),
    [...Array<number>(200).fill(1), 2],
    { at: 200, drop: 0, items: [2] },
  ],
  [
    "a shortened list inside an object is stored as a change",
    { a: 1, list: Array(200).fill(1) },
    { a: 2, list: Array(199).fill(1) },
    { set: { a: 2 }, changed: { list: { at: 199, drop: 1, items: [] } } },
  ],
  ["a short value is stored in full", "x", "xy", null],
  ["unrelated text is stored in full", "x".repeat(400), "y".repeat(400), null],
  ["a value of another type is stored in full", "x".repeat(400), Array(200).fill(1), null],
])("%s", (_name, before, after, change) => {
  expect(changeOf(before, after)).toEqual(change);
});

test("applying a change to a value of another type throws", () => {
  expect(() => changed([1], { at: 0, drop: 0, text: "x" })).toThrow(TypeError);
  expect(() => changed("x", { at: 0, drop: 0, items: [] })).toThrow(TypeError);
  expect(() => changed(null, { set: {} })).toThrow(TypeError);
});
