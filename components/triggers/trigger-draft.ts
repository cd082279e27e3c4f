import { defined } from "@/server/domain/base/defined";
import { choicesOf, type FormPart } from "@/server/domain/base/form";
import { issueText } from "@/server/domain/base/issues/issue-text";
import type { JsonObject } from "@/server/domain/base/values";
import { type TriggerKind, TriggerSettings } from "@/server/domain/trigger/trigger";

/** The values of the forms of all trigger kinds. */
export interface TriggerDraft {
  unit: "minute" | "hour" | "day" | "weekday" | "week" | "month" | "cron";
  every: number;
  minute: number;
  at: string;
  on: string[];
  day: string;
  cron: string;
  time_zone: string;
  overlap: string;
  catch_up_s: number;
  starts_at?: string;
  ends_at?: string;
  jitter_s?: number;
  signature: string;
  secret: string;
  respond: string;
  tolerance_s: number;
  title: string;
  description: string;
  has_password: boolean;
  password: string;
  frame_ancestors: string[];
  runs_per_hour: number;
  max_cost_usd_per_day: number | null;
  workflow_id?: string;
  ends: string[];
  /** Expressions, by input. */
  input: Readonly<Record<string, string>>;
  trusted_keys: string[];
}

export const NEW_TRIGGER: TriggerDraft = {
  unit: "day",
  every: 1,
  minute: 0,
  at: "09:00",
  on: ["monday"],
  day: "1",
  cron: "0 9 * * 1-5",
  time_zone: "UTC",
  overlap: "skip",
  catch_up_s: 86_400,
  signature: "none",
  secret: "",
  respond: "accepted",
  tolerance_s: 300,
  title: "",
  description: "",
  has_password: false,
  password: "",
  frame_ancestors: [],
  runs_per_hour: 20,
  max_cost_usd_per_day: null,
  ends: ["completed"],
  input: {},
  trusted_keys: [],
};

const UNITS = choicesOf<TriggerDraft["unit"]>({
  minute: "Every few minutes",
  hour: "Every few hours",
  day: "Every day",
  weekday: "Every weekday",
  week: "Every week",
  month: "Every month",
  cron: "Cron expression",
});

const DAYS = choicesOf({
  monday: "Monday",
  tuesday: "Tuesday",
  wednesday: "Wednesday",
  thursday: "Thursday",
  friday: "Friday",
  saturday: "Saturday",
  sunday: "Sunday",
});

const OVERLAPS = choicesOf({
  skip: { label: "Skip", hint: "Starts nothing while a run is in progress" },
  buffer_one: { label: "Queue one", hint: "Starts one run after the current one" },
  buffer_all: { label: "Queue all", hint: "Starts every run, one after another" },
  cancel_other: { label: "Cancel the current run", hint: "Starts once it has ended" },
  terminate_other: { label: "Replace the current run", hint: "Starts without waiting for its end" },
  allow_all: { label: "Run in parallel", hint: "Starts every run on time" },
});

type Slot = "inputs" | "trusted" | "workflow";
type Parts = readonly FormPart<TriggerDraft, Slot>[];

const hasTimeOfDay = ({ unit }: TriggerDraft) => ["day", "weekday", "week", "month"].includes(unit);

const SCHEDULE: Parts = [
  { key: "unit", label: "Runs", as: "choice", options: UNITS },
  {
    as: "columns",
    most: 2,
    parts: [
      {
        key: "every",
        label: "Minutes between runs",
        as: "number",
        min: 1,
        max: 30,
        hint: "A number that divides 60",
        showIf: ({ unit }) => unit === "minute",
      },
      {
        key: "every",
        label: "Hours between runs",
        as: "number",
        min: 1,
        max: 12,
        hint: "A number that divides 24",
        showIf: ({ unit }) => unit === "hour",
      },
      {
        key: "minute",
        label: "Minute",
        as: "number",
        min: 0,
        max: 59,
        showIf: ({ unit }) => unit === "hour",
      },
      {
        key: "day",
        label: "Day of the month",
        as: "suggest",
        suggestions: ["1", "15", "last"],
        hint: "1 to 31, or “last”",
        showIf: ({ unit }) => unit === "month",
      },
      { key: "at", label: "Time", as: "text", placeholder: "09:00", showIf: hasTimeOfDay },
    ],
  },
  { key: "on", label: "Days", as: "several", options: DAYS, showIf: ({ unit }) => unit === "week" },
  {
    key: "cron",
    label: "Cron expression",
    as: "text",
    isMono: true,
    isCode: true,
    hint: "Minute, hour, day, month, weekday",
    showIf: ({ unit }) => unit === "cron",
  },
  {
    key: "time_zone",
    label: "Time zone",
    as: "suggest",
    suggestions: Intl.supportedValuesOf("timeZone"),
  },
  { slot: "inputs" },
  {
    as: "box",
    title: "Overlap and catch-up",
    isOpen: ({ starts_at, ends_at, jitter_s }) => Boolean(starts_at || ends_at || jitter_s),
    parts: [
      { key: "overlap", label: "Overlap policy", as: "choice", options: OVERLAPS },
      {
        key: "catch_up_s",
        label: "Catch-up window",
        as: "seconds",
        hint: "How late a run may start after downtime",
      },
      {
        key: "jitter_s",
        label: "Jitter",
        as: "seconds",
        placeholder: "None",
        hint: "Starts up to this much later",
      },
      {
        as: "columns",
        most: 2,
        parts: [
          { key: "starts_at", label: "From", as: "text", placeholder: "2026-12-01T00:00:00Z" },
          { key: "ends_at", label: "Until", as: "text", placeholder: "2027-01-01T00:00:00Z" },
        ],
      },
    ],
  },
];

const WEBHOOK: Parts = [
  {
    key: "signature",
    label: "Signature",
    as: "choice",
    options: choicesOf({
      none: { label: "None", hint: "Whoever knows the address can start runs" },
      standard: { label: "Standard Webhooks", hint: "webhook-id, webhook-timestamp and webhook-signature" },
      github: { label: "GitHub", hint: "X-Hub-Signature-256" },
    }),
  },
  {
    key: "secret",
    label: "Signing secret",
    as: "secret",
    empty: "",
    hint: "Stored encrypted, never shown again",
    showIf: ({ signature }) => signature !== "none",
  },
  {
    key: "respond",
    label: "Response",
    as: "choice",
    options: choicesOf({
      accepted: { label: "Immediately", hint: "202 with the run's ID" },
      result: { label: "When the run ends", hint: "Its output, if it ends within 60 s" },
    }),
  },
  { slot: "inputs" },
  { slot: "trusted" },
];

const FORM: Parts = [
  { key: "title", label: "Title", as: "text", empty: "", placeholder: "The workflow's name", longest: 200 },
  { key: "description", label: "Description", as: "multiline", empty: "", longest: 4000, lines: 2 },
  {
    as: "box",
    title: "Access and limits",
    isOpen: () => true,
    parts: [
      {
        key: "has_password",
        label: "Ask for a password",
        as: "switch",
      },
      {
        key: "password",
        label: "Password",
        as: "secret",
        empty: "",
        hint: "Visitors enter it once",
        showIf: ({ has_password }) => has_password,
      },
      {
        key: "runs_per_hour",
        label: "Hourly runs per visitor",
        as: "number",
        min: 1,
        max: 1000,
        empty: 20,
      },
      {
        key: "max_cost_usd_per_day",
        label: "Daily cost per visitor",
        as: "decimal",
        unit: "USD",
        min: 0,
        placeholder: "None",
        empty: null,
      },
      {
        key: "frame_ancestors",
        label: "Embeddable on",
        as: "texts",
        itemName: "site",
        most: 50,
        hint: "Sites that may show the form in a frame, such as https://example.org",
      },
    ],
  },
  { slot: "trusted" },
];

const ENDED: Parts = [
  { slot: "workflow" },
  {
    key: "ends",
    label: "When it",
    as: "several",
    options: choicesOf({ completed: "Completes", failed: "Fails" }),
  },
  { slot: "inputs" },
  { slot: "trusted" },
];

export const TRIGGER_FORMS: Readonly<Record<TriggerKind, Parts>> = {
  schedule: SCHEDULE,
  webhook: WEBHOOK,
  form: FORM,
  workflow: ENDED,
};

/** The expressions that are filled in; undefined if none is. */
const mappingOf = (input: TriggerDraft["input"]) => {
  const filled = Object.entries(input).filter(([, text]) => text.trim() !== "");
  return filled.length > 0 ? { input: Object.fromEntries(filled) } : {};
};

/** The settings that a draft describes. `input`: of a schedule's runs. */
export function configOf(kind: TriggerKind, draft: TriggerDraft, input: JsonObject): JsonObject {
  const trusted = draft.trusted_keys.length > 0 ? { trusted_keys: draft.trusted_keys } : {};
  switch (kind) {
    case "schedule":
      return { ...timingOf(draft), input };
    case "webhook": {
      const { signature, respond, tolerance_s } = draft;
      return { signature, respond, tolerance_s, ...mappingOf(draft.input), ...trusted };
    }
    case "form": {
      const { title, description, frame_ancestors, runs_per_hour, max_cost_usd_per_day } = draft;
      return {
        ...(title.trim() && { title }),
        ...(description.trim() && { description }),
        ...{ frame_ancestors, runs_per_hour, max_cost_usd_per_day },
        ...trusted,
      };
    }
    case "workflow":
      return { workflow_id: draft.workflow_id ?? "", on: draft.ends, ...mappingOf(draft.input), ...trusted };
  }
}

function timingOf(draft: TriggerDraft): JsonObject {
  const { unit, every: n, minute, at, on, day, cron, starts_at, ends_at, jitter_s } = draft;
  const every = {
    minute: { unit, n },
    hour: { unit, n, minute },
    day: { unit, at },
    weekday: { unit, at },
    week: { unit, on, at },
    month: { unit, day: day === "last" ? day : Number(day), at },
    cron: { cron },
  }[unit];
  const { time_zone, overlap, catch_up_s } = draft;
  return {
    ...{ every, time_zone, overlap, catch_up_s },
    ...(starts_at && { starts_at }),
    ...(ends_at && { ends_at }),
    ...(jitter_s && { jitter_s }),
  };
}

/** Why settings are invalid, by field; an expression's key is "input.KEY". */
export function draftErrors(kind: TriggerKind, config: JsonObject): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const issue of TriggerSettings.safeParse({ kind, config }).error?.issues ?? []) {
    const [, first, second] = issue.path.map(String);
    // The field doesn't check the day of a month.
    const name = first === "every" ? (second ?? "day") : first === "input" ? `input.${second}` : first;
    const key = name === "n" ? "every" : name === "on" && kind === "workflow" ? "ends" : String(name);
    errors[key] ??= issueText(issue);
  }
  return errors;
}

/** A trigger has more than its settings. */
const settingsOf = ({ kind, config }: { kind: TriggerKind; config: unknown }): TriggerSettings | undefined =>
  TriggerSettings.safeParse({ kind, config }).data;

/** The draft of stored settings. */
export function draftOf(stored: { kind: TriggerKind; config: unknown; has_password: boolean }): TriggerDraft {
  const read = settingsOf(stored);
  if (!read) return NEW_TRIGGER;
  const { kind, config } = read;
  if (kind === "schedule") {
    const { every, input: _input, ...rest } = config;
    if ("cron" in every) return { ...NEW_TRIGGER, ...rest, unit: "cron", cron: every.cron };
    const { n = 1, day = 1, ...timing } = { n: undefined, day: undefined, ...every };
    return { ...NEW_TRIGGER, ...rest, ...timing, every: n, day: String(day) };
  }
  if (kind === "workflow") {
    const { on, ...rest } = config;
    return { ...NEW_TRIGGER, ...defined(rest), ends: on };
  }
  return { ...NEW_TRIGGER, ...defined(config), has_password: stored.has_password };
}

/** The password to send for a form; null removes it, undefined keeps it. */
export function passwordOf(
  { has_password, password }: TriggerDraft,
  stored: { has_password: boolean } | undefined,
): string | null | undefined {
  if (!has_password) return stored?.has_password ? null : undefined;
  return password === "" ? undefined : password;
}

/** The input of a schedule's runs. */
export function plannedInput(stored: { kind: TriggerKind; config: unknown } | undefined): JsonObject {
  const read = stored && settingsOf(stored);
  return read?.kind === "schedule" ? read.config.input : {};
}
