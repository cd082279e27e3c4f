import { and, asc, eq, inArray, or, sql } from "drizzle-orm";
import type { Db } from "@/db/open";
import { runs } from "@/db/schema";
import type { QuarantineReason } from "@/server/domain/run/quarantine";
import type { RunStatus } from "./run-list";

export interface UnfinishedRun {
  id: string;
  status: RunStatus;
  workflow_id: string | null;
  interpreter_version: number;
  /** How many times in a row the server ended because of this run, without progress since; a hang counts twice. */
  stops: number;
}

/** Unfinished runs: which of them a process resumes, what stopped it while it did, and which are quarantined. */
export function newUnfinishedRuns(db: Db) {
  const { $client: client } = db;
  const statements = statementsOf(client);
  const progressTurn = (id: string) => statements.selectProgress.get(id)?.turn ?? 0;
  const noteAll = client.transaction((ids: readonly string[], atLeast: number) => {
    for (const id of ids) statements.noteStop.run({ id, turn: progressTurn(id), atLeast });
  });

  return {
    /**
     * Runs that have not ended, oldest first. `wakeBefore`: only those that a new process has to take up, which are all but
     * those that wait for something that has not come, or for a time after that.
     */
    unfinished(wakeBefore?: number): UnfinishedRun[] {
      return db
        .select({
          id: runs.id,
          status: runs.status,
          workflow_id: runs.workflowId,
          interpreter_version: runs.interpreterVersion,
          stops: runs.stops,
          stoppedTurn: runs.stoppedTurn,
        })
        .from(runs)
        .where(
          wakeBefore === undefined ? isUnfinished : or(isActive, and(isUnfinished, hasToWake(wakeBefore))),
        )
        .orderBy(asc(runs.createdAt), asc(runs.id))
        .all()
        .map(({ stoppedTurn, ...row }) => ({
          ...row,
          status: row.status,
          stops: row.stops > 0 && progressTurn(row.id) === stoppedTurn ? row.stops : 0,
        }));
    },

    /** Waiting runs whose first sleep is over at an instant, the first one first. */
    due(at: number): { id: string; workflow_id: string | null }[] {
      return statements.selectDue.all(at);
    },

    /** Counts that the server ended because of these runs; the count restarts for runs that made progress since. */
    noteStops(ids: readonly string[], atLeast = 1): void {
      if (ids.length > 0) noteAll.immediate(ids, atLeast);
    },

    /** Quarantined runs whose retry is due by then. */
    retriesDue: (at: number): string[] => statements.selectRetries.pluck().all(at),

    quarantine: () => statements.countHeld.get() ?? { quarantined: 0, next_retry_at: null },

    /** Puts a run aside; false if it has ended. */
    hold(id: string, reason: QuarantineReason): boolean {
      return statements.holdRun.run(JSON.stringify(reason), id).changes === 1;
    },

    /** Releases a run from quarantine. Returns its new status, or null if it was not quarantined. */
    release(id: string, keepsStops = false): RunStatus | null {
      const held = db.select({ startedAt: runs.startedAt }).from(runs);
      const row = held.where(and(eq(runs.id, id), eq(runs.status, "held"))).get();
      if (!row) return null;
      const status = row.startedAt === null ? "queued" : "running";
      const stops = keepsStops ? {} : { stops: 0, stoppedTurn: null };
      db.update(runs)
        .set({ status, held: null, ...stops })
        .where(eq(runs.id, id))
        .run();
      return status;
    },
  };
}

const isUnfinished = inArray(runs.status, ["queued", "running", "waiting", "paused"]);
/** A run that waits for another one may have missed its end. */
const isActive = or(inArray(runs.status, ["queued", "running"]), eq(runs.waitsFor, "run"));
/** Its time comes before that, or it has a signal that was not taken yet. */
const hasToWake = (before: number) =>
  sql`(${runs.wakeAt} <= ${before} or exists (select 1 from run_signals s where s.run_id = ${runs.id} and not exists
    (select 1 from run_turns t where t.run_id = s.run_id and t.key = iif(s.name = 'cancel', '$cancel', s.name))))`;

function statementsOf(client: Db["$client"]) {
  return {
    selectDue: client.prepare<[number], { id: string; workflow_id: string | null }>(
      `select id, workflow_id from runs where wake_at <= ? and status in ('waiting', 'paused')
     order by wake_at`,
    ),
    // What a run records when it is taken up again is not progress.
    selectProgress: client.prepare<[string], { turn: number }>(
      "select turn from run_turns where run_id = ? and (key is null or key not like 'recovered#%') order by turn desc limit 1",
    ),
    noteStop: client.prepare<{ id: string; turn: number; atLeast: number }>(
      `update runs set stops = max(@atLeast, case when stopped_turn = @turn then stops + 1 else 1 end), stopped_turn = @turn
     where id = @id and status in ('queued', 'running', 'waiting', 'paused')`,
    ),
    selectRetries: client.prepare<[number], string>(
      "select id from runs where status = 'held' and held ->> 'retry_at' <= ? order by held ->> 'retry_at'",
    ),
    countHeld: client.prepare<[], { quarantined: number; next_retry_at: number | null }>(
      "select count(*) as quarantined, min(held ->> 'retry_at') as next_retry_at from runs where status = 'held'",
    ),
    holdRun: client.prepare<[string, string]>(
      "update runs set status = 'held', held = ? where id = ? and status <> 'finished'",
    ),
  };
}
