import { expect, test } from "vitest";
import { formatDuration } from "./format";

test("a duration omits trailing zero units", () => {
  const formatted = [400, 12_000, 60_000, 185_000, 900_000, 3_600_000, 7_800_000, 86_400_000].map(
    formatDuration,
  );
  expect(formatted).toEqual(["400 ms", "12 s", "1 min", "3 min 05 s", "15 min", "1 h", "2 h 10 min", "24 h"]);
});
