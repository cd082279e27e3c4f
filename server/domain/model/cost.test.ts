import fc from "fast-check";
import { expect, test } from "vitest";
import { formatCost, knownCost, ofOneCall } from "./cost";

test("an unknown price is shown as unknown, never as zero", () => {
  fc.assert(
    fc.property(
      fc.option(fc.double({ min: 0, max: 1000, noNaN: true })),
      fc.integer({ min: 1, max: 99 }),
      (cost_usd, unknown_cost_calls) => {
        const paid = { cost_usd, unknown_cost_calls };
        expect(knownCost(paid)).not.toBe(0);
        expect(formatCost(paid)).toMatch(/unknown/);
        expect(formatCost(paid)).not.toMatch(/^\$0( |$)/);
      },
    ),
  );
});

test("costs are formatted consistently", () => {
  expect(formatCost({ cost_usd: 0, unknown_cost_calls: 0 })).toBe("$0");
  expect(formatCost({ cost_usd: 0.00004, unknown_cost_calls: 0 })).toBe("< $0.0001");
  expect(formatCost({ cost_usd: 0.0123, unknown_cost_calls: 0 })).toBe("$0.0123");
  expect(formatCost({ cost_usd: 12.3, unknown_cost_calls: 2 })).toBe("$12.30 + 2 calls with unknown price");
  expect(formatCost({ cost_usd: 0, unknown_cost_calls: 1 })).toBe("Price unknown");
  expect(formatCost({ cost_usd: null, unknown_cost_calls: 0 })).toBe("Price unknown");
  expect(formatCost(ofOneCall(null))).toBe("Price unknown");
});
