import { and, asc, eq, inArray, isNull, ne, type SQL, sql } from "drizzle-orm";
import type { Db } from "@/db/open";
import { runs } from "@/db/schema";

/** Runs that nodes of other runs started. */
export function newChildRuns(db: Db) {
  const { $client: client } = db;
  const selectChild = client.prepare<
    [string],
    { status: string; final_status: string | null; parent: string | null; workflow_id: string | null }
  >("select status, final_status, parent_run as parent, workflow_id from runs where id = ?");
  const selectOpen = client
    .prepare<[string], string>("select id from runs where parent_run = ? and status <> 'finished'")
    .pluck();
  // A run that stopped at a limit may go on and needs them still.
  const selectOrphans = client
    .prepare<[], string>(
      `select c.id from runs c left join runs p on p.id = c.parent_run where c.parent_run is not null
       and c.status <> 'finished' and (p.id is null or (p.status = 'finished' and p.final_status <> 'INCOMPLETE'))`,
    )
    .pluck();

  const selectOwner = client.prepare<[string], { workflow_id: string | null }>(
    `with recursive up (id, workflow_id, parent_run) as (
       select id, workflow_id, parent_run from runs where id = ?
       union all select r.id, r.workflow_id, r.parent_run from up join runs r on r.id = up.parent_run
     ) select workflow_id from up where parent_run is null`,
  );

  return {
    /**
     * The workflow that a run belongs to: that of the run that started it, or else its own. Includes runs in the bin; null if it
     * belongs to none or doesn't exist.
     */
    owner: (id: string): string | null => selectOwner.get(id)?.workflow_id ?? null,

    /** How a run stands and which run started it; undefined where there is none of that id. */
    standing: (id: string) => selectChild.get(id),

    /** The runs that a run started and that have not ended. */
    openChildren: (id: string): string[] => selectOpen.all(id),

    /** Runs that have not ended and that no run waits for any longer. */
    orphans: (): string[] => selectOrphans.all(),
  };
}

/** The ids of all runs below a run. */
export const runsBelow = (id: string): SQL =>
  sql`(with recursive below(id) as (
    select id from runs where parent_run = ${id} union all select r.id from runs r join below b on r.parent_run = b.id
  ) select id from below)`;

/** Whether a run below it has not ended. */
export const hasOpenBelow = (id: string): SQL =>
  sql`exists (select 1 from runs where status <> 'finished' and id in ${runsBelow(id)})`;

/** Moves the runs below a run to the bin, from which they are restored with it. */
export function removeBelow(db: Pick<Db, "update">, id: string, deletedAt: number): void {
  const listed = and(sql`${runs.id} in ${runsBelow(id)}`, isNull(runs.deletedAt));
  db.update(runs).set({ deletedAt }).where(listed).run();
}

export interface ChildQuery {
  /** Runs that others started and whose results this one took over. */
  taken?: readonly string[];
  activation_id?: string | undefined;
  status?: ChildStatus | undefined;
  /** The id of the last one before. */
  after?: string | undefined;
  limit: number;
}

/** Rows of the runs that a run started, by activation and item. */
export function listChildren(db: Db, id: string, query: ChildQuery): (typeof runs.$inferSelect)[] {
  const after = query.after === undefined ? undefined : placeOf(db, query.after);
  const place = sql`(${runs.parentActivation}, coalesce(${runs.parentItem}, 0), ${runs.createdAt}, ${runs.id})`;
  return db
    .select()
    .from(runs)
    .where(
      and(
        query.taken
          ? sql`(${runs.parentRun} = ${id} or ${runs.id} in (select value from json_each(${JSON.stringify(query.taken)})))`
          : eq(runs.parentRun, id),
        isNull(runs.deletedAt),
        query.activation_id === undefined ? undefined : eq(runs.parentActivation, query.activation_id),
        query.status && STATUS[query.status],
        after && sql`${place} > (${after.activation}, ${after.item}, ${after.at}, ${after.id})`,
      ),
    )
    .orderBy(asc(runs.parentActivation), asc(runs.parentItem), asc(runs.createdAt), asc(runs.id))
    .limit(query.limit)
    .all();
}

export type ChildStatus = "running" | "completed" | "failed";

const STATUS: Readonly<Record<ChildStatus, SQL>> = {
  running: ne(runs.status, "finished"),
  completed: eq(runs.finalStatus, "COMPLETED"),
  failed: inArray(runs.finalStatus, ["ERROR", "INCOMPLETE", "CANCELLED"]),
};

function placeOf(
  db: Db,
  id: string,
): { activation: string; item: number; at: number; id: string } | undefined {
  const row = db
    .select({ activation: runs.parentActivation, item: runs.parentItem, at: runs.createdAt })
    .from(runs)
    .where(eq(runs.id, id))
    .get();
  return row && { activation: row.activation ?? "", item: row.item ?? 0, at: row.at, id };
}
