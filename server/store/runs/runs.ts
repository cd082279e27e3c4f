import { and, eq, isNull, not, or, sql } from "drizzle-orm";
import { type Db, writeTransaction } from "@/db/open";
import {
  notices,
  runQuestions,
  runSignals,
  runs,
  runTimers,
  runTurns,
  segments,
  workspaceFiles,
} from "@/db/schema";
import { isPassing } from "@/server/domain/base/transient-error";
import type { Json } from "@/server/domain/base/values";
import { openQuestions } from "@/server/domain/run/questions/open-questions";
import { forgetMemoriesOf } from "../library/memories/memories";
import { ownJson } from "../own-json";
import { newAncestors } from "./ancestors";
import { hasOpenBelow, newChildRuns, removeBelow, runsBelow } from "./child-runs";
import { newCrewWorkStore } from "./crew-work";
import { newRunQuestions } from "./questions";
import { newLogReader } from "./read-log";
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
    ...newChildRuns(db),
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

/** What runs are sent from outside, kept until they take it in. */
function newRunSignals(db: Db) {
  const selectUntaken = db.$client
    .prepare<[string], string>(
      `select name from run_signals s where run_id = ? and name <> 'cancel'
       and not exists (select 1 from run_turns t where t.run_id = s.run_id and t.key = s.name) order by rowid`,
    )
    .pluck();
  return {
    /** Keeps a signal for a run; false if one of that name was sent before: the first wins. */
    signal(id: string, name: string, value: Json, at: number): boolean {
      const result = db
        .insert(runSignals)
        .values({ runId: id, name, value: JSON.stringify(value), sentAt: at })
        .onConflictDoNothing()
        .run();
      return result.changes === 1;
    },

    /** The signal of that name that was kept for a run. */
    sent(id: string, name: string): Json | undefined {
      const row = db
        .select({ value: runSignals.value })
        .from(runSignals)
        .where(and(eq(runSignals.runId, id), eq(runSignals.name, name)))
        .get();
      return row && ownJson<Json>(row.value);
    },

    /** What was sent and no turn has taken, in the order in which it came. */
    untaken(id: string): string[] {
      return selectUntaken.all(id);
    },

    /** Keeps a command under the next free name "control#k". */
    command(id: string, value: Json, at: number): string {
      return writeTransaction(db, () => {
        const row = db
          .select({ count: sql<number>`count(*)` })
          .from(runSignals)
          .where(and(eq(runSignals.runId, id), sql`${runSignals.name} like 'control#%'`))
          .get();
        const name = `control#${(row?.count ?? 0) + 1}`;
        db.insert(runSignals)
          .values({ runId: id, name, value: JSON.stringify(value), sentAt: at })
          .run();
        return name;
      });
    },
  };
}

/** Deletes finished runs: first into the bin, then permanently. */
function newRunRemoval(db: Db, now: () => number) {
  return {
    /** Moves a run to the bin with all runs below it, and frees its idempotency key. False unless all of them have ended. */
    remove(id: string): boolean {
      const finished = and(
        eq(runs.id, id),
        eq(runs.status, "finished"),
        isNull(runs.deletedAt),
        not(hasOpenBelow(id)),
      );
      const deletedAt = now();
      return writeTransaction(db, () => {
        const { changes } = db.update(runs).set({ deletedAt, idempotencyKey: null }).where(finished).run();
        if (changes > 0) removeBelow(db, id, deletedAt);
        return changes > 0;
      });
    },

    /** Restores a run from the bin, with what was moved there with it. False if it is not there. */
    restore(id: string): boolean {
      return writeTransaction(db, () => {
        const row = db.select({ at: runs.deletedAt }).from(runs).where(eq(runs.id, id)).get();
        if (!row?.at) return false;
        const together = and(
          or(eq(runs.id, id), sql`${runs.id} in ${runsBelow(id)}`),
          eq(runs.deletedAt, row.at),
        );
        return db.update(runs).set({ deletedAt: null }).where(together).run().changes > 0;
      });
    },

    /** Permanently deletes a finished run with everything that belongs to it. */
    purge(id: string): boolean {
      return writeTransaction(db, () => {
        const { changes } = db
          .delete(runs)
          .where(and(eq(runs.id, id), eq(runs.status, "finished")))
          .run();
        if (changes === 0) return false;
        for (const table of [
          runTurns,
          runTimers,
          runSignals,
          runQuestions,
          notices,
          workspaceFiles,
          segments,
        ])
          db.delete(table).where(eq(table.runId, id)).run();
        forgetMemoriesOf(db, id);
        return true;
      });
    },
  };
}
