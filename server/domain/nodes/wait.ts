import { isObject } from "@/server/domain/base/guards";
import type { Json, JsonObject } from "@/server/domain/base/values";
import { defineNode, type SchemaParts } from "./define";

/** Holds a branch for a while, or until somebody sends a signal; both survive restarts. */
export const wait = defineNode({
  type: "wait",
  title: "Wait",
  hint: "Waits for a duration or a signal",
  icon: "timer",
  group: "flow",
  config: ({ z, Expr, Ms }: SchemaParts) =>
    z.object({
      ms: Ms.max(365 * 24 * 3_600_000).optional(),
      until: Expr.optional(),
      /** The name of the signal that it waits for, instead of a duration. */
      signal: z.string().max(80).optional(),
      /** Of a signal: how long it waits at most; then it fails. */
      timeout_ms: Ms.optional(),
    }),
  fields: [
    { key: "ms", label: "Duration", as: "milliseconds" },
    {
      key: "signal",
      label: "Signal",
      as: "text",
      hint: "Name used to send the signal via the API",
      isRare: true,
    },
    {
      key: "timeout_ms",
      label: "Signal timeout",
      as: "milliseconds",
      showIf: ({ signal }) => !!signal,
      isRare: true,
    },
  ],
  signal: ({ signal }) => signal,
  summary: ({ ms, signal }) => {
    if (signal) return `For the signal “${signal}”`;
    return ms === undefined ? "No duration yet" : `For ${durationText(ms)}`;
  },
  newConfig: () => ({ ms: 5000 }),
  newNode: () => ({ name: "Wait" }),
  validate: (config) => {
    const error = waitError(config);
    return error === null ? [] : [{ severity: "error", code: "E_WAIT_KIND", message: error, field: "ms" }];
  },
  *run(config, ctx) {
    if (!config.signal) {
      yield* ctx.sleep("timer", config.ms ?? 0);
      return { output: {} };
    }
    const data = yield* ctx.signal(config.signal, config.timeout_ms);
    return { output: outputOfSignal(ctx.node.output_keys, data) ?? {} };
  },
});

function waitError({
  ms,
  until,
  signal,
}: {
  ms?: number | undefined;
  until?: string | undefined;
  signal?: string | undefined;
}): string | null {
  if (until !== undefined) return "Waiting for a condition isn't supported yet. Use a duration or a signal.";
  if (signal && ms !== undefined) return "Set either a duration or a signal, not both.";
  return ms === undefined && !signal ? "Set a duration or a signal." : null;
}

/** What a node gives that waited for a signal with this; null where it lacks some of its keys. */
export function outputOfSignal(keys: readonly string[], data: Json): JsonObject | null {
  const values = isObject(data) ? data : {};
  const [key, ...others] = keys;
  if (key === undefined) return {};
  if (others.length === 0 && !Object.hasOwn(values, key)) return { [key]: data };
  return keys.every((one) => Object.hasOwn(values, one))
    ? Object.fromEntries(keys.map((one) => [one, values[one] ?? null]))
    : null;
}

/** A duration in words: 1500 -> "1.5 s". */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${+(ms / 1000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${+(ms / 60_000).toFixed(1)} min`;
  return `${+(ms / 3_600_000).toFixed(1)} h`;
}
