import { and, eq, isNotNull, isNull } from "drizzle-orm";
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
import { forgetMemoriesOf } from "../library/memories/memories";

/** Deletes finished runs: first into the bin, then permanently. */
export function newRunRemoval(db: Db, now: () => number) {
  return {
    /** Moves a finished run to the bin and frees its idempotency key. False if there is no such run. */
    remove(id: string): boolean {
      const finished = and(eq(runs.id, id), eq(runs.status, "finished"), isNull(runs.deletedAt));
      return (
        db.update(runs).set({ deletedAt: now(), idempotencyKey: null }).where(finished).run().changes > 0
      );
    },

    /** Takes a run out of the bin; false where it is not in it. */
    restore(id: string): boolean {
      const binned = and(eq(runs.id, id), isNotNull(runs.deletedAt));
      return db.update(runs).set({ deletedAt: null }).where(binned).run().changes > 0;
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
