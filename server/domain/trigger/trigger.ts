import { z } from "zod";
import { StateKey } from "@/server/domain/base/values";
import {
  checkExpression,
  MAX_EXPRESSION_LENGTH,
  withStateNamed,
} from "@/server/domain/text/expression/expression";
import { ScheduleConfig } from "./schedule";

/** Names that expressions of a webhook may read: the parts of a delivery. */
export const DELIVERY_NAMES = ["body", "headers", "query"] as const;
/** Names that expressions of a “Workflow ended” trigger may read, besides `output`. */
export const ENDED_NAMES = ["error", "status", "run_id"] as const;

/** An expression for each input of a run. */
const mapping = (names: readonly string[]) =>
  z.record(
    StateKey,
    z
      .string()
      .max(MAX_EXPRESSION_LENGTH)
      .superRefine((text, context) => {
        for (const { message } of checkExpression(withStateNamed(text, names)))
          context.addIssue({ code: "custom", message });
      }),
  );

const TrustedKeys = z.array(StateKey).max(100).meta({
  description: "Inputs whose values count as a person's own words. Only a person can set it",
});

const WebhookConfig = z.strictObject({
  signature: z.enum(["none", "standard", "github"]).default("none").meta({
    description: "`standard`: Standard Webhooks. `github`: X-Hub-Signature-256",
  }),
  respond: z.enum(["accepted", "result"]).default("accepted").meta({
    description: "`result`: wait up to 60 s for the run's end and return its output",
  }),
  input: mapping(DELIVERY_NAMES).optional().meta({
    description:
      "Expressions over `body`, `headers` and `query`, by input. If omitted, the body's keys fill the inputs of the same names",
  }),
  tolerance_s: z.int().min(1).max(3600).default(300).meta({
    description: "How far the timestamp of a signature may be from the server's clock, in seconds",
  }),
  trusted_keys: TrustedKeys.optional(),
});

/** An origin that may embed a page, as in `frame-ancestors`. */
const FrameAncestor = z
  .string()
  .max(300)
  .regex(
    /^https?:\/\/(?:\*\.)?[a-z0-9.-]+(?::\d{1,5})?$/i,
    "Enter an origin, for example https://example.org",
  );

const FormConfig = z.strictObject({
  title: z.string().trim().max(200).optional(),
  description: z.string().trim().max(4000).optional(),
  frame_ancestors: z.array(FrameAncestor).max(50).default([]),
  runs_per_hour: z.int().min(1).max(1000).default(20),
  max_cost_usd_per_day: z.number().positive().max(1_000_000).nullable().default(null),
  trusted_keys: TrustedKeys.optional(),
});

const EndedConfig = z.strictObject({
  workflow_id: z.string().min(1).max(100),
  on: z
    .array(z.enum(["completed", "failed"]))
    .min(1)
    .max(2)
    .default(["completed"]),
  input: mapping(ENDED_NAMES).optional().meta({
    description:
      "Expressions over `output`, `error`, `status` and `run_id` of the ended run, by input. If omitted, its output fills the inputs of the same names",
  }),
  trusted_keys: TrustedKeys.optional(),
});

export const TRIGGER_KINDS = ["webhook", "schedule", "form", "workflow"] as const;
export type TriggerKind = (typeof TRIGGER_KINDS)[number];

/** The kind and the settings of a trigger. */
export const TriggerSettings = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("webhook"), config: WebhookConfig }),
  z.strictObject({ kind: z.literal("schedule"), config: ScheduleConfig }),
  z.strictObject({ kind: z.literal("form"), config: FormConfig }),
  z.strictObject({ kind: z.literal("workflow"), config: EndedConfig }),
]);
export type TriggerSettings = z.output<typeof TriggerSettings>;
export type SettingsOf<K extends TriggerKind> = Extract<TriggerSettings, { kind: K }>;

/** Failed fires in a row after which a trigger is disabled or reported. */
export const MAX_FAILURES = 10;
/** Whether others write its input, so that they could make its runs fail. */
export const isOpenToOthers = (kind: TriggerKind): boolean => kind === "webhook" || kind === "form";
/** Maximum length of a chain of ended runs that start one another. */
export const MAX_DEPTH = 5;

/** The end of a run of one workflow starts a run of another. */
export interface EndLink {
  after: string;
  starts: string;
}

/** Whether a link would let a workflow start itself, directly or through others. */
export function closesLoop(links: readonly EndLink[], { after, starts }: EndLink): boolean {
  const reached = new Set([starts]);
  for (const from of reached) for (const link of links) if (link.after === from) reached.add(link.starts);
  return reached.has(after);
}
