import { expect, test } from "vitest";
import { formatEstimate } from "./format-estimate";

test("an estimate is a rounded range and reports an unknown price", () => {
  const range = { calls: [3, 41], input_tokens: [1234, 56_789], output_tokens: [450, 36_900] };
  expect(formatEstimate(range)).toBe("3–41 calls, 1,700–94,000 tokens");
  expect(formatEstimate({ ...range, calls: [1, 1] })).toMatch(/^1 call, /);
  expect(formatEstimate({ ...range, cost_usd: null })).toMatch(/, price unknown$/);
  expect(formatEstimate({ ...range, cost_usd: [0, 0] })).toMatch(/, \$0$/);
  expect(formatEstimate({ ...range, cost_usd: [0.0123, 0.5] })).toMatch(/, \$0\.0123–\$0\.500$/);
});
