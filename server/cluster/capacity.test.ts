import fc from "fast-check";
import { expect, test } from "vitest";
import { capacityOf } from "./cluster";

test("a single worker provides its full capacity", () => {
  expect(capacityOf([64])).toBe(64);
  expect(capacityOf([])).toBe(0);
});

const several = fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 2, maxLength: 20 });

test("the remaining workers can take over any worker's runs, unless it's larger than the rest", () => {
  fc.assert(
    fc.property(several, (limits) => {
      const all = limits.reduce((sum, limit) => sum + limit, 0);
      const left = limits.map((dead) => all - dead);
      const isOneLargest = limits.some((limit) => limit > all - limit);
      expect(capacityOf(limits)).toBe(isOneLargest ? Math.max(...limits) : Math.min(...left));
    }),
  );
});

test("a worker that joins never reduces the capacity", () => {
  fc.assert(
    fc.property(several, fc.integer({ min: 1, max: 1_000 }), (limits, joins) => {
      expect(capacityOf([...limits, joins])).toBeGreaterThanOrEqual(capacityOf(limits));
    }),
  );
});
