import { defined } from "@/server/domain/base/defined";
import { isSameJson } from "@/server/domain/base/json";
import type { Json } from "@/server/domain/base/values";
import type { RunState } from "..";

/** A key of the state before and after; absent where it was not there. */
export interface KeyChange {
  key: string;
  before?: Json;
  after?: Json;
}

/** The differences between one moment of a run and an earlier one. */
export interface StepChange {
  state: readonly KeyChange[];
  tokens: number;
  cost_usd: number;
  /** Calls whose price is unknown. */
  unknown_cost_calls: number;
}

type Values = Readonly<Record<string, Json>>;

/** The keys whose values differ, in the order of the later state, then those that are gone. */
export function changesBetween(before: Values, after: Values): KeyChange[] {
  const keys = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return keys.flatMap((key) => {
    const [old, now] = [before[key], after[key]];
    if (old === now || (old !== undefined && now !== undefined && isSameJson(old, now))) return [];
    return [{ key, ...defined({ before: old, after: now }) }];
  });
}

/** What a moment of a run remembers for comparing it with a later one. */
export type Moment = Pick<RunState, "totals"> & { state: Values };

/** A copy of what a state shows at this moment: the state itself changes in place. */
export const momentOf = ({ state, totals }: RunState): Moment => ({ state: { ...state }, totals });

/** What became other from one moment to a later one. */
export function stepChange(before: Moment, after: Moment): StepChange {
  const tokens = ({ totals: { usage } }: Moment) => usage.input_tokens + usage.output_tokens;
  return {
    state: changesBetween(before.state, after.state),
    tokens: tokens(after) - tokens(before),
    cost_usd: after.totals.cost_usd - before.totals.cost_usd,
    unknown_cost_calls: after.totals.unknown_cost_calls - before.totals.unknown_cost_calls,
  };
}
