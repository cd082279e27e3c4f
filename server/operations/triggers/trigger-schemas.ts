import { z } from "zod";
import { TRIGGER_KINDS } from "@/server/domain/trigger/trigger";
import { Time, Values } from "../common-schemas";

export const Trigger = z.object({
  id: z.string(),
  workflow_id: z.string(),
  kind: z.enum(TRIGGER_KINDS),
  config: Values.meta({ description: "The settings of its kind; docs/http-api.md lists them" }),
  enabled: z.boolean(),
  has_secret: z.boolean().meta({ description: "Whether a webhook has signing secrets" }),
  has_password: z.boolean().meta({ description: "Whether a form requires a password" }),
  url: z.string().nullable().meta({ description: "Address of a form; null for other kinds" }),
  next_at: Time.nullable().meta({ description: "Next planned time of a schedule" }),
  failures: z
    .int()
    .meta({ description: "Number of failed fires in a row; at 10, it is disabled or reported" }),
  disabled_reason: z.string().nullable().meta({ description: "Why Troupe disabled it; null if it did not" }),
  created_at: Time,
  updated_at: Time,
});

/** Contains a webhook's key and address, which are shown only once. */
export const TriggerCreated = Trigger.extend({
  key: z.string().nullable().meta({ description: "Key of its address; null for kinds without one" }),
});

export const TriggerFire = z.object({
  key: z
    .string()
    .meta({ description: "The planned time, the ID of the delivery or the ID of the ended run" }),
  planned_at: Time,
  at: Time,
  status: z.enum(["pending", "buffered", "started", "skipped", "missed", "failed"]),
  run_id: z.string().nullable(),
  reason: z.string().nullable().meta({ description: "Why no run started" }),
  is_test: z.boolean(),
});

export const DisabledTrigger = Trigger.extend({ workflow_name: z.string() });
