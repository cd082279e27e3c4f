import { must } from "@/server/domain/base/must";
import { parseTime, partOfTime, type TimePart } from "../dates";
import {
  Duration,
  EvaluationError,
  MILLISECOND,
  SECOND,
  time,
  toDouble,
} from "../expression/expression-values";
import { TIME_UNITS } from "./as-text";
import { define, shown } from "./define";

const UNITS: Readonly<Record<string, bigint>> = {
  h: 3600n * SECOND,
  m: 60n * SECOND,
  s: SECOND,
  ms: MILLISECOND,
  us: 1000n,
  µs: 1000n,
  ns: 1n,
};

const PARTS: readonly (readonly [TimePart, hint: string])[] = [
  ["FullYear", "the year"],
  ["Month", "the month, January is 0"],
  ["Date", "the day of the month, from 1"],
  ["DayOfMonth", ""],
  ["DayOfWeek", "the day of the week, Sunday is 0"],
  ["DayOfYear", ""],
  ["Hours", "the hour"],
  ["Minutes", ""],
  ["Seconds", ""],
  ["Milliseconds", ""],
];
/** Looking up a zone's clock costs a few microseconds. */
const ZONE_UNITS = 250;

/** What expressions do with times and lengths of time. */
export const timeFunctions = [
  define(
    "timestamp(string): timestamp",
    "time such as 2026-01-31 or 2026-01-31T08:00:00Z",
    (_, s: string) => {
      const at = parseTime(s);
      if (at === null)
        throw new EvaluationError(
          `timestamp() accepts only times such as 2026-01-31 or 2026-01-31T08:00:00Z, not ${shown(s)}.`,
        );
      return time(at);
    },
  ),
  define("timestamp(number): timestamp", "", (_, seconds: unknown) => time(toDouble(seconds) * 1000)),
  define("timestamp(timestamp): timestamp", "", (_, at: Date) => at),
  define("duration(string): duration", "duration such as 90s, 1h30m", (w, s: string) => {
    w.spend(TIME_UNITS);
    const found = /^([+-]?)((?:\d{1,15}(?:\.\d{0,12})?|\.\d{1,12})(?:ns|us|µs|ms|s|m|h))+$/.exec(
      s.slice(0, 200),
    );
    if (!found || s.length > 200)
      throw new EvaluationError(
        `duration() accepts only durations such as 90s, 15m or 1h30m, not ${shown(s)}.`,
      );
    let nanos = 0n;
    for (const [, whole = "", fraction = "", unit = ""] of s.matchAll(
      /(?<!\d)(\d*)(?:\.(\d*))?(ns|us|µs|ms|s|m|h)/g,
    )) {
      const size = must(UNITS, unit);
      nanos += BigInt(whole || "0") * size + (BigInt(fraction.padEnd(12, "0")) * size) / 10n ** 12n;
    }
    return new Duration(found[1] === "-" ? -nanos : nanos);
  }),
  define("duration(duration): duration", "", (_, length: Duration) => length),
  ...PARTS.flatMap(([part, hint]) => [
    define(`timestamp.get${part}(): int`, hint, (_, at: Date) => BigInt(partOfTime(at, part))),
    define(`timestamp.get${part}(string): int`, "", (w, at: Date, zone: string) => {
      w.spend(ZONE_UNITS);
      const value = partOfTime(at, part, zone);
      if (value === null)
        throw new EvaluationError(`Unknown time zone ${shown(zone)}. Write it like Europe/Paris or +02:00.`);
      return BigInt(value);
    }),
  ]),
  ...(
    [
      ["Hours", 3600n * SECOND],
      ["Minutes", 60n * SECOND],
      ["Seconds", SECOND],
      ["Milliseconds", MILLISECOND],
    ] as const
  ).map(([part, nanos]) =>
    define(`duration.get${part}(): int`, "", (_, length: Duration) => length.nanos / nanos),
  ),
];
