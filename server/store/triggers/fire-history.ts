import { eq } from "drizzle-orm";
import type { Db } from "@/db/open";
import { triggers } from "@/db/schema";
import type { FinalStatus } from "@/server/domain/agent/outcome";
import { isOpenToOthers } from "@/server/domain/trigger/trigger";
import { type FireStatus, KEPT_FIRES, type Visitor } from "./fires";

const DAY_MS = 86_400_000;
const KEPT_MS = 30 * DAY_MS;
/** Every fire is kept at least this long, so that a repeated delivery starts no second run. */
const REPLAY_MS = DAY_MS;

/** Outcomes of fires and their runs. */
export function newFireHistory(db: Db, now: () => number) {
  const openRuns = db.$client
    .prepare<[string], string>(
      "select id from runs where trigger_id = ? and status <> 'finished' order by created_at, id",
    )
    .pluck();
  const started = db.$client.prepare<
    [Visitor & { id: string; since: number }],
    { runs: number; cost_usd: number }
  >(
    `select count(*) as runs, coalesce(sum(r.cost_usd), 0) as cost_usd
     from trigger_fires f left join runs r on r.id = f.run_id
     where f.trigger_id = @id and f.planned_at >= @since and (f.visitor = @visitor or f.address = @address)`,
  );
  const outcomes = db.$client.prepare<
    [string, number],
    { status: FireStatus; final_status: FinalStatus | null }
  >(
    `select f.status, r.final_status from trigger_fires f left join runs r on r.id = f.run_id
     where f.trigger_id = ? and f.at >= ? and not f.is_test
       and (f.status = 'failed' or (f.status = 'started' and r.final_status in ('COMPLETED', 'ERROR')))
     order by f.at desc, f.planned_at desc limit 20`,
  );
  const missedEnds = db.$client
    .prepare<
      [MissedEnds & { endings: string }],
      string
    >(`select id from runs r where workflow_id = @workflow and status = 'finished'
     and parent_run is null and forked_from is null and trigger <> 'test'
     and final_status in (select value from json_each(@endings))
     and finished_at >= max(@since, coalesce((select max(planned_at) from trigger_fires
       where trigger_id = @trigger and not is_test), @since) - @overlap)
     and not exists (select 1 from trigger_fires f where f.trigger_id = @trigger and f.key = r.id)
   order by finished_at, id`)
    .pluck();
  const forgetFires = db.$client.prepare(`delete from trigger_fires where rowid in (select place from
    (select rowid as place, status, at, row_number() over (partition by trigger_id order by at desc) as nth from trigger_fires)
    where status not in ('pending', 'buffered') and at < @replay and (at < @old or nth > @kept))`);

  return {
    /** The runs of a trigger that haven't ended, oldest first. */
    openRuns: (id: string): string[] => openRuns.all(id),

    /** Number and cost so far of a form's runs since a time that this visitor, or anyone at the same address, started. */
    startedBy: (id: string, { visitor, address }: Visitor, since: number) =>
      started.get({ id, visitor, address, since }) ?? { runs: 0, cost_usd: 0 },

    /**
     * Counts failed fires in a row since the trigger was saved, and disables it at `most`. Of one that is open to others, only
     * runs that could not start disable it.
     */
    countFailures(id: string, most: number, reason: string): void {
      const { kind, isEnabled, updatedAt } = triggers;
      const trigger = db
        .select({ kind, isEnabled, updatedAt })
        .from(triggers)
        .where(eq(triggers.id, id))
        .get();
      if (!trigger) return;
      const ends = outcomes.all(id, trigger.updatedAt);
      const before = (isEnd: (end: (typeof ends)[number]) => boolean) => {
        const at = ends.findIndex(isEnd);
        return at < 0 ? ends.length : at;
      };
      const failures = before(({ final_status }) => final_status === "COMPLETED");
      const counted = isOpenToOthers(trigger.kind) ? before(({ status }) => status === "started") : failures;
      const isOver = trigger.isEnabled && counted >= most;
      db.update(triggers)
        .set({ failures, ...(isOver && { isEnabled: false, disabledReason: reason }) })
        .where(eq(triggers.id, id))
        .run();
    },

    /**
     * Runs of a workflow without a fire, oldest first, that ended in one of these ways after the trigger's last fire or after
     * it was saved. Includes runs that ended up to `overlap` milliseconds earlier.
     */
    missedEnds: ({ endings, ...which }: MissedEnds & { endings: readonly FinalStatus[] }): string[] =>
      missedEnds.all({ ...which, endings: JSON.stringify(endings) }),

    /** Deletes old fires. */
    tidy: (): void =>
      void forgetFires.run({ replay: now() - REPLAY_MS, old: now() - KEPT_MS, kept: KEPT_FIRES }),
  };
}

/** `since`: when the trigger was saved. */
interface MissedEnds {
  trigger: string;
  workflow: string;
  since: number;
  overlap: number;
}
