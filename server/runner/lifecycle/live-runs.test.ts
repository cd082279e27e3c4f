import { expect, test } from "vitest";
import { LiveRuns } from "./live-runs";
import type { LiveRun } from "./remote-engine";

const run = (status: LiveRun["status"]): LiveRun => ({
  engine: {
    deliver() {},
    freeze() {},
    stop() {},
    checkClock() {},
    inFlight: 0,
    isIdle: true,
    sleepsUntil: null,
    hasSlept: false,
  },
  turns: null,
  status,
  finalStatus: null,
  workflowId: null,
});

test("a sleeping run stays known, but takes neither memory nor a slot", () => {
  const runs = new LiveRuns();
  runs.add("a", run("running"));
  runs.add("b", run("waiting"));
  runs.add("new", run(null));
  expect([runs.size, runs.busyCount()]).toEqual([3, 2]);
  runs.putToSleep("a", { at: 5, worked: 1 });
  expect([runs.size, runs.busyCount(), runs.has("a"), runs.isHere("a")]).toEqual([2, 1, false, true]);
  expect(runs.seenBy("a")).toEqual({ at: 5, worked: 1 });
  runs.wakeUp("a");
  expect([runs.isHere("a"), runs.hasSleepers]).toEqual([false, false]);
});

test("waiting for a run to leave notifies every waiter, and an unknown run has already left", async () => {
  const runs = new LiveRuns();
  await runs.gone("never");
  runs.add("a", run("running"));
  const notified: string[] = [];
  const waiting = ["first", "second"].map((who) => runs.gone("a").then(() => notified.push(who)));
  expect(notified).toEqual([]);
  runs.remove("a");
  runs.left("a");
  await Promise.all(waiting);
  expect(notified).toEqual(["first", "second"]);
});
