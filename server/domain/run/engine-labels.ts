import type { EngineState, RunPlace, StalledRun, WorkerState } from "./engine-state";

// How engine, workers and the place of a run are told to people, in the app and in the terminal.

const workersIn = (count: number) => `${count} ${count === 1 ? "worker" : "workers"}`;

/** Who carries out runs: "This server", "3 workers over Restate". */
export function engineLabel({ kind, workers, at_work }: EngineState): string {
  const there = workers.filter(({ state }) => state !== "gone").length;
  if (kind === "restate")
    return there === 0 ? "Workers over Restate; none available" : `${workersIn(there)} over Restate`;
  if (at_work === 0) return "This server";
  return `This server; ${at_work === 1 ? "1 run is still finishing" : `${at_work} runs are still finishing`} over Restate`;
}

export const WORKER_STATE_LABELS: Readonly<Record<WorkerState["state"], string>> = {
  working: "Working",
  draining: "Draining: accepts no new runs",
  gone: "Offline: no heartbeat",
};

/** What a worker has to do: "3 of 16 runs". */
export const loadLabel = ({ running, limit }: Pick<WorkerState, "running" | "limit">) =>
  `${running} of ${limit} ${limit === 1 ? "run" : "runs"}`;

/** How much waits to be told to the engine; since when is for the reader to add. */
export const outboxLabel = (waiting: number) =>
  waiting === 0 ? "Empty" : `${waiting} ${waiting === 1 ? "message" : "messages"} waiting for the engine`;

const RESUME = "Resume it in Restate, or cancel the run.";

/** Why the engine cannot get on with a run, and what comes of it. */
export function stalledRunText({
  state,
  tries,
  cause,
}: Pick<StalledRun, "state" | "tries" | "cause">): string {
  const why = /[.!?]$/.test(cause) ? cause : `${cause}.`;
  const times = `${tries} ${tries === 1 ? "try" : "tries"}`;
  return state === "tried_again"
    ? `${why} Retrying automatically${tries > 0 ? `; ${times} so far` : ""}.`
    : `${why} Paused in the engine${tries > 0 ? ` after ${times}` : ""}. ${RESUME}`;
}

/** Where a run is carried out: "on worker-2, moved from worker-1 at 12:03". `timeOf` writes a moment. */
export function placeLabel(
  { state, worker, moved_from, moved_at }: RunPlace,
  timeOf: (at: number) => string,
): string {
  if (state === "engine_away") return "the engine is unreachable; the run keeps its position";
  if (state === "waits_for_worker" || worker === null)
    return worker === null ? "waiting for a worker" : `${worker} is offline: waiting for another worker`;
  // Another process of the same name is the same worker, started again.
  const how = moved_from === worker ? "restarted" : `moved from ${moved_from}`;
  const moved = moved_from === null ? "" : `, ${how}${moved_at === null ? "" : ` at ${timeOf(moved_at)}`}`;
  return `on ${worker}${moved}`;
}
