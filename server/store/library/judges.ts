import { and, asc, desc, eq, isNull, notInArray, sql } from "drizzle-orm";
import type { Db } from "@/db/open";
import { judgeLabels } from "@/db/schema";

/** A judged output with its label. */
export interface JudgedOutput {
  judge: string;
  item: string;
  test_id: string;
  text: string;
  /** From 0 to 1. */
  score: number;
  reason: string;
  at: number;
  /** Null: not labelled. */
  good: boolean | null;
  labelled_by: string | null;
  labelled_at: number | null;
}

/** Unlabelled outputs kept for each judge. */
export const KEPT_OUTPUTS = 200;

const ofJudge = (workflowId: string, judge: string) =>
  and(eq(judgeLabels.workflowId, workflowId), eq(judgeLabels.judge, judge));

const ofItem = (workflowId: string, judge: string, item: string) =>
  and(ofJudge(workflowId, judge), eq(judgeLabels.item, item));

/** Verdicts of judges, and a person's labels on them. */
export class JudgeStore {
  constructor(
    private readonly db: Db,
    private readonly now: () => number,
  ) {}

  verdict(workflowId: string, judge: string, item: string): { score: number; reason: string } | undefined {
    return this.db
      .select({ score: judgeLabels.score, reason: judgeLabels.reason })
      .from(judgeLabels)
      .where(ofItem(workflowId, judge, item))
      .get();
  }

  /** Stores a verdict and deletes the oldest ones without a label. */
  keepVerdict(
    workflowId: string,
    { test_id, ...judged }: Pick<JudgedOutput, "judge" | "item" | "test_id" | "text" | "score" | "reason">,
  ): void {
    this.db.transaction((tx) => {
      tx.insert(judgeLabels)
        .values({ ...judged, workflowId, testId: test_id, at: this.now() })
        .onConflictDoNothing()
        .run();
      const unlabelled = and(ofJudge(workflowId, judged.judge), isNull(judgeLabels.label));
      const newest = tx
        .select({ item: judgeLabels.item })
        .from(judgeLabels)
        .where(unlabelled)
        .orderBy(desc(judgeLabels.at), desc(judgeLabels.item));
      tx.delete(judgeLabels)
        .where(and(unlabelled, notInArray(judgeLabels.item, newest.limit(KEPT_OUTPUTS))))
        .run();
    });
  }

  /** Unlabelled outputs first, then the newest. */
  judged(workflowId: string, judge: string, limit = 500): JudgedOutput[] {
    return this.db
      .select()
      .from(judgeLabels)
      .where(ofJudge(workflowId, judge))
      .orderBy(sql`${judgeLabels.label} is not null`, desc(judgeLabels.at), asc(judgeLabels.item))
      .limit(limit)
      .all()
      .map(({ testId, label, labelledBy, labelledAt, workflowId: _, ...rest }) => ({
        ...rest,
        test_id: testId,
        good: label,
        labelled_by: labelledBy,
        labelled_at: labelledAt,
      }));
  }

  /** How many outputs of a judge are stored, how many a person has labelled, and on how many of these both agree. */
  judgeCounts(workflowId: string, judge: string, threshold: number) {
    const isSame = sql`${judgeLabels.label} = (${judgeLabels.score} >= ${threshold})`;
    const counts = this.db
      .select({
        outputs: sql<number>`count(*)`,
        labels: sql<number>`count(${judgeLabels.label})`,
        same: sql<number>`coalesce(sum(${isSame}), 0)`,
      })
      .from(judgeLabels)
      .where(ofJudge(workflowId, judge))
      .get();
    return counts ?? { outputs: 0, labels: 0, same: 0 };
  }

  /** Labels an output; null removes the label. Returns false if there is no such output. */
  label(
    workflowId: string,
    { judge, item, good, by }: { judge: string; item: string; good: boolean | null; by: string },
  ): boolean {
    const isLabeled = good !== null;
    return (
      this.db
        .update(judgeLabels)
        .set({ label: good, labelledBy: isLabeled ? by : null, labelledAt: isLabeled ? this.now() : null })
        .where(ofItem(workflowId, judge, item))
        .run().changes > 0
    );
  }
}
