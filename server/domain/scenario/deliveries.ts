import { z } from "zod";
import { FinalStatus } from "@/server/domain/agent/outcome";
import { Json } from "@/server/domain/base/values";
import { Spending } from "./report";

/** How many deliveries one replay can cover. */
export const MOST_DELIVERIES = 50;

/** The outcome of a run. */
export const DeliveryOutcome = z.object({
  final_status: FinalStatus.nullable(),
  output: Json,
  error: z.string().nullable(),
  /** Node ids in the order of their starts. */
  path: z.array(z.string()),
  tokens: z.int(),
  /** US dollars; null: unknown. */
  cost_usd: z.number().nullable(),
  /** The offline demo model answered. */
  simulated: z.boolean(),
});
export type DeliveryOutcome = z.infer<typeof DeliveryOutcome>;

/**
 * same: status and output are equal. different: they differ. unanswered: the draft makes a call that was not recorded.
 * not_run: the delivery could not be replayed.
 */
export const DeliveryStatus = z.enum(["same", "different", "unanswered", "not_run"]);
export type DeliveryStatus = z.infer<typeof DeliveryStatus>;

export const DeliveryComparison = z.object({
  /** The key of the fire. */
  key: z.string(),
  /** Milliseconds since 1970. */
  at: z.int(),
  run_id: z.string(),
  status: DeliveryStatus,
  /** The reason, as a sentence; empty if the outcomes show it. */
  sentence: z.string(),
  recorded: DeliveryOutcome,
  /** Null unless the draft's run ended. */
  draft: DeliveryOutcome.nullable(),
});
export type DeliveryComparison = z.infer<typeof DeliveryComparison>;

export const DeliveryReplay = z.object({
  deliveries: z.array(DeliveryComparison),
  /** Recorded cost of the unanswered deliveries' runs, in US dollars; null: unknown. */
  estimate_usd: z.number().nullable(),
  /** Absent if no real model was called. */
  spending: Spending.optional(),
});
export type DeliveryReplay = z.infer<typeof DeliveryReplay>;
