import { Cron } from "croner";
import { z } from "zod";
import { isSameJson } from "../base/json";
import { sizeOf, sizeText } from "../base/sizes";
import { JsonObject } from "../base/values";
import { textHash } from "../text/text-hash";

const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;

const At = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, "Use a time such as 09:00");
const divisor = (of: number, parts: string) =>
  z
    .number()
    .int()
    .positive()
    .refine((n) => n < of && of % n === 0, `Use a number that divides ${of} ${parts} evenly`);
const Instant = z.iso.datetime({ offset: true, error: "Use a time such as 2026-01-31T09:00:00Z" });

const Preset = z.discriminatedUnion("unit", [
  z.strictObject({ unit: z.literal("minute"), n: divisor(60, "minutes").default(1) }),
  z.strictObject({
    unit: z.literal("hour"),
    n: divisor(24, "hours").default(1),
    minute: z.number().int().min(0).max(59).default(0),
  }),
  z.strictObject({ unit: z.literal("day"), at: At }),
  /** Monday to Friday. */
  z.strictObject({ unit: z.literal("weekday"), at: At }),
  z.strictObject({ unit: z.literal("week"), on: z.array(z.enum(WEEKDAYS)).min(1).max(7), at: At }),
  /** Months without that day are left out. */
  z.strictObject({
    unit: z.literal("month"),
    day: z.union([z.number().int().min(1).max(31), z.literal("last")]),
    at: At,
  }),
]);

const CronExpression = z.strictObject({
  cron: z
    .string()
    .trim()
    .max(200)
    .superRefine((cron, check) => {
      const problem = cronProblem(cron);
      // `continue` lets the union report this problem instead of saying that no option matches.
      if (problem !== null) check.addIssue({ code: "custom", message: problem, continue: true });
    }),
});

/** What happens at a planned time while an earlier run of the schedule has not ended. */
export const OverlapPolicy = z.enum([
  "skip",
  "buffer_one",
  "buffer_all",
  "cancel_other",
  "terminate_other",
  "allow_all",
]);

const YEAR_S = 366 * 86_400;
/** In characters. A schedule is read for each of its planned times. */
const MAX_INPUT = 64_000;

/** The config of a trigger of the kind `schedule`. */
export const ScheduleConfig = z
  .strictObject({
    every: z.union([Preset, CronExpression], {
      error: "Use a unit (minute, hour, day, weekday, week or month) with its fields, or a cron expression",
    }),
    /** IANA name; times of day are in this zone. */
    time_zone: z.string().max(64).refine(isTimeZone, "Use an IANA time zone such as Europe/Berlin"),
    overlap: OverlapPolicy.default("skip"),
    /** How late a run may start after downtime; later planned times are missed. */
    catch_up_s: z.number().int().min(10).max(YEAR_S).default(86_400),
    starts_at: Instant.exactOptional(),
    /** No run starts at this time or after it. */
    ends_at: Instant.exactOptional(),
    /** Maximum delay of a run after its planned time. */
    jitter_s: z.number().int().min(0).max(86_400).exactOptional(),
    input: JsonObject.default({}).refine(
      (input) => sizeOf(input) <= MAX_INPUT,
      `Use an input of at most ${sizeText(MAX_INPUT)}`,
    ),
  })
  .refine(
    ({ starts_at, ends_at }) =>
      starts_at === undefined || ends_at === undefined || Date.parse(starts_at) < Date.parse(ends_at),
    { path: ["ends_at"], message: "Set an end after the start" },
  );
export type ScheduleConfig = z.infer<typeof ScheduleConfig>;
type Every = ScheduleConfig["every"];
type Timing = Pick<ScheduleConfig, "every" | "time_zone" | "starts_at" | "ends_at">;

function isTimeZone(name: string): boolean {
  // An offset is not a zone: it has no daylight saving time.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/**
 * Times of day follow the zone's clock: one that a clock change skips moves to the first moment after the gap, and one that it
 * repeats counts once, the first time. A cron expression with `*` or a step in its minutes or hours is an interval instead: it
 * also runs in the repeated hour, and not for skipped times.
 */
const newCron = (cron: string, { time_zone, starts_at, ends_at }: Omit<Timing, "every">) =>
  new Cron(cron, {
    timezone: time_zone,
    mode: "5-part",
    fixedTimeRule: "no-wildcard",
    ...(starts_at === undefined ? {} : { startAt: new Date(starts_at) }),
    ...(ends_at === undefined ? {} : { stopAt: new Date(ends_at) }),
  });

function cronProblem(cron: string): string | null {
  // The library would also accept a date, which would be a schedule with one run.
  if (!/^(?:@[a-z]+|\S+(?:\s+\S+){4})$/.test(cron))
    return "Use five fields (minute, hour, day, month, weekday), such as 0 9 * * 1-5";
  try {
    return newCron(cron, { time_zone: "UTC" }).nextRuns(1, new Date(0)).length > 0
      ? null
      : "This date never comes";
  } catch (error) {
    return `Not a cron expression: ${(error as Error).message.replace(/^CronPattern: /, "")}`;
  }
}

function cronOf(every: Every): string {
  if ("cron" in every) return every.cron;
  if (every.unit === "minute") return `*/${every.n} * * * *`;
  if (every.unit === "hour") {
    // Listed hours are times of day, which a clock change never skips; a step would be an interval.
    const hours = Array.from({ length: 24 / every.n }, (_, k) => k * every.n);
    return `${every.minute} ${every.n === 1 ? "*" : hours.join(",")} * * *`;
  }
  const [hour, minute] = every.at.split(":").map(Number);
  const day = every.unit === "month" ? (every.day === "last" ? "L" : every.day) : "*";
  const weekday =
    every.unit === "weekday"
      ? "1-5"
      : every.unit === "week"
        ? every.on.map((name) => WEEKDAYS.indexOf(name) + 1).join(",")
        : "*";
  return `${minute} ${hour} ${day} * ${weekday}`;
}

/** The first `n` planned times after an instant, all in Unix milliseconds; fewer if the schedule ends. */
export const nextTimes = (timing: Timing, after: number, n: number): number[] =>
  newCron(cronOf(timing.every), timing)
    .nextRuns(n, new Date(after))
    .map((time) => time.getTime());

/** The planned times from an instant up to, but not including, another one; at most `max`. */
export const timesBetween = (timing: Timing, from: number, to: number, max: number): number[] =>
  nextTimes(timing, from - 1, max).filter((time) => time < to);

/**
 * The next planned time of a schedule that is being saved. `before`: the schedule so far, if enabled. A due time without a fire is
 * kept unless the timing changes.
 */
export function nextOnSave(
  config: ScheduleConfig,
  now: number,
  before?: { config: ScheduleConfig; next_at: number | null },
): number | null {
  const timing = ({ every, time_zone, starts_at, ends_at }: Timing) => [every, time_zone, starts_at, ends_at];
  if (before && before.next_at !== null && before.next_at <= now)
    if (isSameJson(timing(config), timing(before.config))) return before.next_at;
  return nextTimes(config, now, 1)[0] ?? null;
}

/**
 * When a planned time is due: with jitter, up to `jitter_s` later, but before the next one. Always the same for a schedule and a
 * planned time, so that a restart changes nothing.
 */
export function dueAt(
  config: Pick<ScheduleConfig, "jitter_s">,
  id: string,
  planned: number,
  next: number | undefined,
): number {
  const room = Math.min((config.jitter_s ?? 0) * 1000, (next ?? Number.POSITIVE_INFINITY) - planned - 1);
  return room > 0 ? planned + (textHash(`${id} ${planned}`) % (room + 1)) : planned;
}

/** The timing as text: "Every weekday at 09:00, Europe/Berlin". */
export const describe = ({ every, time_zone }: Timing): string => `${everyText(every)}, ${time_zone}`;

function everyText(every: Every): string {
  if ("cron" in every) return `Cron ${every.cron}`;
  switch (every.unit) {
    case "minute":
      return every.n === 1 ? "Every minute" : `Every ${every.n} minutes`;
    case "hour": {
      const minute = String(every.minute).padStart(2, "0");
      return every.n === 1 ? `Every hour at :${minute}` : `Every ${every.n} hours from 00:${minute}`;
    }
    case "day":
      return `Every day at ${every.at}`;
    case "weekday":
      return `Every weekday at ${every.at}`;
    case "week": {
      const days = WEEKDAYS.filter((day) => every.on.includes(day)).map(
        (day) => `${day[0]?.toUpperCase()}${day.slice(1)}`,
      );
      return `Every ${new Intl.ListFormat("en").format(days)} at ${every.at}`;
    }
    case "month":
      return every.day === "last"
        ? `On the last day of each month at ${every.at}`
        : `On day ${every.day} of each month at ${every.at}`;
  }
}
