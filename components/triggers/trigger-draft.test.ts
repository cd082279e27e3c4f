import { expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import { type TriggerKind, TriggerSettings } from "@/server/domain/trigger/trigger";
import { configOf, draftErrors, draftOf, plannedInput } from "./trigger-draft";

const at = { time_zone: "Europe/Berlin", overlap: "allow_all", catch_up_s: 600, input: { name: "Ann" } };

test.each<[TriggerKind, JsonObject]>([
  ["schedule", { every: { unit: "minute", n: 15 }, ...at }],
  ["schedule", { every: { unit: "hour", n: 2, minute: 30 }, ...at }],
  ["schedule", { every: { unit: "week", on: ["friday"], at: "17:30" }, ...at, jitter_s: 5 }],
  ["schedule", { every: { unit: "month", day: "last", at: "06:00" }, ...at }],
  ["schedule", { every: { cron: "*/5 * * * 1-5" }, ...at, starts_at: "2026-12-01T00:00:00Z" }],
  ["webhook", { signature: "github", respond: "result", tolerance_s: 60, input: { name: "body.who" } }],
  [
    "form",
    { title: "Ask", frame_ancestors: ["https://example.org"], runs_per_hour: 3, trusted_keys: ["name"] },
  ],
  ["workflow", { workflow_id: "wf_1", on: ["failed"], input: { name: "output.name" } }],
])("the form of a stored %s trigger saves the same settings", (kind, config) => {
  const settings = TriggerSettings.parse({ kind, config });
  const stored = { id: "trg_1", enabled: true, has_password: false, ...settings };
  expect(configOf(kind, draftOf(stored), plannedInput(stored))).toEqual(settings.config);
});

test("invalid settings are reported by field", () => {
  const wrong = { every: { unit: "week", on: [], at: "25:00" }, time_zone: "Mars" };
  expect(Object.keys(draftErrors("schedule", wrong)).sort()).toEqual(["at", "on", "time_zone"]);
  expect(draftErrors("schedule", { every: { unit: "month", day: null, at: "09:00" } })).toHaveProperty("day");
  expect(Object.keys(draftErrors("workflow", { workflow_id: "a", on: [], input: { name: "((" } }))).toEqual([
    "ends",
    "input.name",
  ]);
});
