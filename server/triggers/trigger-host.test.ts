import { expect, test, vi } from "vitest";
import { emptyDb } from "@/db/testing";
import { TriggerSettings } from "@/server/domain/trigger/trigger";
import { LIMITS } from "@/server/limits";
import { newSealer } from "@/server/secrets/sealer";
import { newTriggerStore } from "@/server/store/triggers/triggers";
import { startedBy, TriggerHost } from "./trigger-host";

test("after a start, all pending fires get their runs, and other work gets its turn meanwhile", async () => {
  const store = newTriggerStore(emptyDb(), newSealer(null, {}));
  const settings = TriggerSettings.parse({ kind: "webhook", config: {} });
  const { id } = store.create("wf_1", settings, { by: "session:1" });
  for (let k = 0; k < 1_005; k++) store.addFire(id, { key: `${k}`, planned_at: k, input: {} });
  store.addFire("trg_gone", { key: "orphan", planned_at: 0, input: {} });
  const startRun = vi.fn((_: unknown) => ({ run_id: "run_1", created: true }));
  const host = new TriggerHost({
    ...{ store, startRun, runs: { find: () => null }, watchers: { watch: () => () => {} } },
  });
  host.recover();
  expect(startRun.mock.calls.length).toBeLessThan(100);
  await vi.waitFor(() => expect(store.openFires("pending")).toEqual([]), { timeout: 10_000 });
  expect(startRun).toHaveBeenCalledTimes(1_005);
  host.stop();
});

test("so many requests wait for ends of runs, also of the same one, and none whose sender is gone", async () => {
  const host = new TriggerHost({
    store: newTriggerStore(emptyDb(), newSealer(null, {})),
    startRun: () => undefined,
    runs: { find: () => null },
    watchers: { watch: () => () => {} },
  });
  expect(await host.untilEnd("run_1", 60_000, AbortSignal.abort())).toBe(false);
  const waits = Array.from({ length: LIMITS.hooks.waiting }, () => host.untilEnd("run_1", 60_000));
  expect(await host.untilEnd("run_1", 60_000)).toBe(false);
  host.stop();
  expect(await Promise.all(waits)).not.toContain(true);
});

test("the input of a schedule's test from before a person saved it is not that person's", () => {
  const store = newTriggerStore(emptyDb(), newSealer(null, {}), () => 10);
  const config = { every: { unit: "hour" }, time_zone: "UTC" };
  const settings = TriggerSettings.parse({ kind: "schedule", config });
  const schedule = store.create("wf_1", settings, { by: "session:1" });
  const trusted = (at: number, is_test: boolean) => startedBy(schedule, { at, is_test }).trusted;
  expect([trusted(9, true), trusted(10, true), trusted(9, false)]).toEqual([undefined, true, true]);
});
