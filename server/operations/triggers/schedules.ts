import { z } from "zod";
import { Time } from "../common-schemas";
import { operationsOf } from "../operation";
import { TriggerFire } from "./trigger-schemas";
import { namesTrigger, triggerOf } from "./triggers";

const { mutation, query } = operationsOf("Triggers");

const ByTrigger = z.object({ trigger_id: z.string() });
const Instant = z.iso.datetime({ offset: true });

/** Planned times of schedules. */
export const scheduleOperations = {
  upcoming: query({
    name: "listPlannedTimes",
    summary: "List next and missed planned times of a schedule",
    about: "A disabled schedule has no next planned times. `missed` lists the newest first.",
    needs: "read",
    input: ByTrigger.extend({ count: z.coerce.number().int().min(1).max(100).default(5) }),
    output: z.object({
      description: z.string().meta({ description: "For example: Every weekday at 09:00, Europe/Berlin" }),
      next: z.array(Time),
      missed: z.array(TriggerFire),
      buffered: z.int().meta({ description: "Number of fires that wait for an earlier run to end" }),
    }),
    problems: ["not_found", "not_now"],
    http: { route: "GET /triggers/{id}/upcoming", success: "The planned times" },
    cli: [{ form: "trigger next TRIGGER", ...namesTrigger }],
    run: (services, { trigger_id, count }) =>
      services.triggers.upcoming(triggerOf(services, trigger_id), count),
  }),

  backfill: mutation({
    name: "backfillSchedule",
    summary: "Run a schedule for past planned times",
    about:
      "Covers planned times from `from` up to, but not including, `to`. Skips those that have a run. At most 1,000 can wait, including those that already do. The runs start one after another; with `allow_all`, in parallel. Without `confirm`, only counts them.",
    needs: "run",
    input: ByTrigger.extend({ from: Instant, to: Instant, confirm: z.boolean().default(false) }).strict(),
    output: z.object({
      count: z.int().meta({ description: "Number of planned times without a run" }),
      already_run: z.int().meta({ description: "Number of planned times that have a run" }),
      confirmed: z.boolean(),
    }),
    problems: ["bad_request", "not_found", "not_now"],
    http: { route: "POST /triggers/{id}/backfill", success: "The number of planned times" },
    cli: [{ form: "trigger backfill TRIGGER --from TIME --to TIME [--confirm]", ...namesTrigger }],
    run: (services, { trigger_id, from, to, confirm }) =>
      services.triggers.backfill(triggerOf(services, trigger_id), {
        ...{ from: Date.parse(from), to: Date.parse(to), confirm },
      }),
  }),
};
