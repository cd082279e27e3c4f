import fc from "fast-check";
import { expect, test } from "vitest";
import { capacityOf } from "./capacity";

test("a worker that is alone gets all that it takes", () => {
  expect(capacityOf([64])).toBe(64);
  expect(capacityOf([])).toBe(0);
});

test("whichever of several workers dies, the others have room for all that is at work", () => {
  const several = fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 2, maxLength: 20 });
  fc.assert(
    fc.property(several, (limits) => {
      const left = limits.map((dead) => limits.reduce((sum, limit) => sum + limit, 0) - dead);
      expect(capacityOf(limits)).toBe(Math.min(...left));
    }),
  );
});
