import { expect, test } from "vitest";
import { limitRaiseError, RaisableLimit, RunConfig } from "./outcome";

/** The least and the most that a start may say of each limit; null where nothing is too much. */
const EDGES: Record<RaisableLimit, [number, number | null]> = {
  max_steps: [1, 5000],
  max_global_iterations: [1, 2000],
  max_active_ms: [0, 24 * 3_600_000],
  max_log_chars: [10_000, null],
  max_cost_usd: [0, null],
  max_total_tokens: [0, null],
};

test.each(Object.entries(EDGES) as [RaisableLimit, [number, number | null]][])(
  "%s can be raised only to values that a new run accepts",
  (limit, [least, most]) => {
    const isBudget = limit === "max_cost_usd" || limit === "max_total_tokens";
    const mayStart = (to: number) =>
      RunConfig.safeParse(isBudget ? { budget: { [limit]: to } } : { [limit]: to }).success;
    for (const to of [least, least + 1, ...(most === null ? [] : [most])]) {
      expect(limitRaiseError(limit, to), String(to)).toBeNull();
      expect(mayStart(to)).toBe(true);
    }
    for (const to of [
      least - 1,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      ...(most === null ? [] : [most + 1]),
    ]) {
      expect(limitRaiseError(limit, to), String(to)).toMatch(new RegExp(`^${limit}: .{5}`));
      expect(mayStart(to)).toBe(false);
    }
  },
);

test("only the cost limit accepts fractions", () => {
  for (const limit of RaisableLimit.options)
    expect(limitRaiseError(limit, 20_000.5 / (limit === "max_log_chars" ? 1 : 100)) === null, limit).toBe(
      limit === "max_cost_usd",
    );
});
