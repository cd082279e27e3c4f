import { z } from "zod";
import { MAIL_SECURITY } from "@/server/domain/base/notification-targets";
import { ProviderSettings } from "@/server/domain/model/provider";
import { NOTICE_CHANNELS } from "@/server/store/notices";
import { KeepRules } from "@/server/store/runs/retention";
import { Time } from "./common-schemas";

export const NoticesShown = z.object({
  webhook: z.object({ is_on: z.boolean(), host: z.string() }).nullable(),
  email: z
    .object({
      is_on: z.boolean(),
      host: z.string(),
      port: z.int(),
      security: z.enum(MAIL_SECURITY),
      user: z.string(),
      from: z.string(),
      to: z.array(z.string()),
      has_password: z.boolean(),
    })
    .nullable(),
  troubles: z.array(
    z.object({
      channel: z.enum(NOTICE_CHANNELS),
      state: z.enum(["waiting", "failed"]).meta({ description: "waiting: retried at `due_at`" }),
      attempts: z.int(),
      created_at: Time,
      due_at: Time,
      fault: z.string(),
      run_id: z.string(),
      workflow_id: z.string().nullable(),
      workflow_name: z.string(),
    }),
  ),
});

const Bytes = z.number().meta({ description: "In bytes" });

export const StorageState = z.object({
  sizes: z.object({
    database: Bytes,
    free: Bytes.meta({ description: "Space in the database left by deleted runs, in bytes" }),
    can_shrink: z.boolean(),
    wal: Bytes,
    files: Bytes.meta({ description: "Run files in the database, in bytes" }),
    copies: z.object({ count: z.int(), bytes: Bytes }),
    runs: z.object({ finished: z.int(), held: z.int(), other: z.int() }),
  }),
  rules: KeepRules,
  outdated: z.int().meta({ description: "Number of finished runs that the retention rules would delete" }),
});

/** A provider of model calls. Its key and the values of its headers are never returned. */
export const ModelProvider = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.enum(["openai-compatible", "offline"]),
  base_url: z.string(),
  has_key: z.boolean(),
  header_names: z.array(z.string()).meta({ description: "Custom headers sent with each request" }),
  default_model: z.string(),
  is_default: z.boolean(),
  simulated: z.boolean().meta({ description: "Whether its answers come from rules, not a model" }),
  from_environment: z
    .boolean()
    .meta({ description: "Whether it is configured by environment variables; change it there" }),
  settings: ProviderSettings,
  is_damaged: z.boolean().optional().meta({
    description: "True if its settings can't be read; no calls are made until they are saved again",
  }),
});

export const ProviderCheck = z.object({
  ok: z.boolean(),
  message: z.string().meta({ description: "Confirmation that it works, or what is wrong and how to fix it" }),
  found: z.array(z.string()),
  models: z.array(z.string()),
  latency_ms: z.number(),
});
