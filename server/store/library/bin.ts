import { and, desc, eq, isNotNull, isNull, lt, lte, or, sql } from "drizzle-orm";
import type { Db } from "@/db/open";
import { bin, customTools, runs, workflows } from "@/db/schema";
import { deleteBinned } from "../workflows";
import { MOVED_KINDS, type Moved } from "./shelf";

/** Kinds of items in the bin. Keys of providers, servers and tokens are deleted at once. */
export const BIN_KINDS = ["workflow", "run", "tool", ...MOVED_KINDS] as const;
export type BinKind = (typeof BIN_KINDS)[number];

/** How long what was deleted can be brought back. */
export const BIN_DAYS = 30;
const BIN_MS = BIN_DAYS * 24 * 3_600_000;

/** Something that was deleted. Times in Unix milliseconds. */
export interface Binned {
  kind: BinKind;
  /** Names it together with the kind. */
  id: string;
  name: string;
  deleted_at: number;
  /** When it is deleted permanently. */
  gone_at: number;
}

const entry = (kind: BinKind, id: string, name: string, at: number | null): Binned => {
  const deleted_at = at ?? 0;
  return { kind, id, name, deleted_at, gone_at: deleted_at + BIN_MS };
};

/** What was deleted with the run that started it also comes back with that. */
const isStartedByKept = sql`exists (select 1 from runs p where p.id = ${runs.parentRun} and p.deleted_at is null)`;

const isMoved = (kind: Moved, id: string) => and(eq(bin.kind, kind), eq(bin.id, Number(id)));

/** One list over everything that was deleted and can come back. */
export class BinStore {
  constructor(
    private readonly db: Db,
    private readonly now: () => number = Date.now,
  ) {}

  /** Newest first. */
  list(): Binned[] {
    const found = [
      ...this.db
        .select({ id: workflows.id, name: workflows.name, at: workflows.deletedAt })
        .from(workflows)
        .where(isNotNull(workflows.deletedAt))
        .all()
        .map(({ id, name, at }) => entry("workflow", id, name, at)),
      ...this.db
        .select({ id: runs.id, name: runs.workflowName, at: runs.deletedAt })
        .from(runs)
        .where(and(isNotNull(runs.deletedAt), or(isNull(runs.parentRun), isStartedByKept)))
        .orderBy(desc(runs.deletedAt))
        .limit(1_000)
        .all()
        .map(({ id, name, at }) => entry("run", id, name, at)),
      ...this.db
        .select({ id: customTools.name, at: customTools.deletedAt })
        .from(customTools)
        .where(isNotNull(customTools.deletedAt))
        .all()
        .map(({ id, at }) => entry("tool", id, id, at)),
      ...this.db
        .select({ id: bin.id, kind: bin.kind, name: bin.name, at: bin.deletedAt })
        .from(bin)
        .all()
        .map(({ id, kind, name, at }) => entry(kind, String(id), name, at)),
    ];
    return found.sort((a, b) => b.deleted_at - a.deleted_at || (a.id < b.id ? -1 : 1));
  }

  /** What something that was moved here was, as text; undefined where it is not here. */
  content(kind: Moved, id: string): { name: string; content: string } | undefined {
    return this.db.select().from(bin).where(isMoved(kind, id)).get();
  }

  /** Removes an item from the bin, because it was restored or deleted permanently. */
  takeOut(kind: Moved, id: string): boolean {
    return this.db.delete(bin).where(isMoved(kind, id)).run().changes > 0;
  }

  /** Deletes permanently; false if it is not in the bin. Runs are deleted by the retention, since they may be large. */
  purge(kind: Exclude<BinKind, "run">, id: string): boolean {
    if (kind === "workflow") return deleteBinned(this.db, eq(workflows.id, id)) > 0;
    if (kind !== "tool") return this.takeOut(kind, id);
    const versions = eq(customTools.name, id);
    const binned = this.db
      .select()
      .from(customTools)
      .where(and(versions, isNotNull(customTools.deletedAt)));
    return binned.get() !== undefined && this.db.delete(customTools).where(versions).run().changes > 0;
  }

  /** Permanently deletes items whose time in the bin is over, and expired memories. Returns how many. */
  sweep(): number {
    return this.db
      .delete(bin)
      .where(
        or(
          lt(bin.deletedAt, this.now() - BIN_MS),
          and(eq(bin.kind, "memory"), lte(sql`json_extract(${bin.content}, '$.expires_at')`, this.now())),
        ),
      )
      .run().changes;
  }
}

/** Items deleted before this time are deleted permanently. */
export const binEnd = (now: number) => now - BIN_MS;
