import type { Db } from "@/db/open";
import { isPassing } from "@/server/domain/base/transient-error";
import { openQuestions } from "@/server/domain/run/questions/open-questions";
import { newAncestors } from "./ancestors";
import { newCrewWorkStore } from "./crew-work";
import { newRunQuestions } from "./questions";
import { newLogReader } from "./read-log";
import { newRunRemoval } from "./remove-runs";
import { newRunSignals } from "./run-signals";
import { newRunSummaries } from "./run-summaries";
import { newUnfinishedRuns } from "./unfinished-runs";
import { newLogWriter } from "./write-log";

export type { StoredTurn } from "./read-log";
export type { RunStatus } from "./run-list";
export type { RunOrigin, RunProgress, RunSummary } from "./run-summaries";
export type { UnfinishedRun } from "./unfinished-runs";
export type { NewRun, TurnWrite } from "./write-log";

export type RunStore = ReturnType<typeof newRunStore>;

/** Runs and their logs. All methods are synchronous: each is one statement or one transaction. */
export function newRunStore(db: Db, now: () => number = Date.now) {
  const { $client: client } = db;
  const crewWork = newCrewWorkStore(db);
  const questions = newRunQuestions(db, now);
  const log = newLogReader(db);
  const selectUnlisted = client.prepare<[], string>(
    `select id from runs where status in ('running', 'waiting', 'held') and (waits_for = 'person' or
     (waits_for is null and status <> 'running')) and not exists (select 1 from run_questions q where q.run_id = runs.id)`,
  );

  return {
    ...log,
    ...newLogWriter(db, { questions, crewWork }),
    ...newRunSummaries(db),
    ...newUnfinishedRuns(db),
    ...newRunSignals(db),
    ...newRunRemoval(db, now),

    ancestors: newAncestors(db),

    /** What the members of a graph's crews did in earlier runs. */
    pastWork: crewWork.past,

    /** Lists the questions of runs that waited for a person before there was a list of them. */
    listOldQuestions(): void {
      for (const id of selectUnlisted.pluck().all()) {
        try {
          const state = log.state(id);
          if (state) client.transaction(() => questions.replace(id, openQuestions(state))).immediate();
        } catch (error) {
          // A run that can't be read is quarantined when it is resumed, or already is; it doesn't stop the others.
          if (isPassing(error)) throw error;
        }
      }
    },
  };
}
