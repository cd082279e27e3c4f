import { and, desc, eq, inArray, lt, notInArray, sql } from "drizzle-orm";
import { z } from "zod";
import type { Db } from "@/db/open";
import { restorePoints, type workflows } from "@/db/schema";

/** What replaced the draft that a restore point holds. */
export const RESTORE_REASONS = restorePoints.reason.enumValues;
export type RestoreReason = (typeof RESTORE_REASONS)[number];

/** An earlier draft. */
export interface RestorePoint {
  id: number;
  /** Of the workflow at that time. */
  name: string;
  reason: RestoreReason;
  /** Unix time in milliseconds. */
  created_at: number;
}

/** Minimum time between restore points of edits. */
const BETWEEN_EDITS_MS = 10 * 60_000;
const DAY_MS = 24 * 3_600_000;
/** Restore points kept for each workflow. */
export const MOST_POINTS = 100;

const points = restorePoints;
const shown = { id: points.id, name: points.name, reason: points.reason, created_at: points.createdAt };

/** Earlier drafts: every 10 minutes of edits, and before an import, merge, replacement or restore. */
export function newRestorePoints(db: Db) {
  /** Keeps all of the last 24 hours, and the last one of each earlier day. */
  const thin = (workflowId: string, at: number) => {
    const ofWorkflow = eq(points.workflowId, workflowId);
    const lastOfDays = db
      .select({ id: sql<number>`max(${points.id})` })
      .from(points)
      .where(ofWorkflow)
      .groupBy(sql`cast(${points.createdAt} / ${DAY_MS} as integer)`);
    db.delete(points)
      .where(and(ofWorkflow, lt(points.createdAt, at - DAY_MS), notInArray(points.id, lastOfDays)))
      .run();
    const newest = db
      .select({ id: points.id })
      .from(points)
      .where(ofWorkflow)
      .orderBy(desc(points.id))
      .limit(MOST_POINTS);
    db.delete(points)
      .where(and(ofWorkflow, notInArray(points.id, newest)))
      .run();
  };
  return {
    /** Keeps a draft that is about to be overwritten; by an edit, only if enough time has passed. */
    keep(draft: typeof workflows.$inferSelect, reason: RestoreReason, at: number): void {
      const { id: workflowId, name, graph, withheld } = draft;
      const last = db
        .select({ at: points.createdAt })
        .from(points)
        .where(eq(points.workflowId, workflowId))
        .orderBy(desc(points.id))
        .limit(1)
        .get();
      if (reason === "edit" && at - (last?.at ?? draft.createdAt) < BETWEEN_EDITS_MS) return;
      db.insert(points).values({ workflowId, name, graph, withheld, reason, createdAt: at }).run();
      thin(workflowId, at);
    },

    /** Newest first. */
    list: (workflowId: string): RestorePoint[] =>
      db.select(shown).from(points).where(eq(points.workflowId, workflowId)).orderBy(desc(points.id)).all(),

    /** The stored content of a restore point. */
    find(workflowId: string, id: number): { graph: string; withheld: string[] } | undefined {
      const found = db
        .select({ graph: points.graph, withheld: points.withheld })
        .from(points)
        .where(and(eq(points.workflowId, workflowId), eq(points.id, id)))
        .get();
      return found && { ...found, withheld: z.array(z.string()).parse(JSON.parse(found.withheld)) };
    },
  };
}

/** Deletes the restore points of deleted workflows. */
export const forgetPointsOf = (db: Pick<Db, "delete">, workflowIds: string[]): void => {
  db.delete(points).where(inArray(points.workflowId, workflowIds)).run();
};
