import { formatCost, type Paid } from "@/server/domain/model/cost";
import type { RunState } from "@/server/domain/run";

/** What a run or one of its activations cost. Cancelled calls may have had a cost that was never reported. */
export function describeCost(
  { run, calls }: Pick<RunState, "run" | "calls">,
  { cost_usd, unknown_cost_calls, calls: ids = Object.keys(calls) }: Paid & { calls?: readonly string[] },
): string {
  const isFree = run.provider_summary?.simulated === true;
  const stopped = isFree ? 0 : ids.filter((id) => calls[id]?.status === "stopped").length;
  return formatCost({ cost_usd, unknown_cost_calls: unknown_cost_calls + stopped });
}
