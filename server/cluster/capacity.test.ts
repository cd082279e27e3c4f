import fc from "fast-check";
import { expect, test } from "vitest";
import { capacityOf } from "./cluster";

test("a worker that is alone gets all that it takes", () => {
  expect(capacityOf([64])).toBe(64);
  expect(capacityOf([])).toBe(0);
});

const several = fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 2, maxLength: 20 });

test("whichever of several workers dies, the others have room for all that is at work, but where one takes more than all of them", () => {
  fc.assert(
    fc.property(several, (limits) => {
      const all = limits.reduce((sum, limit) => sum + limit, 0);
      const left = limits.map((dead) => all - dead);
      const isOneLargest = limits.some((limit) => limit > all - limit);
      expect(capacityOf(limits)).toBe(isOneLargest ? Math.max(...limits) : Math.min(...left));
    }),
  );
});

test("a worker that joins never leaves less room than there was", () => {
  fc.assert(
    fc.property(several, fc.integer({ min: 1, max: 1_000 }), (limits, joins) => {
      expect(capacityOf([...limits, joins])).toBeGreaterThanOrEqual(capacityOf(limits));
    }),
  );
});
