import { and, eq, inArray, or, type SQL, sql } from "drizzle-orm";
import type { Db } from "@/db/open";
import { bin } from "@/db/schema";

/** What is moved into the bin; workflows, runs and tools are marked where they are. */
export const MOVED_KINDS = ["role", "crew", "agent", "memory", "test"] as const;
export type Moved = (typeof MOVED_KINDS)[number];

/** The way into the bin and out of it: part of a transaction of their stores. */
export function newShelfBin(db: Db, kind: Moved, now: () => number) {
  const of = (key: string) => and(eq(bin.kind, kind), eq(bin.key, key));
  return {
    put(key: string, name: string, content: string): void {
      db.insert(bin).values({ kind, key, name, content, deletedAt: now() }).run();
    },
    /** The same for a row that has to be read first. One that cannot be read lies there as it is: it is gone from its place all the same. */
    putRow(key: string, name: string, row: object, read: () => string): void {
      this.put(
        key,
        name,
        readOr(read, () => JSON.stringify({ unreadable: row })),
      );
    },
    /** What came back by another way lies here no longer. */
    forget(key: string, content: string): void {
      db.delete(bin)
        .where(and(of(key), eq(bin.content, content)))
        .run();
    },
  };
}

/** The key of a test in the bin. */
export const testKey = (workflowId: string, id: string): string => `${workflowId}/${id}`;

/** Tests in the bin of workflows that are deleted for good. */
export const testsOfGone = (workflowIds: readonly string[]): SQL | undefined =>
  and(
    eq(bin.kind, "test"),
    inArray(sql`substr(${bin.key}, 1, instr(${bin.key}, '/') - 1)`, [...workflowIds]),
  );

/** The key of a memory in the bin. */
export const memoryKey = (scope: string, scopeId: string, key: string): string =>
  `${scope} ${scopeId} ${key}`;

/** Memories in the bin that were bound to a run, in any of these scopes. */
export const memoriesOfGone = (scopes: readonly string[], runId: string): SQL | undefined =>
  and(
    eq(bin.kind, "memory"),
    or(
      ...scopes
        .flatMap((scope) => [`${scope} ${runId} `, `${scope} ${runId}/`])
        .map((prefix) => sql`substr(${bin.key}, 1, ${prefix.length}) = ${prefix}`),
    ),
  );

function readOr<T>(read: () => T, instead: () => T): T {
  try {
    return read();
  } catch {
    return instead();
  }
}
