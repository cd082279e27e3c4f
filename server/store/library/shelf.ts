import { and, eq, inArray, or, type SQL, sql } from "drizzle-orm";
import { type Db, writeTransaction } from "@/db/open";
import { type agents, bin, type crews, type memories, type roles, type scenarioTests } from "@/db/schema";

/** What is moved into the bin; workflows, runs and tools are marked where they are. */
export const MOVED_KINDS = ["role", "crew", "agent", "memory", "test"] as const;
export type Moved = (typeof MOVED_KINDS)[number];

type ShelfTable = typeof roles | typeof crews | typeof agents | typeof scenarioTests | typeof memories;
type NewRow<Table extends ShelfTable> = Omit<Table["$inferInsert"], "revision" | "createdAt" | "updatedAt">;

interface Kind<Table extends ShelfTable> {
  kind: Moved;
  table: Table;
  orderBy: SQL[];
  /** The entry of a removed row in the bin. `content` throws where the row is damaged. */
  toBin(row: Table["$inferSelect"]): { key: string; name: string; content: () => string };
}

/** Library items as rows whose revision counts the saves; removed ones go to the bin. */
export class Shelf<Table extends ShelfTable> {
  /** The types of a query builder do not follow a type parameter. Memories have no revision: they are not saved here. */
  private readonly table: typeof crews;

  constructor(
    private readonly db: Db,
    private readonly kind: Kind<Table>,
    private readonly now: () => number,
  ) {
    this.table = kind.table as unknown as typeof crews;
  }

  list(where?: SQL): Table["$inferSelect"][] {
    return this.rows(where).all();
  }

  find(where: SQL): Table["$inferSelect"] | undefined {
    return this.rows(where).get();
  }

  /** False where the key is taken. */
  insert(values: NewRow<Table>): boolean {
    const at = this.now();
    const whole = { ...values, createdAt: at, updatedAt: at } as unknown as typeof crews.$inferInsert;
    const row = this.db.insert(this.table).values(whole).onConflictDoNothing().returning().get();
    if (row === undefined) return false;
    const { key, content } = this.kind.toBin(row);
    this.forget(key, content());
    return true;
  }

  /** The new revision; undefined where no row matches, or where its revision is not `since`. */
  save(where: SQL, change: Partial<NewRow<Table>>, since?: number): number | undefined {
    const { revision } = this.table;
    // One statement checks and writes: two tabs can never both pass the check.
    return this.db
      .update(this.table)
      .set({ ...change, revision: sql`${revision} + 1`, updatedAt: this.now() })
      .where(and(where, since === undefined ? undefined : eq(revision, since)))
      .returning({ revision })
      .get()?.revision;
  }

  /** Adds or replaces. */
  put(where: SQL, values: NewRow<Table>): void {
    writeTransaction(this.db, () => this.save(where, values) !== undefined || this.insert(values));
  }

  /** A damaged row goes to the bin unchanged. */
  remove(where: SQL): boolean {
    return writeTransaction(this.db, () => {
      const row = this.db.delete(this.table).where(where).returning().get();
      if (row === undefined) return false;
      const { key, name, content: read } = this.kind.toBin(row);
      const content = readOr(read, () => JSON.stringify({ unreadable: row }));
      this.db.insert(bin).values({ kind: this.kind.kind, key, name, content, deletedAt: this.now() }).run();
      return true;
    });
  }

  /** An item that came back by another way leaves the bin. */
  forget(key: string, content: string): void {
    this.db
      .delete(bin)
      .where(and(eq(bin.kind, this.kind.kind), eq(bin.key, key), eq(bin.content, content)))
      .run();
  }

  private rows(where?: SQL) {
    return this.db
      .select()
      .from(this.table)
      .where(where)
      .orderBy(...this.kind.orderBy);
  }
}

/** The key of a test in the bin. */
export const testKey = (workflowId: string, id: string): string => `${workflowId}/${id}`;

/** Tests in the bin whose workflows were deleted permanently. */
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
