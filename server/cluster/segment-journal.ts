import { defined } from "@/server/domain/base/defined";
import { answersBefore, requestsOf } from "@/server/runner/lifecycle/fork";
import type { RunStore } from "@/server/store/runs/runs";
import type { SegmentStore } from "@/server/store/runs/segments";
import type { SegmentJournal } from "./protocol";

/**
 * What a worker needs of a run's log to carry the stretch out: up to where it begins, whatever came since. Null where that is
 * not the run's present stretch any more. Throws DamagedLog.
 */
export function segmentJournal(
  runs: Pick<RunStore, "journal" | "answers" | "ancestors">,
  segments: Pick<SegmentStore, "active">,
  runId: string,
  segment: number,
): SegmentJournal | null {
  const active = segments.active(runId);
  if (active?.stretch !== segment) return null;
  const { turns, timers, fork } = runs.journal(runId);
  const created = turns[0]?.events[0];
  const { from_run, replay } = (created?.type === "run_created" ? created.payload.forks?.at(-1) : null) ?? {};
  return {
    turns: turns.filter(({ turn }) => turn <= active.from_turn),
    timers: [...timers],
    ...(fork ? { fork } : {}),
    ...(from_run === undefined
      ? {}
      : {
          recorded: {
            run_id: from_run,
            ...defined({ replay }),
            answers: answersBefore(runs, runId, replay),
            requests: replay ? requestsOf(runs, from_run) : [],
          },
        }),
  };
}
