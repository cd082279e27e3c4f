import { defineNode, type SchemaParts } from "./define";

/** Holds a branch for a while; the timer survives restarts. */
export const wait = defineNode({
  type: "wait",
  title: "Wait",
  hint: "Holds on for a while",
  icon: "timer",
  group: "flow",
  config: ({ z, Expr, Ms }: SchemaParts) =>
    z.object({
      ms: Ms.max(365 * 24 * 3_600_000).optional(),
      until: Expr.optional(),
      signal: z.string().max(80).optional(),
      timeout_ms: Ms.optional(),
    }),
  fields: [{ key: "ms", label: "For", as: "milliseconds" }],
  summary: (config) => (config.ms === undefined ? "No duration yet" : `For ${durationText(config.ms)}`),
  newConfig: () => ({ ms: 5000 }),
  newNode: () => ({ name: "Wait" }),
  faults: (config) => {
    if (config.until !== undefined || config.signal !== undefined)
      return [
        {
          severity: "error",
          code: "E_WAIT_KIND",
          message: "Waiting for a signal or a condition cannot run yet; give a duration.",
          field: "ms",
        },
      ];
    return config.ms === undefined
      ? [{ severity: "error", code: "E_WAIT_KIND", message: "Say how long to wait.", field: "ms" }]
      : [];
  },
  *run(config, ctx) {
    yield* ctx.sleep("timer", config.ms ?? 0);
    return { output: {} };
  },
});

/** A duration in words: 1500 -> "1.5 s". */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${+(ms / 1000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${+(ms / 60_000).toFixed(1)} min`;
  return `${+(ms / 3_600_000).toFixed(1)} h`;
}
