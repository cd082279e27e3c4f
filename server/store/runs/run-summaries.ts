import { and, asc, desc, eq, gte, inArray, isNull, or, sql } from "drizzle-orm";
import { z } from "zod";
import type { Db } from "@/db/open";
import { runs } from "@/db/schema";
import { ErrorCode, type FinalStatus, type ReasonCode } from "@/server/domain/agent/outcome";
import { knownCost, type Paid } from "@/server/domain/model/cost";
import type { QuarantineReason } from "@/server/domain/run/quarantine";
import { RUN_TEXT } from "@/server/domain/run/result";
import type { StartedBy } from "@/server/domain/run/started-by";
import { ownJson } from "../own-json";
import { type ChildQuery, listChildren } from "./child-runs";
import { listRuns, type RunQuery, type RunStatus } from "./run-list";

/** What lists show of a run. Times in Unix milliseconds, cost in US dollars. */
export interface RunSummary {
  id: string;
  workflow_id: string | null;
  workflow_name: string;
  status: RunStatus;
  /** Set while the run is quarantined. */
  held: QuarantineReason | null;
  final_status: FinalStatus | null;
  reason_code: ReasonCode | null;
  simulated: boolean;
  /** What is known of it; null where nothing is. */
  cost_usd: number | null;
  unknown_cost_calls: number;
  input_tokens: number;
  output_tokens: number;
  trigger: string;
  created_at: number;
  started_at: number | null;
  finished_at: number | null;
  /** First line of its input, and of its result or error. */
  input_excerpt: string;
  outcome_excerpt: string;
  /** What it waits for before it can resume; null if nothing. */
  waits_for: "person" | "time" | "run" | null;
  /** When it resumes by itself, or when its question times out; null if neither applies. */
  wakes_at: number | null;
  /** The run it was created from; null if none. */
  origin: RunOrigin | null;
  /** The node of another run that started it; null if none. */
  parent: RunParent | null;
  /** The published version that it runs; null: the draft. */
  workflow_version: number | null;
  /** The trigger that started it; null if none. */
  trigger_id: string | null;
  /** Who started it; null in older runs. */
  started_by: StartedBy | null;
}

/** `item`: of a map, from 0; null for a single run. */
export interface RunParent {
  run_id: string;
  activation_id: string;
  item: number | null;
}

/** The run that another one began as. `root`: the first of the lineage; `seq`: the last event that both have. */
export interface RunOrigin {
  kind: "fork" | "replay";
  run_id: string;
  root: string;
  seq: number;
}

/** The columns of a run's row that change during the run. */
export type RunProgress = Pick<
  RunSummary,
  | "status"
  | "final_status"
  | "reason_code"
  | "simulated"
  | "cost_usd"
  | "unknown_cost_calls"
  | "input_tokens"
  | "output_tokens"
  | "started_at"
  | "finished_at"
  | "waits_for"
> & {
  /** The outcome as text; empty before the end. */
  outcome_text: string;
};

/** A run's row, as statements that are prepared once take it. */
export const progressRow = (progress: RunProgress) => ({
  ...progress,
  simulated: progress.simulated ? 1 : 0,
});

/** Runs as lists show them: what their rows say, without their logs. */
export function newRunSummaries(db: Db) {
  const { $client: client } = db;
  const selectCounts = client.prepare<[], { status: RunStatus; count: number }>(
    "select status, count(*) as count from runs group by status",
  );
  const selectAnswerBy = client.prepare<[string], { at: number | null }>(
    "select min(expires_at) as at from run_questions where run_id = ?",
  );
  const selectLastSeq = client.prepare<[string], { lastSeq: number }>(
    "select last_seq as lastSeq from run_turns where run_id = ? order by turn desc limit 1",
  );
  const summaryOf = (row: typeof runs.$inferSelect): RunSummary =>
    toSummary(row, row.waitsFor === "person" ? (selectAnswerBy.get(row.id)?.at ?? null) : null);
  /** A held run is shown although its log may be damaged. */
  const lastSeq = ({ id, status }: RunSummary): number => {
    try {
      return selectLastSeq.get(id)?.lastSeq ?? 0;
    } catch (error) {
      if (status === "held") return 0;
      throw error;
    }
  };

  return {
    find(id: string): (RunSummary & { last_seq: number; interpreter_version: number }) | null {
      const row = db
        .select()
        .from(runs)
        .where(and(eq(runs.id, id), isNull(runs.deletedAt)))
        .get();
      if (!row) return null;
      const run = summaryOf(row);
      return { ...run, last_seq: lastSeq(run), interpreter_version: row.interpreterVersion };
    },

    list: (query: RunQuery = {}): RunSummary[] => listRuns(db, query).map(summaryOf),

    /** The runs that a run started, by activation and item. */
    children: (id: string, query: ChildQuery): RunSummary[] => listChildren(db, id, query).map(summaryOf),

    /** Total cost of runs since a time, including those in the bin. `workflows`: only of these. */
    spent(since: number, workflows?: readonly string[]): { runs: number } & Paid {
      const sums = db
        .select({
          runs: sql<number>`count(*)`,
          cost: sql<number>`coalesce(sum(${runs.costUsd}), 0)`,
          unknown: sql<number>`coalesce(sum(${runs.unknownCostCalls}), 0)`,
        })
        .from(runs)
        // A run's cost includes that of the runs that it started.
        .where(
          and(
            gte(runs.createdAt, since),
            isNull(runs.parentRun),
            workflows && inArray(runs.workflowId, [...workflows]),
          ),
        )
        .get();
      const paid = { cost_usd: sums?.cost ?? 0, unknown_cost_calls: sums?.unknown ?? 0 };
      return {
        runs: sums?.runs ?? 0,
        cost_usd: knownCost(paid),
        unknown_cost_calls: paid.unknown_cost_calls,
      };
    },

    /** The newest run of each workflow, and how many there are. */
    byWorkflow(): Map<string, { last_run: RunSummary; run_count: number }> {
      const rows = db
        .select({
          id: runs.workflowId,
          count: sql<number>`count(*)`,
          newest: sql<number>`max(${runs.createdAt})`,
        })
        .from(runs)
        .where(and(isNull(runs.deletedAt), isNull(runs.parentRun)))
        .groupBy(runs.workflowId)
        .all();
      const found = new Map<string, { last_run: RunSummary; run_count: number }>();
      for (const { id, count } of rows) {
        if (id === null) continue;
        const last = db
          .select()
          .from(runs)
          .where(and(eq(runs.workflowId, id), isNull(runs.deletedAt), isNull(runs.parentRun)))
          .orderBy(desc(runs.createdAt), desc(runs.id))
          .limit(1)
          .get();
        if (last) found.set(id, { last_run: summaryOf(last), run_count: count });
      }
      return found;
    },

    /** A run and all runs with the same root, oldest first. */
    family(id: string): RunSummary[] {
      const own = db.select({ root: runs.rootRun }).from(runs).where(eq(runs.id, id)).get();
      const root = own?.root ?? id;
      return db
        .select()
        .from(runs)
        .where(and(or(eq(runs.id, root), eq(runs.rootRun, root)), isNull(runs.deletedAt)))
        .orderBy(asc(runs.createdAt), sql`${runs}.rowid`)
        .limit(500)
        .all()
        .map(summaryOf);
    },

    /** How many runs are in each status, also of those in the bin. */
    counts(): Record<RunStatus, number> {
      const counts = { queued: 0, running: 0, waiting: 0, paused: 0, held: 0, finished: 0 };
      for (const { status, count } of selectCounts.all()) counts[status] = count;
      return counts;
    },

    countUnfinished(): number {
      return (
        db
          .select({ count: sql<number>`count(*)` })
          .from(runs)
          .where(inArray(runs.status, ["queued", "running", "waiting", "paused"]))
          .get()?.count ?? 0
      );
    },
  };
}

/** The table does not know these words. */
const Reason: z.ZodType<ReasonCode> = z.enum([...ErrorCode.options, "END_REACHED"]);

function originOf({ forkedFrom, forkedSeq, rootRun, lineage }: typeof runs.$inferSelect): RunOrigin | null {
  if (forkedFrom === null || lineage === null) return null;
  return { kind: lineage, run_id: forkedFrom, root: rootRun ?? forkedFrom, seq: forkedSeq ?? 0 };
}

/** `answerBy`: until when the first of its questions can be answered; null where it asks none, or for ever. */
function toSummary(row: typeof runs.$inferSelect, answerBy: number | null): RunSummary {
  return {
    id: row.id,
    workflow_id: row.workflowId,
    workflow_name: row.workflowName,
    status: row.status,
    held: row.held === null ? null : ownJson<QuarantineReason>(row.held),
    final_status: row.finalStatus,
    reason_code: Reason.safeParse(row.reasonCode).data ?? null,
    simulated: row.simulated,
    cost_usd: knownCost({ cost_usd: row.costUsd, unknown_cost_calls: row.unknownCostCalls }),
    unknown_cost_calls: row.unknownCostCalls,
    input_tokens: row.inputTokens,
    output_tokens: row.outputTokens,
    trigger: row.trigger,
    created_at: row.createdAt,
    started_at: row.startedAt,
    finished_at: row.finishedAt,
    input_excerpt: row.inputText.slice(0, RUN_TEXT.shown),
    outcome_excerpt: row.outcomeText.slice(0, RUN_TEXT.shown),
    waits_for: row.waitsFor,
    // A run that waits for a person also wakes to remind them.
    wakes_at: row.waitsFor === "time" ? row.wakeAt : answerBy,
    origin: originOf(row),
    parent:
      row.parentRun === null
        ? null
        : { run_id: row.parentRun, activation_id: row.parentActivation ?? "", item: row.parentItem },
    workflow_version: row.workflowVersion,
    trigger_id: row.triggerId,
    started_by: row.startedBy === null ? null : ownJson<StartedBy>(row.startedBy),
  };
}
