import { expect, test } from "vitest";
import type { Json } from "@/server/domain/base/values";
import { given, type Rejected, rejection, rejectionOf } from "../testing/outcome";

test.each<[string, Json]>([
  ["timestamp('2026-01-31')", "2026-01-31T00:00:00.000Z"],
  ["timestamp('2026-01-31T08:00Z')", "2026-01-31T08:00:00.000Z"],
  ["timestamp(1.5)", "1970-01-01T00:00:01.500Z"],
  ["timestamp(1767600429)", "2026-01-05T08:07:09.000Z"],
  ["timestamp(-62135596800)", "0001-01-01T00:00:00.000Z"],
  ["timestamp(now) == now", true],
  ["duration('1h2m3s4ms5us6ns')", "3723.004005006s"],
  ["duration(duration('5s'))", "5s"],
  ["string(duration('0.123456789s'))", "0.123456789s"],
  [
    "[duration('90m').getHours(), duration('90m').getMinutes(), duration('90m').getSeconds(), duration('1500ms').getMilliseconds()]",
    [1, 90, 5400, 1500],
  ],
  ["duration('-90m').getHours()", -1],
])("timestamps and durations are parsed: %s gives %j", (text, expected) => {
  expect(given(text)).toEqual(expected);
});

test.each<Rejected>([
  ["timestamp('2026-01-31T08:00:00')", "timestamp() accepts only times such as 2026-01-31 or"],
  ["timestamp(-62135596801)", "Time out of range: years go from 1 to 9999."],
  ["timestamp(253402300800)", "Time out of range: years go from 1 to 9999."],
  ["timestamp('x')", 'timestamp() accepts only times such as 2026-01-31 or 2026-01-31T08:00:00Z, not "x".'],
  ["duration('1')", 'duration() accepts only durations such as 90s, 15m or 1h30m, not "1".'],
  ["duration('')", 'duration() accepts only durations such as 90s, 15m or 1h30m, not "".'],
  ["duration('1x')", 'duration() accepts only durations such as 90s, 15m or 1h30m, not "1x".'],
  ["now.getHours('+5:30')", 'Unknown time zone "+5:30". Write it like Europe/Paris or +02:00.'],
  ["now.getHours('')", 'Unknown time zone "". Write it like Europe/Paris or +02:00.'],
  ["now.getHours('+24:00')", 'Unknown time zone "+24:00". Write it like Europe/Paris or +02:00.'],
])("an invalid time, duration or time zone is rejected: %s", (text, ...expected) => {
  expect(rejectionOf(text)).toEqual(rejection(text, ...expected));
});

const parts = [
  "FullYear",
  "Month",
  "Date",
  "DayOfMonth",
  "DayOfWeek",
  "DayOfYear",
  "Hours",
  "Minutes",
  "Seconds",
  "Milliseconds",
];
test.each([
  ["", [2026, 2, 8, 7, 0, 66, 23, 5, 9, 123]],
  ["'UTC'", [2026, 2, 8, 7, 0, 66, 23, 5, 9, 123]],
  ["'Asia/Tokyo'", [2026, 2, 9, 8, 1, 67, 8, 5, 9, 123]],
  // The day on which the clocks went forward there.
  ["'America/New_York'", [2026, 2, 8, 7, 0, 66, 19, 5, 9, 123]],
  ["'europe/paris'", [2026, 2, 9, 8, 1, 67, 0, 5, 9, 123]],
  ["'+05:30'", [2026, 2, 9, 8, 1, 67, 4, 35, 9, 123]],
  ["'-05:30'", [2026, 2, 8, 7, 0, 66, 17, 35, 9, 123]],
  ["'+23:59'", [2026, 2, 9, 8, 1, 67, 23, 4, 9, 123]],
])("the parts of a time follow the clock of its zone: %s", (zone, expected) => {
  const at = "timestamp('2026-03-08T23:05:09.123Z')";
  expect(given(`[${parts.map((part) => `${at}.get${part}(${zone})`).join(", ")}]`)).toEqual(expected);
});

test.each<[string, Json]>([
  ["timestamp('2024-12-31').getDayOfYear()", 365],
  ["timestamp('2023-12-31').getDayOfYear()", 364],
  ["timestamp('2024-01-01').getDayOfYear()", 0],
  ["timestamp('0001-01-01').getFullYear('Asia/Tokyo')", 1],
  ["timestamp('1969-12-31T23:59:59.900Z').getMilliseconds('Europe/Paris')", 900],
])("the parts of a time are correct at year ends and before 1970: %s gives %j", (text, expected) => {
  expect(given(text)).toEqual(expected);
});
