import { describe as about, expect, test } from "vitest";
import { describe, dueAt, nextTimes, ScheduleConfig, timesBetween } from "./schedule";

const schedule = (every: object, time_zone = "Europe/Berlin", more: object = {}) =>
  ScheduleConfig.parse({ every, time_zone, ...more });
const after = (config: ScheduleConfig, from: string, n: number) =>
  nextTimes(config, Date.parse(from), n).map((time) => new Date(time).toISOString().slice(0, 16));
const problem = (config: object) =>
  ScheduleConfig.safeParse(config).error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);

about("planned times", () => {
  test.each([
    [{ unit: "minute", n: 15 }, "Every 15 minutes", ["10:15", "10:30"]],
    [{ unit: "minute" }, "Every minute", ["10:01", "10:02"]],
    [{ unit: "hour" }, "Every hour at :00", ["11:00", "12:00"]],
    [{ unit: "hour", n: 6, minute: 30 }, "Every 6 hours from 00:30", ["12:30", "18:30"]],
  ])("%j goes by the clock", (every, text, times) => {
    const config = schedule(every, "Asia/Tokyo");
    expect(describe(config)).toBe(`${text}, Asia/Tokyo`);
    // 10:00 in Tokyo.
    const local = nextTimes(config, Date.parse("2026-06-01T01:00:00Z"), 2).map((time) =>
      new Date(time + 9 * 3_600_000).toISOString().slice(11, 16),
    );
    expect(local).toEqual(times);
  });

  test.each([
    [{ unit: "day", at: "09:00" }, "Every day at 09:00", ["06-06", "06-07"]],
    [{ unit: "weekday", at: "09:00" }, "Every weekday at 09:00", ["06-08", "06-09"]],
    [
      { unit: "week", on: ["thursday", "monday"], at: "09:00" },
      "Every Monday and Thursday at 09:00",
      ["06-08", "06-11"],
    ],
    [{ unit: "month", day: 31, at: "09:00" }, "On day 31 of each month at 09:00", ["07-31", "08-31"]],
    [
      { unit: "month", day: "last", at: "09:00" },
      "On the last day of each month at 09:00",
      ["06-30", "07-31"],
    ],
    [{ cron: "0 9 * * MON#1" }, "Cron 0 9 * * MON#1", ["07-06", "08-03"]],
  ])("%j goes by the calendar", (every, text, days) => {
    const config = schedule(every);
    expect(describe(config)).toBe(`${text}, Europe/Berlin`);
    // A Friday, after 09:00.
    expect(after(config, "2026-06-05T12:00:00Z", 2)).toEqual(days.map((day) => `2026-${day}T07:00`));
  });

  test("a start counts, an end does not", () => {
    const config = schedule({ unit: "day", at: "09:00" }, "UTC", {
      starts_at: "2026-06-10T09:00:00Z",
      ends_at: "2026-06-12T09:00:00Z",
    });
    expect(after(config, "2026-06-01T00:00:00Z", 5)).toEqual(["2026-06-10T09:00", "2026-06-11T09:00"]);
  });

  test("a range begins with its first moment and ends before its last", () => {
    const range = timesBetween(
      schedule({ unit: "hour" }),
      Date.parse("2026-06-01T00:00:00Z"),
      Date.parse("2026-06-01T03:00:00Z"),
      10,
    );
    expect(range.map((time) => new Date(time).getUTCHours())).toEqual([0, 1, 2]);
  });
});

about("when the clock is changed", () => {
  test("a time that a clock change skips runs once, at the first moment after the gap", () => {
    const config = schedule({ unit: "day", at: "02:30" });
    expect(after(config, "2026-03-28T00:00:00Z", 3)).toEqual([
      "2026-03-28T01:30",
      "2026-03-29T01:00", // 03:00, which 02:59 is followed by
      "2026-03-30T00:30",
    ]);
    expect(after(schedule({ cron: "0,30 2,3 * * *" }), "2026-03-28T12:00:00Z", 3)).toEqual([
      "2026-03-29T01:00",
      "2026-03-29T01:30",
      "2026-03-30T00:00",
    ]);
  });

  test("a time that a clock change repeats runs only the first time", () => {
    const config = schedule({ unit: "day", at: "02:30" });
    expect(after(config, "2026-10-24T12:00:00Z", 2)).toEqual(["2026-10-25T00:30", "2026-10-26T01:30"]);
  });

  test("hours by number are times of day, so none is left out or repeated", () => {
    const config = schedule({ unit: "hour", n: 2 });
    expect(after(config, "2026-03-28T23:30:00Z", 2)).toEqual(["2026-03-29T01:00", "2026-03-29T02:00"]);
    expect(after(config, "2026-10-24T22:30:00Z", 2)).toEqual(["2026-10-25T00:00", "2026-10-25T03:00"]);
  });

  test("every minute and every hour are intervals, which stay even through both changes", () => {
    for (const from of ["2026-03-28T23:30:00Z", "2026-10-24T23:30:00Z"]) {
      const hours = nextTimes(schedule({ unit: "hour" }), Date.parse(from), 6);
      const gaps = hours.slice(1).map((time, k) => time - hours[k]!);
      expect(new Set(gaps)).toEqual(new Set([3_600_000]));
    }
  });
});

test("jitter delays a planned time by the same amount every time, and never past the next one", () => {
  const config = { jitter_s: 3600 };
  const due = dueAt(config, "trg_1", 0, 60_000);
  expect(due).toBe(dueAt(config, "trg_1", 0, 60_000));
  for (let k = 0; k < 200; k++) {
    const late = dueAt(config, `trg_${k}`, 0, 60_000);
    expect(late).toBeGreaterThanOrEqual(0);
    expect(late).toBeLessThan(60_000);
  }
  expect(dueAt({}, "trg_1", 5, 10)).toBe(5);
});

test.each([
  [{ every: { cron: "0 9 * *" }, time_zone: "UTC" }, /every\.cron: Use five fields/],
  [{ every: { unit: "day" }, time_zone: "UTC" }, /every: Use a unit/],
  [{ every: { cron: "0 25 * * *" }, time_zone: "UTC" }, /hour: 25/],
  [{ every: { cron: "0 0 30 2 *" }, time_zone: "UTC" }, /This date never comes/],
  [{ every: { cron: "2026-03-30T00:00:00" }, time_zone: "UTC" }, /five fields/],
  [{ every: { cron: "* * * * * *" }, time_zone: "UTC" }, /five fields/],
  [{ every: { unit: "minute", n: 45 }, time_zone: "UTC" }, /divides 60/],
  [{ every: { unit: "day", at: "24:00" }, time_zone: "UTC" }, /such as 09:00/],
  [{ every: { unit: "day", at: "09:00" }, time_zone: "Mars/Base" }, /time_zone: Use an IANA/],
  [{ every: { unit: "day", at: "09:00" }, time_zone: "+02:00" }, /time_zone: Use an IANA/],
  [{ every: { unit: "day", at: "09:00" }, time_zone: "UTC", catch_up_s: 5 }, /catch_up_s/],
  [
    {
      every: { unit: "day", at: "09:00" },
      time_zone: "UTC",
      starts_at: "2026-02-01T00:00:00Z",
      ends_at: "2026-01-01T00:00:00Z",
    },
    /ends_at: Set an end after/,
  ],
])("refuses %j", (config, message) => {
  expect(problem(config)?.join("\n")).toMatch(message);
});
