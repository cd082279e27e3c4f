import { expect, test } from "vitest";
import type { Entry } from "./session";
import { Sessions } from "./sessions";

test("a worker at its run limit accepts only runs that another worker started", () => {
  const sessions = new Sessions(
    { forMs: 0, isHeld: () => Promise.resolve(true) },
    { post: () => Promise.resolve(), failed: () => {} },
  );
  const begun: Entry = { session: "other", worker: "other", turns: [], chars: 0 };
  expect([
    sessions.admits("a.1", [], 1),
    sessions.admits("a.1", [], 0),
    sessions.admits("a.1", [begun], 0),
  ]).toEqual([true, false, true]);
  sessions.close();
});
