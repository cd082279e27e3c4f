import { must } from "@/server/domain/base/must";

/** Times as expressions and templates read and write them: RFC 3339, or the date alone for its midnight (UTC). */

const TIME =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:([Zz])|([+-])(\d\d):(\d\d)))?$/;

/** Milliseconds since 1970, or null for what is no such time or is not in the calendar. */
export function parseTime(text: string): number | null {
  const found = text.length <= 40 ? TIME.exec(text) : null;
  if (!found) return null;
  const [
    ,
    year,
    month,
    day,
    hour = "0",
    minute = "0",
    second = "0",
    fraction = "",
    ,
    sign,
    zoneHour,
    zoneMinute,
  ] = found;
  const at = new Date(0);
  at.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  at.setUTCHours(Number(hour), Number(minute), Number(second), Number(fraction.padEnd(3, "0").slice(0, 3)));
  const isReal =
    at.getUTCMonth() === Number(month) - 1 &&
    at.getUTCDate() === Number(day) &&
    Number(hour) < 24 &&
    Number(minute) < 60 &&
    Number(second) < 60 &&
    Number(zoneHour ?? 0) < 24 &&
    Number(zoneMinute ?? 0) < 60;
  if (!isReal) return null;
  const offset = (Number(zoneHour ?? 0) * 60 + Number(zoneMinute ?? 0)) * 60_000;
  return at.getTime() - (sign === "-" ? -offset : offset);
}

/** As RFC 3339 in UTC, without a fraction of zero. */
export function formatTime(at: Date): string {
  return at.toISOString().replace(".000Z", "Z");
}

export type TimePart =
  | "FullYear"
  | "Month"
  | "Date"
  | "DayOfMonth"
  | "DayOfWeek"
  | "DayOfYear"
  | "Hours"
  | "Minutes"
  | "Seconds"
  | "Milliseconds";

/** A part of a time as a clock in that zone shows it; null if there is no such zone. */
export function partOfTime(at: Date, part: TimePart): number;
export function partOfTime(at: Date, part: TimePart, zone: string): number | null;
export function partOfTime(at: Date, part: TimePart, zone = "UTC"): number | null {
  const local = localTime(at, zone);
  if (local === null) return null;
  switch (part) {
    case "FullYear":
      return local.getUTCFullYear();
    case "Month":
      return local.getUTCMonth();
    case "Date":
      return local.getUTCDate();
    case "DayOfMonth":
      return local.getUTCDate() - 1;
    case "DayOfWeek":
      return local.getUTCDay();
    case "DayOfYear": {
      const first = new Date(local);
      first.setUTCMonth(0, 1);
      return Math.round((local.getTime() - first.getTime()) / 86_400_000);
    }
    case "Hours":
      return local.getUTCHours();
    case "Minutes":
      return local.getUTCMinutes();
    case "Seconds":
      return local.getUTCSeconds();
    case "Milliseconds":
      return local.getUTCMilliseconds();
  }
}

/** A time whose UTC parts are what a clock in that zone shows. */
function localTime(at: Date, zone: string): Date | null {
  if (zone === "UTC") return at;
  const offset = /^([+-]?)(\d\d):(\d\d)$/.exec(zone);
  if (offset) {
    if (Number(offset[2]) > 23 || Number(offset[3]) > 59) return null;
    const minutes = Number(offset[2]) * 60 + Number(offset[3]);
    return new Date(at.getTime() + (offset[1] === "-" ? -1 : 1) * minutes * 60_000);
  }
  const clock = clockOf(zone);
  if (clock === null) return null;
  const parts = Object.fromEntries(clock.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const local = new Date(0);
  local.setUTCFullYear(must(parts, "year"), must(parts, "month") - 1, parts.day);
  local.setUTCHours(must(parts, "hour"), parts.minute, parts.second, ((at.getTime() % 1000) + 1000) % 1000);
  return local;
}

// There are a few hundred zones; making a clock costs far more than reading it.
const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(zone: string): Intl.DateTimeFormat | null {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,49}$/.test(zone)) return null;
  const key = zone.toLowerCase();
  const known = clocks.get(key);
  if (known) return known;
  try {
    const clock = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    clocks.set(key, clock);
    return clock;
  } catch {
    return null;
  }
}

const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const two = (value: number) => String(value).padStart(2, "0");
const clock12 = (at: Date) => at.getUTCHours() % 12 || 12;

/** What stands for a part of a time in a pattern like %Y-%m-%d; %-d is without a leading zero. */
const DIRECTIVES: Readonly<Record<string, (at: Date) => string>> = {
  Y: (at) => String(at.getUTCFullYear()).padStart(4, "0"),
  y: (at) => two(at.getUTCFullYear() % 100),
  m: (at) => two(at.getUTCMonth() + 1),
  B: (at) => must(MONTHS, at.getUTCMonth()),
  b: (at) => must(MONTHS, at.getUTCMonth()).slice(0, 3),
  d: (at) => two(at.getUTCDate()),
  e: (at) => String(at.getUTCDate()).padStart(2, " "),
  j: (at) => String(partOfTime(at, "DayOfYear") + 1).padStart(3, "0"),
  A: (at) => must(DAYS, at.getUTCDay()),
  a: (at) => must(DAYS, at.getUTCDay()).slice(0, 3),
  H: (at) => two(at.getUTCHours()),
  I: (at) => two(clock12(at)),
  M: (at) => two(at.getUTCMinutes()),
  S: (at) => two(at.getUTCSeconds()),
  L: (at) => String(at.getUTCMilliseconds()).padStart(3, "0"),
  p: (at) => (at.getUTCHours() < 12 ? "AM" : "PM"),
  F: (at) => at.toISOString().slice(0, 10),
  T: (at) => at.toISOString().slice(11, 19),
  s: (at) => String(Math.floor(at.getTime() / 1000)),
  Z: () => "UTC",
  z: () => "+0000",
  "%": () => "%",
};

/** A time in UTC by a pattern. */
export function timeByPattern(at: Date, pattern: string): string {
  return pattern.replace(/%(-?)([A-Za-z%])/g, (whole, dash: string, letter: string) => {
    if (!Object.hasOwn(DIRECTIVES, letter)) return whole;
    const text = must(DIRECTIVES, letter)(at);
    return dash ? text.replace(/^[0 ]+(?=.)/, "") : text;
  });
}

/** The first part of a pattern that stands for nothing, or null. */
export function unknownDirective(pattern: string): string | null {
  for (const [whole, letter] of pattern.matchAll(/%-?(.?)/gs))
    if (!letter || !Object.hasOwn(DIRECTIVES, letter)) return whole;
  return null;
}
