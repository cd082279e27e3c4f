import { and, eq, sql } from "drizzle-orm";
import { type Db, writeTransaction } from "@/db/open";
import { runSignals } from "@/db/schema";
import type { Json } from "@/server/domain/base/values";
import { ownJson } from "../own-json";

/** What runs are sent from outside, kept until they take it in. */
export function newRunSignals(db: Db) {
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
