import { setImmediate } from "node:timers/promises";
import { errorMessage } from "@/server/domain/base/guards";
import { isSameJson } from "@/server/domain/base/json";
import { knownCost } from "@/server/domain/model/cost";
import { foldRun } from "@/server/domain/run";
import { pathOf } from "@/server/domain/scenario/checks/path";
import type { DeliveryComparison, DeliveryOutcome } from "@/server/domain/scenario/deliveries";
import { USUAL_START } from "@/server/domain/scenario/scenario-test";
import type { Journal } from "../durable/embedded-contract";
import { realAnswers, recordedAnswers, type TestParts } from "./answering";
import { isRecordable, testOfRun } from "./keep-run";
import { runScenario, type ScenarioRun, type Tested } from "./run-scenario";
import { type SpendingCap, SpendingCapReached } from "./spending-cap";

/** A fire and the finished run that it started. */
export interface Delivered {
  key: string;
  at: number;
  run_id: string;
  journal(): Journal & { version: number };
}

interface Replay {
  tested: Tested;
  delivered: readonly Delivered[];
  parts: TestParts;
  /** Real models answer unrecorded requests, up to this cap; absent: no call leaves the server. */
  spendingCap?: SpendingCap | undefined;
  aborted?: AbortSignal | undefined;
}

/**
 * Runs a workflow with past deliveries. Requests equal to recorded ones get the recorded answers; tools never have side effects.
 * Yields the thread between deliveries.
 */
export async function replayDeliveries({ delivered, ...how }: Replay): Promise<DeliveryComparison[]> {
  const done: DeliveryComparison[] = [];
  for (const one of delivered) {
    how.aborted?.throwIfAborted();
    done.push(await replayOne(one, how));
    await setImmediate();
  }
  return done;
}

async function replayOne(
  { key, at, run_id, journal: read }: Delivered,
  { tested, parts, spendingCap, aborted }: Omit<Replay, "delivered">,
): Promise<DeliveryComparison> {
  const journal = read();
  const events = journal.turns.flatMap((turn) => turn.events);
  const recorded = outcomeOf({ events, state: foldRun(run_id, events) });
  const about = { key, at, run_id, recorded, draft: null };
  const notRun = (sentence: string): DeliveryComparison => ({ ...about, status: "not_run", sentence });
  if (!isRecordable(journal)) return notRun("Another version of Troupe recorded it.");
  if (spendingCap?.why) return notRun(spendingCap.why);
  const fields = testOfRun(run_id, journal, key);
  const now = () => fields.starts_at ?? USUAL_START;
  const cassette = fields.answers;
  if (!cassette) return notRun("Its answers were not recorded.");
  const world = spendingCap
    ? realAnswers(parts, spendingCap, cassette, { now, isRecorded: true })
    : recordedAnswers(parts, cassette);
  try {
    const run = await runScenario(tested, fields, world, aborted);
    const stopped = unansweredIn(run);
    if (stopped !== null) return { ...about, status: "unanswered", sentence: stopped };
    const draft = outcomeOf(run);
    const isSame = draft.final_status === recorded.final_status && isSameJson(draft.output, recorded.output);
    return { ...about, draft, status: isSame ? "same" : "different", sentence: "" };
  } catch (error) {
    if (aborted?.aborted) throw error;
    return notRun(
      error instanceof SpendingCapReached ? error.message : `It could not finish: ${errorMessage(error)}`,
    );
  }
}

function unansweredIn({ missed, wrongAnswer, notRepeated, question, state }: ScenarioRun): string | null {
  const sentence = missed?.sentence ?? wrongAnswer ?? notRepeated;
  if (sentence) return sentence;
  if (question) return `A person would be asked “${question.title}”.`;
  return state.run.final_status ? null : "It would wait for something that was not recorded.";
}

function outcomeOf({ events, state }: Pick<ScenarioRun, "events" | "state">): DeliveryOutcome {
  const { run, totals } = state;
  return {
    final_status: run.final_status ?? null,
    output: run.output ?? null,
    error: run.error?.message ?? null,
    path: pathOf({ events }),
    tokens: totals.usage.input_tokens + totals.usage.output_tokens,
    cost_usd: knownCost(totals),
    simulated: run.simulated,
  };
}
