import { expect } from "vitest";
import type { RunEvent } from "@/server/domain/run/events";
import { newStage } from "@/server/runner/testing";
import { DRAWINGS, newWorld, ROLES } from "./world";

export type Drawing = keyof typeof DRAWINGS;
type Stage = ReturnType<typeof newStage>;

export const start = (stage: Stage, drawing: Drawing, who: string) =>
  stage.start(DRAWINGS[drawing], { roles: ROLES, input: { who } });

/** Approves every question until all of these runs have ended. */
export async function finish(stage: () => Stage, ids: readonly string[]): Promise<void> {
  await expect
    .poll(
      () => {
        const { host, store } = stage();
        for (const id of ids)
          for (const { status, requested } of Object.values(store.state(id)?.interactions ?? {}))
            if (status === "open")
              host.steering.answer(id, requested.interaction_id, requested.fingerprint, {
                answer: "approve",
                by: "ann",
              });
        return ids.filter((id) => store.find(id)?.status !== "finished");
      },
      { timeout: 60_000, interval: 20 },
    )
    .toEqual([]);
}

const isRepeatWarning = (event: RunEvent) =>
  event.type === "warning" && event.payload.code === "MAY_HAVE_HAPPENED_TWICE";

/** The outcome of a run, without what differs between any two runs: times, the order of parallel steps, repeated calls. */
export function outcome({ store }: Stage, id: string) {
  const state = store.state(id)!;
  const events: RunEvent[] = store.events(id, 0, 1e6);
  return {
    status: state.run.final_status,
    state: state.state,
    events: events
      .filter((event) => !isRepeatWarning(event))
      .map(({ type, node_id }) => [type, node_id].filter(Boolean).join(" "))
      .toSorted(),
    seqs: events.map(({ seq }) => seq).every((seq, at) => seq === at + 1),
  };
}

/** The outcomes of the same runs in one process. */
export async function twins(runs: readonly (readonly [Drawing, string])[]) {
  const stage = newStage({ ...newWorld("embedded", () => {}, 1), maxRuns: 100 });
  const ids = runs.map(([drawing, who]) => start(stage, drawing, who));
  await finish(() => stage, ids);
  const outcomes = ids.map((id) => outcome(stage, id));
  await stage.host.drain(0);
  return outcomes;
}
