import { describe, expect, test } from "vitest";
import { openDb } from "@/db/open";
import { Rejection } from "@/server/domain/errors/rejection";
import { seeded } from "@/server/domain/testing/simulate";
import { OverlapPolicy, ScheduleConfig } from "@/server/domain/trigger/schedule";
import type { Launch } from "@/server/runner/lifecycle/launch";
import { newSealer } from "@/server/secrets/sealer";
import type { RunSummary } from "@/server/store/runs/runs";
import { newTriggerStore } from "@/server/store/triggers/triggers";
import { sized } from "@/server/testing/thorough";
import { Schedules } from "./schedule";
import { TriggerHost } from "./trigger-host";

const MINUTE = 60_000;
const QUARTER = 15 * MINUTE;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Schedules that a change of the clock touches, from shortly before it. `at`: minutes of the day; null: every quarter. */
const CASES: { zone: string; from: string; every: object; at: number[] | null; interval: number }[] = [
  { ...daily("02:30", 150), zone: "Europe/Berlin", from: "2026-03-26T00:00:00Z" },
  { ...daily("02:30", 150), zone: "Europe/Berlin", from: "2026-10-22T00:00:00Z" },
  { ...daily("02:00", 120), zone: "America/New_York", from: "2026-03-05T00:00:00Z" },
  { ...daily("00:00", 0), zone: "America/Santiago", from: "2026-09-03T00:00:00Z" },
  { ...daily("00:30", 30), zone: "Africa/Cairo", from: "2026-10-27T00:00:00Z" },
  { ...quarters(), zone: "Australia/Lord_Howe", from: "2026-10-03T14:00:00Z" },
  { ...quarters(), zone: "America/New_York", from: "2026-11-01T04:00:00Z" },
  { ...everyTwoHours(), zone: "Europe/Berlin", from: "2026-03-28T20:00:00Z" },
  { ...everyTwoHours(), zone: "Australia/Lord_Howe", from: "2026-04-04T08:00:00Z" },
  {
    ...{ zone: "Europe/Lisbon", from: "2026-10-24T20:00:00Z", interval: HOUR },
    ...{ every: { cron: "15,45 0-4 * * *" }, at: [0, 1, 2, 3, 4].flatMap((h) => [h * 60 + 15, h * 60 + 45]) },
  },
  { ...daily("09:00", 540), zone: "Asia/Kolkata", from: "2026-03-28T00:00:00Z" },
];
function daily(at: string, minutes: number) {
  return { every: { unit: "day", at }, at: [minutes], interval: DAY };
}
function quarters() {
  return { every: { unit: "minute", n: 15 }, at: null, interval: QUARTER };
}
function everyTwoHours() {
  const at = Array.from({ length: 12 }, (_, k) => k * 120);
  return { every: { unit: "hour", n: 2 }, at, interval: 2 * HOUR };
}

/**
 * The planned times by another way than the product's: the highest point that the clock on the wall has reached climbs past
 * each time of day once. Times are multiples of 15 minutes.
 */
function expected({ zone, at, ...which }: (typeof CASES)[number], ticks: number): number[] {
  const from = Date.parse(which.from);
  const to = from + ticks * which.interval * 2 + 10 * DAY;
  const wall = new Intl.DateTimeFormat("en-US", {
    ...{ timeZone: zone, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric" },
    ...{ hour: "numeric", minute: "numeric" },
  });
  const localOf = (time: number) => {
    const part = Object.fromEntries(wall.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
    return Date.UTC(part.year!, part.month! - 1, part.day, part.hour, part.minute);
  };
  const times: number[] = [];
  let highest = localOf(from - QUARTER);
  for (let time = from; time < to; time += QUARTER) {
    const local = localOf(time);
    const passed = [];
    for (let minute = highest + QUARTER; minute <= local; minute += QUARTER) passed.push(minute);
    if (at === null || passed.some((one) => at.includes((one % DAY) / MINUTE))) times.push(time);
    highest = Math.max(highest, local);
  }
  return times;
}

const expectedOf: number[][] = [];

const db = openDb(":memory:");
const sql = db.$client;
const insertRun = sql.prepare(
  `insert into runs (id, workflow_id, workflow_name, status, interpreter_version, trigger, idempotency_key, created_at, trigger_id)
   values (?, 'wf', 'W', 'running', 1, 'schedule', ?, ?, ?)`,
);

/** Kills a process between two effects. */
class Killed extends Error {}

/** Simulates about this many planned times; returns how many there were. */
function live(seed: number, overlap: string, which: (typeof CASES)[number], ticks: number): number {
  const random = seeded(seed);
  const chance = (p: number) => random() < p;
  const from = Date.parse(which.from);
  let now = from + 1;
  const config = ScheduleConfig.parse({
    ...{ every: which.every, time_zone: which.zone, overlap },
    catch_up_s: chance(0.5) ? 600 + Math.floor(random() * 7200) : 86_400,
    ...(chance(0.3) && { jitter_s: 300 }),
  });
  const slack = (config.jitter_s ?? 0) * 1000;
  const window = config.catch_up_s * 1000;
  const all = (expectedOf[CASES.indexOf(which)] ??= expected(which, ticks));
  const store = newTriggerStore(db, newSealer(null, {}), () => now);
  const about = { by: "session:s", enabled: true, next_at: all.find((time) => time > now) ?? null };
  const { id } = store.create("wf", { kind: "schedule", config }, about);
  const open = () => store.openRuns(id);
  const cancelled = new Set<string>();
  const violations: string[] = [];
  let effects = 0;
  const runsAlone = !["terminate_other", "allow_all"].includes(overlap);

  /** Every effect of a process may be its last, completed or not; a dead process has none. */
  const newProcess = () => {
    let isDead = false;
    const mortal =
      <A extends unknown[], R>(effect: (...args: A) => R) =>
      (...args: A): R => {
        if (isDead) throw new Killed();
        effects++;
        if (!chance(0.05)) return effect(...args);
        isDead = true;
        if (chance(0.5)) effect(...args);
        throw new Killed();
      };
    const startRun = mortal(({ idempotency_key: key }: Launch) => {
      const known = sql.prepare("select id from runs where idempotency_key = ?").pluck().get(key) as string;
      if (known) return { run_id: known, created: false };
      if (chance(0.1)) throw new Rejection("queue_full", "Full.");
      // An error thrown by a start would become the reason of a failed fire.
      if (runsAlone && open().length > 0) violations.push(`${key} overlaps ${open().join()}`);
      if (overlap === "terminate_other" && open().some((run) => !cancelled.has(run)))
        violations.push(`${key} leaves ${open().join()}`);
      insertRun.run(`run_${key}`, key, now, id);
      return { run_id: `run_${key}`, created: true };
    });
    const own = {
      ...store,
      setFire: mortal(store.setFire),
      addFires: mortal((one: string, fires: Parameters<typeof store.addFires>[1], next: number | null) => {
        const before = store.openFires("buffered", id).length;
        const isBusy = open().length + store.countFires(id, "pending") > 0;
        for (const fire of fires) {
          if (store.fire(id, fire.key)) continue;
          const late = now - fire.planned_at;
          if (fire.status === "missed") expect(late).toBeGreaterThan(window);
          else expect(late).toBeLessThanOrEqual(window + slack);
          if (fire.status === "skipped" && overlap === "skip")
            expect(isBusy || fires.some(({ status }) => status === "pending")).toBe(true);
        }
        const starts = fires.filter(({ status }) => status === "pending").length;
        if (overlap !== "allow_all") expect(starts).toBeLessThanOrEqual(1);
        if (runsAlone && isBusy) expect(starts).toBe(0);
        store.addFires(one, fires, next);
        if (overlap === "buffer_one" || overlap === "cancel_other")
          expect(store.openFires("buffered", id).length).toBeLessThanOrEqual(Math.max(1, before));
      }),
    };
    const host = new TriggerHost({
      ...{ store: own, startRun, runs: { find: () => null }, watchers: { watch: () => () => {} } },
    });
    let tell = (_run: RunSummary) => {};
    const schedules = new Schedules({
      ...{ store: own, now: () => now },
      host: {
        startFire: host.startFire.bind(host),
        whenEnded: (callback) => {
          tell = callback;
        },
      },
      cancel: mortal((run: string) => void cancelled.add(run)),
    });
    return {
      // A kill is thrown to the caller.
      alive(act: () => void): boolean {
        try {
          act();
        } catch (error) {
          if (!(error instanceof Killed)) throw error;
        }
        return !isDead;
      },
      recover: () => host.recover(),
      ...{ schedules, ended: () => tell({ trigger_id: id } as RunSummary) },
      stop() {
        schedules.stop();
        host.stop();
      },
    };
  };

  let process = newProcess();
  const begin = () => {
    process.stop();
    process = newProcess();
    return process.alive(() => {
      process.recover();
      process.schedules.start();
    });
  };
  const settle = () => {
    for (let rounds = 0; rounds < 2000; rounds++) {
      const before = effects;
      const lives = process.alive(() => {
        process.recover();
        process.schedules.check();
      });
      if (!lives) while (!begin());
      else if (effects === before) return;
    }
    throw new Error("It never comes to rest.");
  };
  const end = (run: string) => {
    sql.prepare("update runs set status = 'finished', final_status = 'COMPLETED' where id = ?").run(run);
    process.alive(process.ended);
  };

  while (!begin());
  let highest = now;
  while ((all.findIndex((time) => time > highest) + 1 || all.length) <= ticks) {
    now += Math.floor(random() * 1.4 * which.interval);
    if (chance(0.03)) now += Math.floor(random() * 3 * Math.min(DAY, which.interval * 10));
    if (chance(0.05)) now -= Math.floor(random() * 6 * HOUR);
    highest = Math.max(highest, now);
    // A process that was killed stays away for a while, too.
    if (chance(0.03)) while (!begin());
    settle();
    for (const run of open()) if (chance(cancelled.has(run) ? 0.8 : 0.4)) end(run);
    if (chance(0.7)) settle();
  }
  for (settle(); open().length > 0; settle()) for (const run of open()) end(run);
  process.stop();

  expect(violations).toEqual([]);
  const fires = store.fires(id);
  const { next_at } = store.find(id)!;
  const planned = all.filter((time) => time > from + 1 && time < next_at!);
  expect(fires.map(({ planned_at }) => planned_at).reverse(), "each planned time has one fire").toEqual(
    planned,
  );
  expect(next_at).toBe(all.find((time) => time > planned.at(-1)!));
  const runs = sql.prepare("select idempotency_key from runs where trigger_id = ?").pluck().all(id);
  const started = fires.filter(({ status }) => status === "started");
  expect(new Set(runs), "each started fire has one run").toEqual(
    new Set(started.map(({ key }) => `trigger:${id}:${key}`)),
  );
  expect(runs).toHaveLength(started.length);
  const became = new Set(fires.map(({ status }) => status));
  const allowed = ["started", "missed", ...(/all/.test(overlap) ? [] : ["skipped"])];
  expect(allowed).toEqual(expect.arrayContaining([...became]));
  sql.prepare("delete from runs").run();
  store.remove(id);
  return fires.length;
}

describe("each planned time is started, skipped or missed exactly once", () => {
  test.each(OverlapPolicy.options)(
    "%s, across changes of the clock, kills and clock jumps",
    { timeout: 600_000 },
    (overlap) => {
      const each = sized(6, 160);
      const lived = CASES.map((which, k) => live(k * 31 + overlap.length, overlap, which, each));
      expect(lived.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(each * CASES.length * 0.9);
    },
  );
});
