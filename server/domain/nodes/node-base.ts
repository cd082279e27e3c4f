import { z } from "zod";
import { Expr, Id, Json, Ms, StateKey } from "@/server/domain/base/values";

export const Join = z.union([
  z.enum(["all", "any", "each"]),
  z.object({ n: z.number().int().min(1), on_shortfall: z.enum(["skip", "error", "fire"]).default("error") }),
]);
export type Join = z.infer<typeof Join>;

export const RetryPolicy = z.object({
  max_attempts: z.number().int().min(1).max(10).default(1),
  initial_delay_ms: Ms.default(1000),
  backoff_factor: z.number().min(1).max(10).default(2),
  max_delay_ms: Ms.default(60_000),
  jitter: z.number().min(0).max(1).default(0.25),
  retry_on: z.array(z.string()).default(["TIMEOUT", "RATE_LIMIT", "TRANSIENT", "OUTPUT_INVALID"]),
});
export type RetryPolicy = z.infer<typeof RetryPolicy>;

/** What every node has, whatever its kind. */
export const nodeBase = {
  id: Id,
  name: z.string().max(200).default(""),
  description: z.string().max(4000).optional(),
  input_keys: z.array(StateKey).default([]),
  optional_input_keys: z.array(StateKey).default([]),
  output_keys: z.array(StateKey).default([]),
  /** Local name -> CEL over state, nodes, input, run. */
  input_mapping: z.record(StateKey, Expr).optional(),
  /** State key -> CEL over output, state. */
  output_mapping: z.record(StateKey, Expr).optional(),
  join: Join.default("all"),
  /** False: the node is passed through as skipped, its edges are still taken. */
  when: Expr.optional(),
  retry: RetryPolicy.prefault({}),
  on_error: z.enum(["fail_run", "error_edge", "continue", "skip_branch"]).default("fail_run"),
  default_output: z.record(StateKey, Json).optional(),
  run_timeout_ms: Ms.optional(),
  idle_timeout_ms: Ms.optional(),
  /** Nodes with the same key never run at the same time. */
  concurrency_key: z.string().max(80).optional(),
  breakpoint: z
    .preprocess(
      (value) => (value === true ? "before" : value === false ? undefined : value),
      z.enum(["before", "after"]).optional(),
    )
    .optional(),
  /** Only read where a loop begins. */
  max_iterations: z.number().int().min(1).max(1000).optional(),
  ui: z.object({ x: z.number(), y: z.number() }).catchall(Json).optional(),
};
export type NodeBase = z.infer<z.ZodObject<typeof nodeBase>>;
