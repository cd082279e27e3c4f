/** What models were paid, in US dollars: what is known of it, and how many calls have no known price. */
export interface Paid {
  /** Null: nothing of it is known. */
  cost_usd: number | null;
  unknown_cost_calls: number;
}

/** The known part of a cost for programs: null, not zero, if no price is known. */
export const knownCost = ({ cost_usd, unknown_cost_calls }: Paid): number | null =>
  unknown_cost_calls > 0 && !cost_usd ? null : cost_usd;

/** The cost of one call, whose price may be unknown (null). */
export const ofOneCall = (cost_usd: number | null): Paid => ({
  cost_usd,
  unknown_cost_calls: cost_usd === null ? 1 : 0,
});

/** A cost as text: "$0.012", "$0.012 + 2 calls with unknown price", "Price unknown". */
export function formatCost(paid: Paid): string {
  const known = knownCost(paid);
  if (known === null) return "Price unknown";
  const { unknown_cost_calls: unknown } = paid;
  return unknown > 0
    ? `${formatDollars(known)} + ${unknown} ${unknown === 1 ? "call" : "calls"} with unknown price`
    : formatDollars(known);
}

/** US dollars with as many digits as say something. */
export function formatDollars(usd: number): string {
  if (usd === 0) return "$0";
  if (usd < 0.0001) return "< $0.0001";
  return `$${usd < 0.1 ? usd.toFixed(4) : usd < 10 ? usd.toFixed(3) : usd.toFixed(2)}`;
}
