import { and, asc, desc, eq, inArray, notInArray, sql } from "drizzle-orm";
import { z } from "zod";
import type { Db } from "@/db/open";
import { bin, judgeLabels, scenarioResults, scenarioTests } from "@/db/schema";
import { recordOf } from "@/server/domain/base/guards";
import { canonicalJson } from "@/server/domain/base/json";
import { namedError } from "@/server/domain/base/named-error";
import { TestReport } from "@/server/domain/scenario/report";
import { MOST_TESTS, ScenarioFields, ScenarioTest } from "@/server/domain/scenario/scenario-test";
import { JudgeStore } from "./judges";
import { Shelf, testKey, testsOfGone } from "./shelf";

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

/** Tests of workflows and their results. */
export class ScenarioStore {
  /** Verdicts on outputs of the tests. */
  readonly judges: JudgeStore;
  private readonly shelf: Shelf<typeof scenarioTests>;

  constructor(
    private readonly db: Db,
    private readonly now: () => number = Date.now,
  ) {
    this.judges = new JudgeStore(db, now);
    this.shelf = new Shelf(
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
  }

  /** In the order in which they were made. */
  list(workflowId: string): StoredTest[] {
    return this.shelf.list(eq(scenarioTests.workflowId, workflowId)).map(toTest);
  }

  find(workflowId: string, id: string): StoredTest | undefined {
    const row = this.shelf.find(of(workflowId, id));
    return row && toTest(row);
  }

  /** Throws TestRefused. */
  create(workflowId: string, { id, ...fields }: ScenarioTest): void {
    this.db.transaction((tx) => {
      const { count, last } = tx
        .select({
          count: sql<number>`count(*)`,
          last: sql<number>`coalesce(max(${scenarioTests.place}), 0)`,
        })
        .from(scenarioTests)
        .where(eq(scenarioTests.workflowId, workflowId))
        .get() ?? { count: 0, last: 0 };
      if (count >= MOST_TESTS)
        throw new TestRejected("too_many", `A workflow can have at most ${MOST_TESTS} tests.`);
      const { name } = fields;
      if (!this.shelf.insert({ workflowId, id, name, content: contentOf(fields), place: last + 1 }))
        throw new TestRejected("taken", `This workflow already has a test with the id ${id}.`);
    });
  }

  /** False if the test doesn't exist, or was changed since that revision. */
  save(workflowId: string, { id, ...fields }: ScenarioTest, revision?: number): boolean {
    const change = { name: fields.name, content: contentOf(fields) };
    return this.shelf.save(of(workflowId, id), change, revision) !== undefined;
  }

  /** Moves it to the bin and deletes its results. */
  remove(workflowId: string, id: string): boolean {
    return this.db.transaction((tx) => {
      tx.delete(results).where(resultsOf(workflowId, id)).run();
      return this.shelf.remove(of(workflowId, id));
    });
  }

  /** Stores the result of a test, and deletes those that are too old. */
  keep(
    workflowId: string,
    about: { by: string; revision: number; took_ms: number },
    report: TestReport,
  ): void {
    const { test_id: testId, status } = report;
    const { by, revision, took_ms } = about;
    this.db.transaction((tx) => {
      tx.insert(results)
        .values({
          workflowId,
          testId,
          at: this.now(),
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
  }

  /** The newest first. */
  results(workflowId: string, testId?: string, limit = 500): StoredResult[] {
    return this.db
      .select(shortResult)
      .from(results)
      .where(resultsOf(workflowId, testId))
      .orderBy(desc(results.id))
      .limit(limit)
      .all();
  }

  /** One of them with its report. */
  result(workflowId: string, id: number): (StoredResult & { report: TestReport }) | undefined {
    const row = this.db
      .select({ ...shortResult, report: results.report })
      .from(results)
      .where(and(resultsOf(workflowId), eq(results.id, id)))
      .get();
    return row && { ...row, report: TestReport.parse(JSON.parse(row.report)) };
  }
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
