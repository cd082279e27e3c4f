import { foldRun, type Interaction, type RunState } from "@/server/domain/run";
import type { RunEvent, RunEventOf } from "@/server/domain/run/events";
import { isHeldByQuestion } from "@/server/domain/run/questions/asking";
import { openInteractions, openQuestions } from "@/server/domain/run/questions/open-questions";
import { outcomeText } from "@/server/domain/run/result";
import { workDone, workSince } from "@/server/domain/run/work-done";
import type { RunProgress, TurnWrite } from "@/server/store/runs/runs";
import type { TurnRecord } from "../durable/embedded-contract";

/** `asksAnew`: other questions are open after it than were before. */
export interface WrittenTurn {
  write: TurnWrite;
  asksAnew: boolean;
}

/** What is written of a run that is carried out, turn by turn: each says beside itself only what changes with it. */
export class TurnWriter {
  /** As the interpreter has it; null before it began. */
  state: RunState | null = null;
  private progress: RunProgress | null = null;
  /** What it asks people as far as it is written down; null before anything was. */
  private asking: readonly Interaction[] | null = null;

  /** `eventsTo`: the run's events up to a number, from its log. */
  constructor(private readonly eventsTo: (seq: number) => readonly RunEvent[]) {}

  write(turn: TurnRecord): WrittenTurn {
    const write: TurnWrite = { ...turn };
    const { state } = this;
    if (!state) return { write, asksAnew: false };
    const now = progressOf(state);
    if (!isSameProgress(this.progress, now)) write.progress = this.progress = now;
    const asksAnew = this.noteQuestions(state, write);
    // What a fork or a replay begins with was counted with its original.
    if (!state.run.forks && turn.events.some(endsForGood)) write.work = this.workOf(turn.runId, state);
    return { write, asksAnew };
  }

  /** Puts down in a turn what people are asked after it, where that is not what was put down last. Answers whether it is not. */
  private noteQuestions(state: RunState, write: TurnWrite): boolean {
    const [before, open] = [this.asking, openInteractions(state)];
    // Records of the state are replaced where they change, so the same ones say the same.
    if (before?.length === open.length && open.every((ask, at) => ask === before[at])) return false;
    this.asking = open;
    write.questions = openQuestions(state);
    return before !== null || open.length > 0;
  }

  /** What the run's crews did since it was counted last. */
  private workOf(runId: string, s: RunState): NonNullable<TurnWrite["work"]> {
    const { counted_to } = s.run;
    const done = workDone(s);
    if (counted_to === undefined) return { ...placeOf(s.run), done };
    const counted = workDone(foldRun(runId, this.eventsTo(counted_to)));
    return { ...placeOf(s.run), done: workSince(done, counted) };
  }
}

/** Where a run's work counts: as the settings were at its start, since that is what a later one can ask for. */
export const placeOf = ({
  workflow_id,
  provider_summary,
}: Pick<RunEventOf<"run_created">["payload"], "workflow_id" | "provider_summary">) => ({
  workflow_id,
  simulated: provider_summary?.simulated ?? false,
});

/** What the row of a run says, derived from its state. */
function progressOf(s: RunState): RunProgress {
  const { run, totals } = s;
  return {
    status: statusOf(s),
    final_status: run.final_status ?? null,
    reason_code: run.reason_code ?? null,
    simulated: run.simulated,
    cost_usd: totals.cost_usd,
    unknown_cost_calls: totals.unknown_cost_calls,
    input_tokens: totals.usage.input_tokens,
    output_tokens: totals.usage.output_tokens,
    started_at: run.started_at ?? null,
    finished_at: run.finished_at ?? null,
    outcome_text: outcomeText(s),
    waits_for:
      run.status === "finished"
        ? null
        : isAsking(s)
          ? "person"
          : isWaiting(s) && !run.paused_at
            ? waitsAlone(s)
            : null,
  };
}

/** How a run stands. */
export function statusOf(s: RunState): RunProgress["status"] {
  if (s.run.status === "finished") return "finished";
  if (s.run.paused_at) return "paused";
  return isWaiting(s) ? "waiting" : "running";
}

/** A run that stopped at a limit may go on. */
const endsForGood = (event: RunEvent) =>
  event.type === "run_finished" && event.payload.final_status !== "INCOMPLETE";

/** Whether a person is being asked, whatever else is running. */
function isAsking(s: RunState): boolean {
  for (const id of s.asking) if (s.interactions[id]?.status === "open") return true;
  return false;
}

/** Whether a run only waits, for times or people, with nothing running. */
function isWaiting(s: RunState): boolean {
  if ((s.ready.length > 0 || s.running.size === 0) && !isHeldByQuestion(s)) return false;
  for (const id of s.running) if (s.activations[id]?.status !== "waiting") return false;
  return true;
}

/** What brings one of those that wait on, without a person: another run, or a time. */
function waitsAlone(s: RunState): "run" | "time" | null {
  const waits = new Set([...s.running].map((id) => s.activations[id]?.waiting?.for));
  if (waits.delete("run")) return "run";
  waits.delete("signal");
  return waits.size > 0 ? "time" : null;
}

const isSameProgress = (a: RunProgress | null, b: RunProgress) =>
  a !== null &&
  a.status === b.status &&
  a.final_status === b.final_status &&
  a.input_tokens === b.input_tokens &&
  a.output_tokens === b.output_tokens &&
  a.cost_usd === b.cost_usd &&
  a.unknown_cost_calls === b.unknown_cost_calls &&
  a.simulated === b.simulated &&
  a.waits_for === b.waits_for;
