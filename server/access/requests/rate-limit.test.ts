import { expect, test } from "vitest";
import { takeFromRateLimit } from "./rate-limit";

test.each([
  ["one in 64 s", { perSecond: 1 / 64, burst: 1 }, [0, 0, 32_000, 48_000, 64_000], [0, 64, 32, 16, 0]],
  [
    "many a second: a wait is a whole second",
    { perSecond: 50, burst: 1 },
    [0, 1, 20, 39, 40],
    [0, 1, 0, 1, 0],
  ],
  ["turns pile up to the burst and no further", { perSecond: 1, burst: 2 }, [0, 9e6, 9e6, 9e6], [0, 0, 0, 1]],
  ["a whole turn is needed", { perSecond: 1, burst: 1.5 }, [0, 0, 500, 500], [0, 1, 0, 1]],
])("a rate limit computes the wait: %s", (who, rate, times, waits) => {
  expect(times.map((now) => takeFromRateLimit(who, rate, now))).toEqual(waits);
});

test("each caller has a rate limit, and the least recently active is forgotten first", () => {
  const rate = { perSecond: 0.001, burst: 1 };
  const ask = (who: string) => takeFromRateLimit(who, rate, 0);
  expect([ask("first"), ask("second"), ask("first"), ask("second")]).toEqual([0, 0, 1_000, 1_000]);
  for (let n = 0; n < 4_999; n++) ask(`other ${n}`);
  // "second" asked last, so "first" had to go.
  expect(ask("second")).toBe(1_000);
  expect(ask("first")).toBe(0);
});
