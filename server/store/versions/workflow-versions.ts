import { createHash } from "node:crypto";
import { and, desc, eq, inArray, sql } from "drizzle-orm";
import { z } from "zod";
import { type Db, writeTransaction } from "@/db/open";
import { workflowVersions } from "@/db/schema";
import { RoleDefinition } from "@/server/domain/agent/role";
import { asJson, canonicalJson } from "@/server/domain/base/json";
import type { VersionContent } from "@/server/domain/graph/version/version-diff";
import type { ForeignText } from "@/server/domain/run/foreign-text";
import { ownJson } from "../own-json";
import { readStoredGraph } from "../stored-graph";
import { forgetPointsOf } from "./restore-points";

/** The content of a version, with its texts from imported files. */
export interface PublishedContent extends VersionContent {
  foreign?: ForeignText | undefined;
}

/** Results of a workflow's tests on a version. */
export const VersionTests = z.object({
  status: z.enum(["running", "passed", "failed"]),
  total: z.int(),
  passed: z.int(),
  failed: z.array(z.string()).meta({ description: "Names of the tests that failed or could not run" }),
});
export type VersionTests = z.infer<typeof VersionTests>;

/** A published version without its content. */
export interface VersionSummary {
  number: number;
  /** Of the workflow when it was published. */
  name: string;
  note: string;
  by: string;
  /** Null if it had no tests. */
  tests: VersionTests | null;
  /** Unix time in milliseconds. */
  created_at: number;
}

export interface StoredVersion extends VersionSummary, PublishedContent {}

const versions = workflowVersions;
const summary = {
  number: versions.number,
  name: versions.name,
  note: versions.note,
  by: versions.by,
  tests: versions.tests,
  created_at: versions.createdAt,
};
const toSummary = ({ tests, ...row }: Omit<VersionSummary, "tests"> & { tests: string | null }) => ({
  ...row,
  tests: tests === null ? null : VersionTests.parse(JSON.parse(tests)),
});

const ofWorkflow = (id: string) => eq(versions.workflowId, id);
const oneOf = (id: string, number: number) => and(ofWorkflow(id), eq(versions.number, number));

/** SHA-256 of the content, hex; the same for equal versions. */
const hashOf = ({ graph, roles, withheld, foreign }: PublishedContent): string =>
  createHash("sha256")
    .update(
      canonicalJson({
        graph,
        roles: roles.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
        withheld: withheld.toSorted(),
        foreign: foreign && { allowed: foreign.allowed, texts: foreign.texts.toSorted() },
      }),
    )
    .digest("hex");

const toContent = (row: typeof versions.$inferSelect): PublishedContent => ({
  graph: readStoredGraph(row.graph),
  roles: z.array(RoleDefinition).parse(JSON.parse(row.roles)),
  withheld: z.array(z.string()).parse(JSON.parse(row.withheld)),
  ...(row.foreignText === null ? {} : { foreign: ownJson<ForeignText>(row.foreignText) }),
});

/** Published versions of workflows: never changed, and deleted only with their workflow. */
export function newWorkflowVersions(db: Db, now: () => number = Date.now) {
  // The last version read of each workflow, since every run needs it.
  const read = new Map<string, { number: number; content: PublishedContent }>();
  const contentOf = (id: string, number: number): PublishedContent => {
    const known = read.get(id);
    if (known?.number === number) return known.content;
    const row = db.select().from(versions).where(oneOf(id, number)).get();
    if (!row) throw new Error(`There is no version ${number} of ${id}.`);
    const content = toContent(row);
    read.set(id, { number, content });
    return content;
  };
  const whole = (id: string, row: Parameters<typeof toSummary>[0] | undefined): StoredVersion | undefined =>
    row && { ...toSummary(row), ...contentOf(id, row.number) };
  const selected = () => db.select(summary).from(versions);
  const newest = (id: string) =>
    selected().where(ofWorkflow(id)).orderBy(desc(versions.number)).limit(1).get();

  return {
    /** Adds a version as the newest one, unless the newest has the same content. */
    publish(
      id: string,
      { name, note, by, ...content }: PublishedContent & Pick<VersionSummary, "name" | "note" | "by">,
    ): { number: number; created: boolean } {
      const hash = hashOf(content);
      return writeTransaction(db, () => {
        const last = db
          .select({ number: versions.number, hash: versions.hash })
          .from(versions)
          .where(ofWorkflow(id))
          .orderBy(desc(versions.number))
          .limit(1)
          .get();
        if (last?.hash === hash) return { number: last.number, created: false };
        const number = (last?.number ?? 0) + 1;
        const { graph, roles, withheld, foreign } = content;
        db.insert(versions)
          .values({
            workflowId: id,
            number,
            ...{ name, note, by, hash },
            graph: JSON.stringify(graph),
            roles: JSON.stringify(roles),
            withheld: JSON.stringify(withheld),
            foreignText: foreign ? JSON.stringify(foreign) : null,
            createdAt: now(),
          })
          .run();
        return { number, created: true };
      });
    },

    /** Newest first. */
    list: (id: string): VersionSummary[] =>
      selected().where(ofWorkflow(id)).orderBy(desc(versions.number)).all().map(toSummary),

    find: (id: string, number: number): StoredVersion | undefined =>
      whole(id, selected().where(oneOf(id, number)).get()),

    /** The version in use; undefined if nothing is published. */
    newest: (id: string): StoredVersion | undefined => whole(id, newest(id)),

    setTests(id: string, number: number, tests: VersionTests | null): void {
      const text = tests === null ? null : JSON.stringify(asJson(tests));
      db.update(versions).set({ tests: text }).where(oneOf(id, number)).run();
    },

    /** Versions whose tests were still running when the server stopped. */
    untested: (): { id: string; number: number }[] =>
      db
        .select({ id: versions.workflowId, number: versions.number })
        .from(versions)
        .where(sql`json_extract(${versions.tests}, '$.status') = 'running'`)
        .all(),
  };
}
export type WorkflowVersions = ReturnType<typeof newWorkflowVersions>;

/** Deletes the versions and restore points of deleted workflows. */
export const forgetVersionsOf = (db: Pick<Db, "delete">, workflowIds: string[]): void => {
  db.delete(versions).where(inArray(versions.workflowId, workflowIds)).run();
  forgetPointsOf(db, workflowIds);
};
