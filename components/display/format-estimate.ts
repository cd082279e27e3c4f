import { formatDollars } from "@/server/domain/model/cost";
import { formatRange } from "./format";

export interface Estimated {
  /** Each from the least to the most that is likely. */
  calls: readonly number[];
  input_tokens: readonly number[];
  output_tokens: readonly number[];
  /** US dollars; null if a price is unknown, absent if not requested. */
  cost_usd?: readonly number[] | null;
}

/** What something will roughly take, in a few words: "4–9 calls, 6,000–21,000 tokens, $0.01–$0.04". */
export function formatEstimate({ calls, input_tokens, output_tokens, cost_usd }: Estimated): string {
  const tokens = (at: number) => (input_tokens[at] ?? 0) + (output_tokens[at] ?? 0);
  const count = formatRange(calls[0] ?? 0, calls[1] ?? 0);
  return [
    `${count} ${count === "1" ? "call" : "calls"}`,
    `${formatRange(tokens(0), tokens(1))} tokens`,
    ...(cost_usd === undefined ? [] : [costs(cost_usd)]),
  ].join(", ");
}

function costs(range: readonly number[] | null): string {
  if (range === null) return "price unknown";
  const [least = 0, most = 0] = range;
  return least === most ? formatDollars(most) : `${formatDollars(least)}–${formatDollars(most)}`;
}
