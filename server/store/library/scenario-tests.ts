import { and, asc, desc, eq, inArray, isNull, notInArray, sql } from "drizzle-orm";
import { z } from "zod";
import type { Db } from "@/db/open";
import { bin, judgeLabels, scenarioResults, scenarioTests } from "@/db/schema";
import { recordOf } from "@/server/domain/base/guards";
import { canonicalJson } from "@/server/domain/base/json";
import { namedError } from "@/server/domain/base/named-error";
import { TestReport } from "@/server/domain/scenario/report";
import { MOST_TESTS, ScenarioFields, ScenarioTest } from "@/server/domain/scenario/scenario-test";
import { newShelf, testKey, testsOfGone } from "./shelf";

/** Results kept for each test. */
export const KEPT_RESULTS = 50;

/** Times are Unix milliseconds. */
export interface StoredTest extends ScenarioTest {
  revision: number;
  created_at: number;
  updated_at: number;
}

/** A test in the bin: without its results. */
export const BinnedTest = ScenarioTest.extend({ workflow_id: z.string() });

/** The result of one run of a test. */
export interface StoredResult {
  id: number;
  test_id: string;
  at: number;
  by: string;
  status: TestReport["status"];
  /** Of the workflow at that time. */
  revision: number;
  took_ms: number;
  /** Number of expectations, and of those that passed. */
  expected: number;
  passed: number;
  /** The offline demo model answered. */
  simulated: boolean;
}

export class TestRejected extends namedError("TestRefused") {
  constructor(
    readonly why: "taken" | "too_many",
    message: string,
  ) {
    super(message);
  }
}

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

export type ScenarioStore = ReturnType<typeof newScenarioStore>;

/** Tests of workflows and their results. */
export function newScenarioStore(db: Db, now: () => number = Date.now) {
  const of = (workflowId: string, id: string) =>
    sql`${scenarioTests.workflowId} = ${workflowId} and ${scenarioTests.id} = ${id}`;
  const testIn = (row: typeof scenarioTests.$inferSelect): ScenarioTest => ({
    ...ScenarioFields.parse({ ...recordOf(JSON.parse(row.content)), name: row.name }),
    id: row.id,
  });
  const toTest = (row: typeof scenarioTests.$inferSelect): StoredTest => ({
    ...testIn(row),
    revision: row.revision,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  });
  const contentOf = (fields: ScenarioFields): string => {
    const { name: _, ...content } = ScenarioFields.parse(fields);
    return JSON.stringify(content);
  };
  const shelf = newShelf(
    db,
    {
      kind: "test",
      table: scenarioTests,
      orderBy: [asc(scenarioTests.place), asc(scenarioTests.id)],
      toBin: (row) => ({
        key: testKey(row.workflowId, row.id),
        name: row.name,
        content: () => canonicalJson(BinnedTest.parse({ workflow_id: row.workflowId, ...testIn(row) })),
      }),
    },
    now,
  );
  const results = scenarioResults;
  const shortResult = {
    id: results.id,
    test_id: results.testId,
    at: results.at,
    by: results.by,
    status: results.status,
    revision: results.revision,
    took_ms: results.tookMs,
    expected: sql<number>`coalesce(json_array_length(${results.report}, '$.results'), 0)`,
    passed: sql<number>`(select count(*) from json_each(${results.report}, '$.results') where json_extract(value, '$.status') = 'passed')`,
    simulated: sql<boolean>`coalesce(json_extract(${results.report}, '$.outcome.simulated'), 0)`.mapWith(
      Boolean,
    ),
  };
  const resultsOf = (workflowId: string, testId?: string) =>
    and(eq(results.workflowId, workflowId), testId === undefined ? undefined : eq(results.testId, testId));

  return {
    /** In the order in which they were made. */
    list: (workflowId: string): StoredTest[] =>
      shelf.list(eq(scenarioTests.workflowId, workflowId)).map(toTest),
    find(workflowId: string, id: string): StoredTest | undefined {
      const row = shelf.find(of(workflowId, id));
      return row && toTest(row);
    },

    /** Throws TestRefused. */
    create(workflowId: string, { id, ...fields }: ScenarioTest): void {
      db.transaction((tx) => {
        const { count, last } = tx
          .select({
            count: sql<number>`count(*)`,
            last: sql<number>`coalesce(max(${scenarioTests.place}), 0)`,
          })
          .from(scenarioTests)
          .where(eq(scenarioTests.workflowId, workflowId))
          .get() ?? { count: 0, last: 0 };
        if (count >= MOST_TESTS)
          throw new TestRejected("too_many", `A workflow may have at most ${MOST_TESTS} tests.`);
        const { name } = fields;
        if (!shelf.insert({ workflowId, id, name, content: contentOf(fields), place: last + 1 }))
          throw new TestRejected("taken", `This workflow has a test with the id ${id} already.`);
      });
    },

    /** False where there is no such test, or it was changed since that revision. */
    save(workflowId: string, { id, ...fields }: ScenarioTest, revision?: number): boolean {
      const change = { name: fields.name, content: contentOf(fields) };
      return shelf.save(of(workflowId, id), change, revision) !== undefined;
    },

    /** Moves it to the bin and deletes its results. */
    remove(workflowId: string, id: string): boolean {
      return db.transaction((tx) => {
        tx.delete(results).where(resultsOf(workflowId, id)).run();
        return shelf.remove(of(workflowId, id));
      });
    },

    /** Stores the result of a test, and deletes those that are too old. */
    keep(
      workflowId: string,
      about: { by: string; revision: number; took_ms: number },
      report: TestReport,
    ): void {
      const { test_id: testId, status } = report;
      const { by, revision, took_ms } = about;
      db.transaction((tx) => {
        tx.insert(results)
          .values({
            workflowId,
            testId,
            at: now(),
            by,
            status,
            revision,
            report: JSON.stringify(report),
            tookMs: Math.round(took_ms),
          })
          .run();
        const own = resultsOf(workflowId, testId);
        const newest = tx.select({ id: results.id }).from(results).where(own).orderBy(desc(results.id));
        tx.delete(results)
          .where(and(own, notInArray(results.id, newest.limit(KEPT_RESULTS))))
          .run();
      });
    },

    /** The newest first. */
    results: (workflowId: string, testId?: string, limit = 500): StoredResult[] =>
      db
        .select(shortResult)
        .from(results)
        .where(resultsOf(workflowId, testId))
        .orderBy(desc(results.id))
        .limit(limit)
        .all(),

    /** One of them with its report. */
    result(workflowId: string, id: number): (StoredResult & { report: TestReport }) | undefined {
      const row = db
        .select({ ...shortResult, report: results.report })
        .from(results)
        .where(and(resultsOf(workflowId), eq(results.id, id)))
        .get();
      return row && { ...row, report: TestReport.parse(JSON.parse(row.report)) };
    },
    ...judgeStore(db, now),
  };
}

/** Verdicts of judges, and a person's labels on them. */
function judgeStore(db: Db, now: () => number) {
  const ofJudge = (workflowId: string, judge: string) =>
    and(eq(judgeLabels.workflowId, workflowId), eq(judgeLabels.judge, judge));
  const ofItem = (workflowId: string, judge: string, item: string) =>
    and(ofJudge(workflowId, judge), eq(judgeLabels.item, item));
  return {
    verdict(workflowId: string, judge: string, item: string): { score: number; reason: string } | undefined {
      return db
        .select({ score: judgeLabels.score, reason: judgeLabels.reason })
        .from(judgeLabels)
        .where(ofItem(workflowId, judge, item))
        .get();
    },

    /** Stores a verdict and deletes the oldest ones without a label. */
    keepVerdict(
      workflowId: string,
      { test_id, ...judged }: Pick<JudgedOutput, "judge" | "item" | "test_id" | "text" | "score" | "reason">,
    ): void {
      db.transaction((tx) => {
        tx.insert(judgeLabels)
          .values({ ...judged, workflowId, testId: test_id, at: now() })
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
    },

    /** Unlabelled outputs first, then the newest. */
    judged(workflowId: string, judge: string, limit = 500): JudgedOutput[] {
      return db
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
    },

    /** How many outputs of a judge are stored, how many a person has labelled, and on how many of these both agree. */
    judgeCounts(workflowId: string, judge: string, threshold: number) {
      const isSame = sql`${judgeLabels.label} = (${judgeLabels.score} >= ${threshold})`;
      const counts = db
        .select({
          outputs: sql<number>`count(*)`,
          labels: sql<number>`count(${judgeLabels.label})`,
          same: sql<number>`coalesce(sum(${isSame}), 0)`,
        })
        .from(judgeLabels)
        .where(ofJudge(workflowId, judge))
        .get();
      return counts ?? { outputs: 0, labels: 0, same: 0 };
    },

    /** Labels an output; null removes the label. Returns false if there is no such output. */
    label(
      workflowId: string,
      { judge, item, good, by }: { judge: string; item: string; good: boolean | null; by: string },
    ): boolean {
      const isLabeled = good !== null;
      return (
        db
          .update(judgeLabels)
          .set({ label: good, labelledBy: isLabeled ? by : null, labelledAt: isLabeled ? now() : null })
          .where(ofItem(workflowId, judge, item))
          .run().changes > 0
      );
    },
  };
}

/** Deletes the tests of workflows that are deleted permanently. */
export function forgetTestsOf(db: Pick<Db, "delete">, workflowIds: readonly string[]): void {
  if (workflowIds.length === 0) return;
  const ids = [...workflowIds];
  db.delete(scenarioTests).where(inArray(scenarioTests.workflowId, ids)).run();
  db.delete(scenarioResults).where(inArray(scenarioResults.workflowId, ids)).run();
  db.delete(judgeLabels).where(inArray(judgeLabels.workflowId, ids)).run();
  db.delete(bin).where(testsOfGone(ids)).run();
}
