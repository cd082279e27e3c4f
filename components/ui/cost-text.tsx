import clsx from "clsx";

export interface CostTextProps {
  cost_usd: number | null;
  /** Calls whose price nobody knows; they are not free. */
  unknown_calls?: number | undefined;
  simulated?: boolean | undefined;
  className?: string | undefined;
}

/** An amount of money, honest about what is not known. */
export function CostText({ cost_usd, unknown_calls = 0, simulated, className }: CostTextProps) {
  const known = cost_usd ?? 0;
  const text = formatCost(known, unknown_calls, simulated);
  const more =
    unknown_calls > 0
      ? `${unknown_calls} ${unknown_calls === 1 ? "call has" : "calls have"} no known price`
      : undefined;
  return (
    <span className={clsx("whitespace-nowrap tabular-nums", className)} title={more}>
      {text}
    </span>
  );
}

/** The same as words, for sentences. */
export function formatCost(known: number, unknownCalls = 0, simulated = false): string {
  if (unknownCalls > 0) return known > 0 ? `${amount(known)} + unknown` : "Price unknown";
  if (known === 0) return simulated ? "No cost" : "$0";
  return amount(known);
}

function amount(usd: number): string {
  if (usd < 0.0001) return "< $0.0001";
  return `$${usd.toFixed(usd < 0.01 ? 4 : usd < 1 ? 3 : 2)}`;
}
