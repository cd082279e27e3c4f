import { must } from "@/server/domain/base/must";
import type { JsonObject } from "@/server/domain/base/values";
import type { Analysis } from "@/server/domain/graph/analysis";
import type { RunState } from "@/server/domain/run";
import { isSince } from "@/server/domain/run/edition";

/** An end node that a run reached. */
export interface ReachedEnd {
  activationId: string;
  status: "COMPLETED" | "ERROR";
  givesAll: boolean;
}

/** The outputs of the reached End nodes, in graph order, whichever was reached first. */
export function outputOf(a: Analysis, s: RunState, ends: readonly ReachedEnd[]): JsonObject {
  const output: JsonObject = {};
  const place = ({ activationId }: ReachedEnd) => {
    const { node_id, order } = must(s.activations, activationId);
    return [must(a.position, node_id), order] as const;
  };
  const inOrder = ends.toSorted((one, other) => {
    const [[x, k], [y, n]] = [place(one), place(other)];
    return x - y || k - n;
  });
  // What branches wrote after such an end was reached belongs to the state that it gives.
  for (const { activationId, givesAll } of inOrder)
    Object.assign(output, givesAll ? s.state : must(s.activations, activationId).output);
  return output;
}

/** What the node that failed a run had written before; nothing in runs of before the third edition. */
export const keptOf = ({ run, state, writer, failing }: RunState): JsonObject =>
  isSince(run, 3) && failing?.activation_id !== undefined
    ? Object.fromEntries(Object.entries(state).filter(([key]) => writer[key] === failing.activation_id))
    : {};
