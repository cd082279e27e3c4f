import { expect, test } from "vitest";
import { seeded } from "@/server/domain/testing/simulate";
import { cutText, sizeOf } from "./sizes";
import type { Json } from "./values";

function randomValue(random: () => number, depth = 0): Json {
  const roll = random();
  if (depth > 3 || roll < 0.5) {
    if (roll < 0.1) return null;
    if (roll < 0.2) return random() < 0.5;
    if (roll < 0.3) return Math.floor(random() * 1e6);
    return "x".repeat(Math.floor(random() * 300));
  }
  const length = Math.floor(random() * 8);
  if (roll < 0.75) return Array.from({ length }, () => randomValue(random, depth + 1));
  return Object.fromEntries(Array.from({ length }, (_, at) => [`key${at}`, randomValue(random, depth + 1)]));
}

test("the estimated size is close to the length of the JSON", () => {
  const random = seeded(7);
  for (let k = 0; k < 500; k++) {
    const value = randomValue(random);
    const text = JSON.stringify(value);
    expect(Math.abs(sizeOf(value) - text.length)).toBeLessThanOrEqual(4 + text.length * 0.5);
    if (text.length > 2000) expect(Math.abs(sizeOf(value) - text.length)).toBeLessThan(text.length * 0.1);
    expect(sizeOf(value)).toBe(sizeOf(JSON.parse(text)));
  }
});

test("a truncated text states its original length", () => {
  expect(cutText("short")).toBe("short");
  expect(cutText("x".repeat(20), 5)).toBe("xxxxx… (20 characters in all)");
});
