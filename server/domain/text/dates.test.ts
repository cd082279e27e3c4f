import { expect, test } from "vitest";
import { formatTime, parseTime, timeByPattern, unknownDirective } from "./dates";

test.each([
  ["2026-01-31", "2026-01-31T00:00:00Z"],
  ["2024-02-29", "2024-02-29T00:00:00Z"],
  ["0001-01-01", "0001-01-01T00:00:00Z"],
  ["2026-01-31T08:30Z", "2026-01-31T08:30:00Z"],
  ["2026-01-31t08:30:15z", "2026-01-31T08:30:15Z"],
  ["2026-01-31 23:59:59Z", "2026-01-31T23:59:59Z"],
  ["2026-01-31T08:30:15.5Z", "2026-01-31T08:30:15.500Z"],
  ["2026-01-31T08:30:15.123456789Z", "2026-01-31T08:30:15.123Z"],
  ["2026-01-31T08:30:15+02:30", "2026-01-31T06:00:15Z"],
  ["2026-01-31T08:30:15-02:30", "2026-01-31T11:00:15Z"],
  ["2026-01-31T08:30:15+23:59", "2026-01-30T08:31:15Z"],
])("%s is read as %s", (text, expected) => {
  expect(formatTime(new Date(parseTime(text) ?? Number.NaN))).toBe(expected);
});

test.each([
  "",
  "soon",
  "2026-1-31",
  "26-01-31",
  "2026-02-29",
  "2026-00-10",
  "2026-13-10",
  "2026-01-00",
  "2026-01-32",
  "2026-01-31T08:30:00",
  "2026-01-31T24:00Z",
  "2026-01-31T08:60Z",
  "2026-01-31T08:30:60Z",
  "2026-01-31T08:30+24:00",
  "2026-01-31T08:30+02:60",
  "2026-01-31T08:30:15.Z",
  "2026-01-31T08:30:15.1234567890Z",
  " 2026-01-31",
  "2026-01-31Z",
])("a text that is no complete calendar date is not a time: %j", (text) => {
  expect(parseTime(text)).toBeNull();
});

test("a time is formatted by a pattern, each part with its fixed number of digits", () => {
  const late = new Date("2026-11-22T15:04:05.067Z");
  const early = new Date("0987-01-05T00:00:09Z");
  const pattern = "Y|y|m|B|b|d|e|j|A|a|H|I|M|S|L|p|F|T|s|Z|z|%".replace(/[A-Za-z%]/g, "%$&");
  expect(timeByPattern(late, pattern).split("|")).toEqual(
    "2026|26|11|November|Nov|22|22|326|Sunday|Sun|15|03|04|05|067|PM|2026-11-22|15:04:05|1795359845|UTC|+0000|%".split(
      "|",
    ),
  );
  expect(timeByPattern(early, pattern).split("|")).toEqual(
    "0987|87|01|January|Jan|05| 5|005|Friday|Fri|00|12|00|09|000|AM|0987-01-05|00:00:09|-31020105591|UTC|+0000|%".split(
      "|",
    ),
  );
});

test("a dash removes leading zeros and spaces, but never a whole part", () => {
  expect(timeByPattern(new Date("2026-01-05T00:00:00Z"), "%-d.%-m. %-e %-H %-j %-L %-Y %-%")).toBe(
    "5.1. 5 0 5 0 2026 %",
  );
});

test("noon and midnight are 12 o'clock", () => {
  const hours = ["00:00", "11:59", "12:00", "23:59"].map((clock) =>
    timeByPattern(new Date(`2026-01-05T${clock}Z`), "%I:%M %p"),
  );
  expect(hours).toEqual(["12:00 AM", "11:59 AM", "12:00 PM", "11:59 PM"]);
});

test.each([
  ["%Y-%m-%d", null],
  ["", null],
  ["100%%", null],
  ["%-d", null],
  ["%Q and %K", "%Q"],
  ["%Y %", "%"],
  ["%-", "%-"],
  ["%-Q", "%-Q"],
  ["%constructor", "%c"],
  ["%1", "%1"],
  ["%\n", "%\n"],
])("an unknown part of a date pattern is named: %j, %j", (pattern, unknown) => {
  expect(unknownDirective(pattern)).toBe(unknown);
});

test("an unknown part of a date pattern is kept as written", () => {
  expect(timeByPattern(new Date("2026-01-05T00:00:00Z"), "%Q %Y %1 %")).toBe("%Q 2026 %1 %");
});
