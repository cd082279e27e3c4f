import { z } from "zod";
import type { FormPart } from "@/server/domain/base/form";
import { Ms } from "@/server/domain/base/values";

/**
 * The thresholds after which a person is asked whether a run continues: errors, dollars, milliseconds of running time.
 * Each counts again from zero after it was passed. Errors: a failed attempt of a node, a failed tool call, and a crew's
 * agent that fails at its task or returns it. Calls without a known price cost nothing here.
 */
export const Escalate = z
  .object({
    after_errors: z.number().int().min(1).max(10_000),
    after_cost_usd: z.number().positive(),
    after_ms: Ms.min(1000).max(24 * 3_600_000),
    /** What the person should know about. */
    to: z.array(z.string().max(200)).max(20),
  })
  .partial();
export type Escalate = z.infer<typeof Escalate>;

/** The values that a run's thresholds are compared with. */
export interface Passed {
  errors: number;
  cost_usd: number;
  active_ms: number;
}
export type Threshold = keyof Passed;

/** How much of each may pass until a person is asked; undefined: any amount. */
export const thresholdsOf = ({ after_errors, after_cost_usd, after_ms }: Escalate) =>
  ({ errors: after_errors, cost_usd: after_cost_usd, active_ms: after_ms }) satisfies Record<
    Threshold,
    number | undefined
  >;

const DOLLARS = new Intl.NumberFormat("en-US", {
  style: "currency",
  currency: "USD",
  maximumFractionDigits: 4,
});

/** "3 errors", "$2.00", "10 minutes" */
export function amountText(of: Threshold, amount: number): string {
  const counted = (count: number, one: string) => `${count} ${count === 1 ? one : `${one}s`}`;
  if (of === "cost_usd") return DOLLARS.format(amount);
  if (of === "errors") return counted(amount, "error");
  return amount < 60_000
    ? counted(Math.round(amount / 1000), "second")
    : counted(Math.round(amount / 6000) / 10, "minute");
}

/** When a person is asked, as a sentence. */
export function escalateText(escalate: Escalate = {}): string {
  const set = thresholdsOf(escalate);
  const amounts = (Object.keys(set) as Threshold[]).flatMap((of) => {
    const amount = set[of];
    return amount === undefined ? [] : [amountText(of, amount).replace(/^1 /, "")];
  });
  if (amounts.length === 0) return "The run never asks whether to continue.";
  return `Asks a person whether to continue after every ${new Intl.ListFormat("en-US", { type: "disjunction" }).format(amounts)}.`;
}

/** The form of when a person is asked, in the settings of a run. */
export const ESCALATE_FORM: readonly FormPart<{ escalate?: Escalate | undefined }>[] = [
  {
    as: "group",
    title: "Escalation",
    parts: [
      { text: ({ escalate }) => escalateText(escalate) },
      {
        as: "columns",
        most: 2,
        parts: [
          { key: "escalate.after_errors", label: "Errors", as: "number", min: 1, placeholder: "Never" },
          {
            key: "escalate.after_cost_usd",
            label: "Spent",
            as: "decimal",
            unit: "US$",
            min: 0.01,
            step: 0.1,
            placeholder: "Never",
          },
        ],
      },
      {
        key: "escalate.after_ms",
        label: "Time",
        as: "milliseconds",
        hint: "Running time, excludes waiting",
        max: 24 * 3_600_000,
      },
      {
        key: "escalate.to",
        label: "Expertise",
        as: "texts",
        itemName: "subject",
        hint: "What the person should know about",
      },
    ],
  },
];
