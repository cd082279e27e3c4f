import { existsSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { and, asc, count, eq, isNotNull, isNull, lt, notInArray, or, type SQL, sql } from "drizzle-orm";
import { z } from "zod";
import { type Db, writeTransaction } from "@/db/open";
import { runSignals, runs, runTimers, runTurns, workspaceFiles } from "@/db/schema";
import { textsOf } from "@/server/domain/base/guards";
import { must, present } from "@/server/domain/base/must";
import { binEnd } from "../library/bin";
import { forgetMemoriesOf } from "../library/memories/memories";
import { newSettingStore, type SettingStore } from "../settings";
import { removeBelow } from "./child-runs";

const whole = (most: number) => {
  const error = `Must be a whole number from 1 to ${most.toLocaleString("en-US")}, or null for no limit`;
  return z.int({ error }).min(1, { error }).max(most, { error });
};
const Days = whole(36_500);
const Runs = whole(10_000_000);

/** What is kept of finished runs; null: no limit. */
export const KeepRule = z.object({
  /** Days since the run ended. */
  days: Days.nullable().default(null),
  /** How many finished runs, the newest first. */
  runs: Runs.nullable().default(null),
});
export type KeepRule = z.infer<typeof KeepRule>;

/** The rule for all runs, and those of workflows that have their own instead. */
export const KeepRules = KeepRule.extend({ workflows: z.record(z.string(), KeepRule).default({}) });
export type KeepRules = z.infer<typeof KeepRules>;

/** Size of the data folder, in bytes and counts. */
export interface StorageSizes {
  database: number;
  /** Of the database: what deleted runs left, to be used again or given back. */
  free: number;
  /** Whether free space is given back; otherwise it is only used again. */
  can_shrink: boolean;
  /** What is written and not yet in the database's own file. */
  wal: number;
  /** What agents wrote into the workspaces of runs; a part of the database. */
  files: number;
  /** Copies made before updates. */
  copies: { count: number; bytes: number };
  runs: { finished: number; held: number; other: number };
}

const RULES_KEY = "retention";
/** Runs whose row is gone and whose log and files are being deleted. */
const REMOVING_KEY = "retention.removing";
/** How many rows make one piece of work; a file of a workspace may have megabytes. */
const PIECES = [
  { table: runTurns, rows: 50 },
  { table: workspaceFiles, rows: 4 },
] as const;
/** Up to this size a database from before is rewritten at the start so that it can shrink, in bytes. */
const REWRITTEN = 64 * 1024 * 1024;
const PAUSE_MS = 20;
const DAY_MS = 24 * 3_600_000;

/** Deletes old runs with their files and memories, in pieces of a few milliseconds, and gives the space back. */
export class Retention {
  private readonly client: Db["$client"];
  private readonly pragmas: ReturnType<typeof pragmasOf>;
  private readonly settings: SettingStore;
  private work: Promise<number> | null = null;

  constructor(
    private readonly db: Db,
    private readonly options: {
      dataDir: string | null;
      /** The rules until someone changes them in the app. */
      defaults: KeepRule;
      now?: () => number;
    },
  ) {
    this.client = db.$client;
    this.pragmas = pragmasOf(this.client);
    this.settings = newSettingStore(db);
  }

  private now(): number {
    return this.options.now?.() ?? Date.now();
  }

  /** Hides the run immediately; its data is deleted piece by piece. */
  private takeAway(id: string): boolean {
    return writeTransaction(this.db, () => {
      const { changes } = this.client
        .prepare("delete from runs where id = ? and status = 'finished'")
        .run(id);
      if (changes === 0) return false;
      removeBelow(this.db, id, this.now());
      for (const table of [runTimers, runSignals]) this.db.delete(table).where(eq(table.runId, id)).run();
      forgetMemoriesOf(this.db, id);
      this.settings.set(REMOVING_KEY, JSON.stringify([...this.removing(), id]));
      return true;
    });
  }

  rules(): KeepRules {
    const stored = this.settings.find(RULES_KEY);
    const read = stored === undefined ? null : KeepRules.safeParse(parse(stored));
    return read?.success ? read.data : { ...this.options.defaults, workflows: {} };
  }

  save(next: KeepRules): void {
    this.settings.set(RULES_KEY, JSON.stringify(KeepRules.parse(next)));
  }

  /**
   * Makes an existing small database able to shrink; a large one would delay the start. If it can't be rewritten, for
   * example because a page is damaged, it stays unchanged and `warn` is called.
   */
  allowShrinking(warn: (message: string, error: unknown) => void = () => {}): void {
    const bytes = this.pragmaNumber("page_count") * this.pragmaNumber("page_size");
    if (this.canShrink() || bytes > REWRITTEN) return;
    try {
      this.client.pragma("auto_vacuum = INCREMENTAL");
      this.client.exec("vacuum");
    } catch (error) {
      warn("Couldn't rewrite the database so that it can shrink; continuing without.", error);
    }
  }

  /**
   * Permanently deletes a run from the bin: hidden at once, its files are deleted piece by piece, which isn't awaited. False if it
   * is not in the bin.
   */
  purge(id: string): boolean {
    const isBinned = this.db
      .select({ id: runs.id })
      .from(runs)
      .where(and(eq(runs.id, id), isNotNull(runs.deletedAt)))
      .get();
    const isGone = isBinned !== undefined && this.takeAway(id);
    // The next regular sweep tries again, and logs the error.
    if (isGone) this.sweep().catch(() => {});
    return isGone;
  }

  /** How many runs the rules do not keep. */
  countOutdated() {
    return this.outdated(1_000_000).length;
  }

  /** Deletes what the rules don't keep and returns how many runs. Joins a sweep that is already running. */
  sweep(): Promise<number> {
    this.work ??= this.sweepAll().finally(() => {
      this.work = null;
    });
    return this.work;
  }

  sizes(): StorageSizes {
    const pages = this.pragmaNumber("page_count");
    const pageSize = this.pragmaNumber("page_size");
    const free = this.pragmaNumber("freelist_count");
    const counts = this.client
      .prepare<[], { status: string; count: number }>(
        "select status, count(*) as count from runs group by status",
      )
      .all();
    const countOf = (status: string) => counts.find((one) => one.status === status)?.count ?? 0;
    const all = counts.reduce((sum, { count }) => sum + count, 0);
    const files = present(
      this.client
        .prepare<[], { bytes: number | null }>("select sum(size) as bytes from workspace_files")
        .get(),
      "null",
    );
    const { dataDir } = this.options;
    return {
      database: pages * pageSize,
      free: free * pageSize,
      can_shrink: this.canShrink(),
      wal: dataDir === null ? 0 : sizeOf(path.join(dataDir, "troupe.db-wal")),
      files: files.bytes ?? 0,
      copies: copiesIn(dataDir),
      runs: {
        finished: countOf("finished"),
        held: countOf("held"),
        other: all - countOf("finished") - countOf("held"),
      },
    };
  }

  /** The oldest finished runs of one rule that it does not keep. `whose`: the runs that it is about. */
  private outdatedBy(rule: KeepRule, whose: SQL | undefined, limit: number): string[] {
    const found = new Set<string>();
    // Runs that other runs started go with those.
    const finished = and(eq(runs.status, "finished"), isNull(runs.parentRun), whose);
    const addOldest = (condition: SQL | undefined, most: number) => {
      const oldest = this.db
        .select({ id: runs.id })
        .from(runs)
        .where(and(finished, condition))
        .orderBy(asc(runs.createdAt), asc(runs.id))
        .limit(most);
      for (const { id } of oldest.all()) found.add(id);
    };
    if (rule.days !== null) {
      const end = this.now() - rule.days * DAY_MS;
      addOldest(and(lt(runs.createdAt, end), lt(runs.finishedAt, end)), limit);
    }
    if (rule.runs !== null) {
      const all = this.db.select({ all: count() }).from(runs).where(finished).get()?.all ?? 0;
      if (all > rule.runs) addOldest(undefined, Math.min(limit, all - rule.runs));
    }
    return [...found];
  }

  private binned(limit: number): string[] {
    return this.db
      .select({ id: runs.id })
      .from(runs)
      .where(lt(runs.deletedAt, binEnd(this.now())))
      .limit(limit)
      .all()
      .map(({ id }) => id);
  }

  /** A run whose parent is deleted. */
  private left(): string | undefined {
    return this.client
      .prepare<[], string>(
        `select id from runs c where parent_run is not null and status = 'finished'
         and not exists (select 1 from runs p where p.id = c.parent_run) limit 1`,
      )
      .pluck()
      .get();
  }

  private outdated(limit: number): string[] {
    const { workflows, ...common } = this.rules();
    const own = Object.keys(workflows);
    const others =
      own.length === 0 ? undefined : or(isNull(runs.workflowId), notInArray(runs.workflowId, own));
    return [
      ...this.outdatedBy(common, others, limit),
      ...own.flatMap((id) => this.outdatedBy(must(workflows, id), eq(runs.workflowId, id), limit)),
    ].slice(0, limit);
  }

  private pragmaNumber(name: keyof ReturnType<typeof pragmasOf>): number {
    return this.pragmas[name].get() ?? 0;
  }

  private canShrink() {
    return this.client.pragma("auto_vacuum", { simple: true }) !== 0;
  }

  private removing(): string[] {
    return textsOf(parse(this.settings.find(REMOVING_KEY) ?? "[]"));
  }

  private removePiece(id: string): boolean {
    return PIECES.some(({ table, rows }) => {
      const some = sql`select rowid from ${table} where ${table.runId} = ${id} limit ${rows}`;
      return this.db.delete(table).where(sql`rowid in (${some})`).run().changes > 0;
    });
  }

  /** One piece of work, a few milliseconds; false when nothing is left to do. */
  private step(): "removed" | "worked" | "done" {
    const [current] = this.removing();
    if (current !== undefined) {
      if (this.removePiece(current)) return "worked";
      this.settings.set(REMOVING_KEY, JSON.stringify(this.removing().slice(1)));
      return "removed";
    }
    const next = this.outdated(1)[0] ?? this.binned(1)[0] ?? this.left();
    if (next !== undefined) {
      this.takeAway(next);
      return "worked";
    }
    const before = this.pragmaNumber("freelist_count");
    if (before === 0) return "done";
    this.client.pragma("incremental_vacuum(64)");
    return this.pragmaNumber("freelist_count") < before ? "worked" : "done";
  }

  private async sweepAll(): Promise<number> {
    let count = 0;
    for (;;) {
      const did = this.step();
      if (did === "done") return count;
      if (did === "removed") count++;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS).unref());
    }
  }
}

/** Copies of the database that were made before updates, oldest first. */
export function copyFiles(dataDir: string): { name: string; bytes: number }[] {
  if (!existsSync(dataDir)) return [];
  return readdirSync(dataDir)
    .filter((name) => /^troupe\.db\.before-.*\.bak$/.test(name))
    .sort()
    .map((name) => ({ name, bytes: sizeOf(path.join(dataDir, name)) }));
}

function copiesIn(dataDir: string | null): StorageSizes["copies"] {
  const copies = dataDir === null ? [] : copyFiles(dataDir);
  return { count: copies.length, bytes: copies.reduce((sum, { bytes }) => sum + bytes, 0) };
}

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch {
    return 0;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const pragmasOf = (client: Db["$client"]) => ({
  freelist_count: client.prepare<[], number>("select freelist_count from pragma_freelist_count").pluck(),
  page_count: client.prepare<[], number>("select page_count from pragma_page_count").pluck(),
  page_size: client.prepare<[], number>("select page_size from pragma_page_size").pluck(),
});
