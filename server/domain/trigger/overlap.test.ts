import { describe, expect, test } from "vitest";
import { decide, fireKey, MAX_BUFFERED, type ScheduleState } from "./overlap";
import { ScheduleConfig } from "./schedule";

const HOUR = 3_600_000;
const NINE = Date.parse("2026-06-01T09:00:00Z");

const hourly = (overlap: string, more: object = {}) =>
  ScheduleConfig.parse({ every: { unit: "hour" }, time_zone: "UTC", overlap, ...more });
const planned = (at: number) => ({ key: fireKey(at), planned_at: at });
/** A schedule whose next planned time is 09:00. */
const state = (more: Partial<ScheduleState> = {}): ScheduleState => ({
  ...{ id: "trg_1", next_at: NINE, open: [], isStarting: false, buffered: [], has: () => false },
  ...more,
});
/** `09 pending`, by the hour. */
const told = ({ fires }: ReturnType<typeof decide>) =>
  fires.map(({ planned_at, status }) => `${new Date(planned_at).toISOString().slice(11, 13)} ${status}`);

describe("at a planned time", () => {
  test.each([
    ["skip", ["09 pending"]],
    ["buffer_one", ["09 pending"]],
    ["buffer_all", ["09 pending"]],
    ["cancel_other", ["09 pending"]],
    ["terminate_other", ["09 pending"]],
    ["allow_all", ["09 pending"]],
  ])("%s starts a run where none is open", (overlap, fires) => {
    const decision = decide(hourly(overlap), state(), NINE + 5);
    expect(told(decision)).toEqual(fires);
    expect(decision).toMatchObject({ cancel: [], next_at: NINE + HOUR, wake_at: NINE + HOUR });
  });

  test.each([
    ["skip", ["09 skipped"], []],
    ["buffer_one", ["09 buffered"], []],
    ["buffer_all", ["09 buffered"], []],
    ["cancel_other", ["09 buffered"], ["run_1"]],
    ["terminate_other", ["09 pending"], ["run_1"]],
    ["allow_all", ["09 pending"], []],
  ])("%s decides about a run that is open", (overlap, fires, cancel) => {
    const decision = decide(hourly(overlap), state({ open: ["run_1"] }), NINE);
    expect(told(decision)).toEqual(fires);
    expect(decision.cancel).toEqual(cancel);
  });

  test.each([
    ["buffer_one", ["09 skipped"]],
    ["buffer_all", ["09 buffered"]],
    ["cancel_other", ["08 skipped", "09 buffered"]],
    ["terminate_other", ["08 skipped", "09 pending"]],
  ])("%s decides about a fire that waits", (overlap, fires) => {
    const waits = state({ open: ["run_1"], buffered: [planned(NINE - HOUR)] });
    expect(told(decide(hourly(overlap), waits, NINE))).toEqual(fires);
  });

  test("a run that could not be started yet counts as open", () => {
    for (const overlap of ["skip", "cancel_other", "terminate_other"])
      expect(told(decide(hourly(overlap), state({ isStarting: true }), NINE))).toEqual([
        overlap === "skip" ? "09 skipped" : "09 buffered",
      ]);
  });

  test("buffer_all records planned times beyond its limit as skipped, with the reason", () => {
    const buffered = Array.from({ length: MAX_BUFFERED }, (_, k) => planned(NINE - (k + 1) * HOUR));
    const { fires } = decide(hourly("buffer_all"), state({ open: ["run_1"], buffered }), NINE);
    expect(fires).toEqual([
      { ...planned(NINE), status: "skipped", reason: "1,000 fires were already waiting." },
    ]);
  });
});

describe("after the end of a run", () => {
  const waits = [planned(NINE - 2 * HOUR), planned(NINE - HOUR)];

  test("the oldest waiting fire starts next", () => {
    expect(told(decide(hourly("buffer_all"), state({ buffered: waits }), NINE - 1))).toEqual(["07 pending"]);
  });

  test("it keeps waiting while another run is open", () => {
    expect(told(decide(hourly("buffer_all"), state({ buffered: waits, open: ["x"] }), NINE - 1))).toEqual([]);
  });

  test("allow_all starts all waiting fires", () => {
    const config = hourly("allow_all");
    expect(told(decide(config, state({ buffered: waits, open: ["x"] }), NINE - 1))).toEqual([
      "07 pending",
      "08 pending",
    ]);
  });

  test("allow_all starts a long backlog in parts", () => {
    const buffered = Array.from({ length: 25 }, (_, k) => planned(NINE - (25 - k) * HOUR));
    const { fires, wake_at } = decide(hourly("allow_all"), state({ buffered }), NINE - 1);
    expect([fires.length, wake_at]).toEqual([20, NINE - 1]);
    expect(decide(hourly("allow_all"), state({ buffered: buffered.slice(20) }), NINE - 1).wake_at).toBe(NINE);
  });

  test("a time that is due at once is behind the one that waits", () => {
    expect(told(decide(hourly("skip"), state({ buffered: waits }), NINE))).toEqual([
      "07 pending",
      "09 skipped",
    ]);
  });
});

describe("after the server was down", () => {
  const AFTER = NINE + 3 * HOUR + 1;

  test.each([
    ["skip", ["09 pending", "10 skipped", "11 skipped", "12 skipped"]],
    ["buffer_one", ["09 pending", "10 buffered", "11 skipped", "12 skipped"]],
    ["buffer_all", ["09 pending", "10 buffered", "11 buffered", "12 buffered"]],
    ["cancel_other", ["09 skipped", "10 skipped", "11 skipped", "12 pending"]],
    ["terminate_other", ["09 skipped", "10 skipped", "11 skipped", "12 pending"]],
    ["allow_all", ["09 pending", "10 pending", "11 pending", "12 pending"]],
  ])("%s catches up with what was planned meanwhile", (overlap, fires) => {
    const decision = decide(hourly(overlap), state(), AFTER);
    expect(told(decision)).toEqual(fires);
    expect(decision.next_at).toBe(NINE + 4 * HOUR);
  });

  test("planned times older than the catch-up window are missed", () => {
    const decision = decide(hourly("allow_all", { catch_up_s: 7200 }), state(), AFTER);
    expect(told(decision)).toEqual(["09 missed", "10 missed", "11 pending", "12 pending"]);
    expect(decision.fires[0]?.reason).toMatch(/catch-up window/);
  });

  test.each(["cancel_other", "terminate_other"])(
    "%s starts only the last planned time of a long backlog",
    (overlap) => {
      const now = NINE + 50 * HOUR;
      const config = hourly(overlap, { catch_up_s: 100 * 3600 });
      const started: string[] = [];
      for (let next_at: number | null = NINE; next_at !== null && next_at <= now; ) {
        const decision = decide(config, state({ next_at }), now);
        for (const { key, status } of decision.fires) if (status === "pending") started.push(key);
        next_at = decision.next_at;
      }
      expect(started).toEqual([fireKey(now)]);
    },
  );

  test("a long backlog is decided in parts", () => {
    const config = hourly("skip");
    let at = state();
    const seen = new Set<number>();
    const now = NINE + 200 * HOUR;
    for (let parts = 0; at.next_at !== null && at.next_at <= now; parts++) {
      const decision = decide(config, at, now);
      expect(decision.fires.length).toBeLessThanOrEqual(20);
      for (const { planned_at } of decision.fires) seen.add(planned_at);
      at = { ...at, next_at: decision.next_at, open: ["run_1"] };
      expect(parts).toBeLessThan(20);
    }
    expect(seen.size).toBe(201);
  });
});

test("planned times that have a fire are ignored, as after the clock was set back", () => {
  const has = (key: string) => key === fireKey(NINE);
  const decision = decide(hourly("terminate_other"), state({ open: ["run_1"], has }), NINE);
  expect(decision).toEqual({ fires: [], cancel: [], next_at: NINE + HOUR, wake_at: NINE + HOUR });
});

test("a planned time with jitter is due later, and the same time after a restart", () => {
  const config = hourly("skip", { jitter_s: 1800 });
  const { fires, next_at, wake_at } = decide(config, state(), NINE);
  expect({ fires, next_at }).toEqual({ fires: [], next_at: NINE });
  expect(wake_at).toBeGreaterThan(NINE);
  expect(told(decide(config, state(), wake_at! - 1))).toEqual([]);
  expect(told(decide(config, state(), wake_at!))).toEqual(["09 pending"]);
});

test("a schedule that has ended plans nothing", () => {
  const config = hourly("skip", { ends_at: "2026-06-01T09:30:00Z" });
  expect(decide(config, state(), NINE)).toMatchObject({ next_at: null, wake_at: null });
  expect(decide(config, state({ next_at: null }), NINE)).toMatchObject({ fires: [], wake_at: null });
});
