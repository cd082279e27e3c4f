import type { RunState } from "..";
import { type Detector, of, placeOf } from "./finding";

/** Two branches wrote the same key without a way to merge them, and one of the values was dropped. */
export const workOverwritten: Detector = ({ events, state }) =>
  of(events, "state_conflict").map((event) => {
    const { key, writers, winner } = event.payload;
    const loser = writers.find((writer) => writer !== winner) ?? writers[0];
    return {
      kind: "work_overwritten",
      ...placeOf(event),
      said: `${nameOf(state, writers[0])} and ${nameOf(state, writers[1])} both wrote "${key}"; the value from ${nameOf(state, loser)} was dropped.`,
      advice: `Give them separate keys, or give "${key}" a merge rule that keeps both, such as append.`,
    };
  });

function nameOf({ graph }: RunState, writer: string): string {
  const id = writer.split("#")[0] ?? writer;
  return graph.nodes[id]?.name || id;
}
