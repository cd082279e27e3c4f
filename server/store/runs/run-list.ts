import { and, asc, desc, eq, gte, inArray, isNull, lte, type SQL, sql } from "drizzle-orm";
import type { Db } from "@/db/open";
import { runs } from "@/db/schema";
import type { FinalStatus } from "@/server/domain/agent/outcome";
import type { RunOrder, RunPlace } from "@/server/domain/run/run-order";

/**
 * `paused`: by a person, a step or a breakpoint. `held`: quarantined with a reason, until a person retries or cancels
 * it.
 */
export type RunStatus = "queued" | "running" | "waiting" | "paused" | "held" | "finished";

/** Which runs, and in which order. Times in Unix milliseconds, cost in US dollars. */
export interface RunQuery {
  workflow_id?: string | undefined;
  /** Only runs of these workflows. */
  workflows?: readonly string[] | undefined;
  status?: RunStatus | readonly RunStatus[] | undefined;
  final_status?: FinalStatus | undefined;
  waits_for?: "person" | "time" | "run" | undefined;
  /** Words that must occur in its workflow's name, its input or its outcome, in any order. */
  search?: string | undefined;
  /** Created at this time or later, at this time or before. */
  since?: number | undefined;
  until?: number | undefined;
  cost_from?: number | undefined;
  order?: RunOrder | undefined;
  limit?: number | undefined;
  /** Only what comes after this in the order. */
  after?: RunPlace | undefined;
}

/** What a run is ordered by, as `placeAfter` has it. */
const BY: Record<RunOrder, { value: SQL<number>; isDown: boolean }> = {
  newest: { value: sql`${runs.createdAt}`, isDown: true },
  oldest: { value: sql`${runs.createdAt}`, isDown: false },
  costliest: { value: sql`${runs.costUsd}`, isDown: true },
  longest: { value: sql`coalesce(${runs.finishedAt} - ${runs.startedAt}, 0)`, isDown: true },
};

/** Case is folded as JavaScript does, in every alphabet, where SQLite knows only English. */
function foldsCase({ $client: client }: Db): void {
  client.function("fold", { deterministic: true }, (text) => String(text).toLowerCase());
}
const folding = new WeakSet<Db>();

/** The rows of runs that are not in the bin. */
export function listRuns(db: Db, query: RunQuery): (typeof runs.$inferSelect)[] {
  const { value, isDown } = BY[query.order ?? "newest"];
  const { after } = query;
  const terms = (query.search ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  if (terms.length > 0 && !folding.has(db)) {
    foldsCase(db);
    folding.add(db);
  }
  const holds = (word: string) =>
    sql`instr(fold(${runs.workflowName} || ' ' || ${runs.inputText} || ' ' || ${runs.outcomeText}), ${word}) > 0`;
  const is = <T>(wanted: T | undefined, condition: (wanted: T) => SQL | undefined) =>
    wanted === undefined ? undefined : condition(wanted);
  return db
    .select()
    .from(runs)
    .where(
      and(
        isNull(runs.deletedAt),
        isNull(runs.parentRun),
        is(query.workflow_id, (id) => eq(runs.workflowId, id)),
        is(query.workflows, (ids) => inArray(runs.workflowId, [...ids])),
        is(query.status, (status) => inArray(runs.status, [status].flat())),
        is(query.final_status, (status) => eq(runs.finalStatus, status)),
        is(query.waits_for, (what) => eq(runs.waitsFor, what)),
        is(query.since, (at) => gte(runs.createdAt, at)),
        is(query.until, (at) => lte(runs.createdAt, at)),
        is(query.cost_from, (usd) => gte(runs.costUsd, usd)),
        ...terms.map(holds),
        after &&
          (isDown
            ? sql`(${value}, ${runs.id}) < (${after.value}, ${after.id})`
            : sql`(${value}, ${runs.id}) > (${after.value}, ${after.id})`),
      ),
    )
    .orderBy(isDown ? desc(value) : asc(value), isDown ? desc(runs.id) : asc(runs.id))
    .limit(Math.min(query.limit ?? 50, 200))
    .all();
}
