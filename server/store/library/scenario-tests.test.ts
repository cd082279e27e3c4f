import { expect, test } from "vitest";
import { openDb } from "@/db/open";
import type { TestReport } from "@/server/domain/scenario/report";
import { KEPT_OUTPUTS } from "./judges";
import { KEPT_RESULTS, ScenarioStore } from "./scenario-tests";

test("each test keeps its newest results, and each judge its newest and labeled outputs", () => {
  let time = 0;
  const store = new ScenarioStore(openDb(":memory:"), () => ++time);
  const report = (test_id: string) => ({ test_id, name: test_id, status: "passed", results: [] }) as unknown;
  const keep = (id: string, revision: number) =>
    store.keep("w", { by: "user", revision, took_ms: 1.4 }, report(id) as TestReport);
  keep("other", 0);
  for (let n = 1; n <= KEPT_RESULTS + 3; n++) keep("one", n);
  const kept = store.results("w", "one");
  expect([kept.length, kept[0]?.revision, kept.at(-1)?.revision]).toEqual([50, 53, 4]);
  expect(store.results("w", "other")).toMatchObject([
    { simulated: false, expected: 0, passed: 0, took_ms: 1 },
  ]);

  const judged = (item: string, score: number) =>
    store.judges.keepVerdict("w", { judge: "j", item, test_id: "one", text: item, score, reason: "" });
  judged("good", 1);
  judged("bad", 0);
  for (const item of ["good", "bad"]) store.judges.label("w", { judge: "j", item, good: true, by: "user" });
  for (let n = 1; n <= KEPT_OUTPUTS + 5; n++) judged(`i${n}`, 1);
  expect(store.judges.judgeCounts("w", "j", 0.5)).toEqual({ outputs: 202, labels: 2, same: 1 });
  expect(["good", "i5", "i6"].map((item) => store.judges.verdict("w", "j", item)?.score)).toEqual([
    1,
    undefined,
    1,
  ]);
  expect(store.judges.judgeCounts("w", "none", 0.5)).toEqual({ outputs: 0, labels: 0, same: 0 });
});
