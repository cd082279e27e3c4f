import { existsSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import type { Db } from "@/db/open";
import { memories } from "@/db/schema";
import { ofRun } from "./memories";
import { newSettingStore } from "./settings";

const Days = z.int().min(1).max(36_500);
const Runs = z.int().min(1).max(10_000_000);

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

/** How much lies in the data folder, in bytes and numbers. */
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

export type Retention = ReturnType<typeof newRetention>;

const RULES_KEY = "retention";
/** Runs whose row is gone and whose log and files are being deleted. */
const REMOVING_KEY = "retention.removing";
/** How many rows, and pages given back, make one piece of work; a file of a workspace may have megabytes. */
const ROWS = { run_turns: 50, workspace_files: 4 };
const PAGES = 64;
/** Up to this size a database from before is rewritten at the start so that it can shrink, in bytes. */
const REWRITTEN = 64 * 1024 * 1024;
const PAUSE_MS = 20;
const DAY_MS = 24 * 3_600_000;

/** Deletes old runs with their files and memories, in pieces of a few milliseconds, and gives the space back. */
export function newRetention(
  db: Db,
  options: {
    dataDir: string | null;
    /** What holds until somebody sets it in the app. */
    defaults: KeepRule;
    now?: () => number;
  },
) {
  const { $client: client } = db;
  const { now = Date.now } = options;
  const settings = newSettingStore(db);
  let work: Promise<number> | null = null;

  const rules = (): KeepRules => {
    const stored = settings.find(RULES_KEY);
    const read = stored === null ? null : KeepRules.safeParse(parse(stored));
    return read?.success ? read.data : { ...options.defaults, workflows: {} };
  };

  /** The oldest finished runs of one rule that it does not keep. `where`: whose runs those are. */
  const outdatedBy = (rule: KeepRule, where: string, args: readonly string[], limit: number): string[] => {
    const found = new Set<string>();
    const oldest = (condition: string, more: readonly number[]) => {
      const sql = `select id from runs where status = 'finished' and ${where} ${condition} order by created_at, id limit ?`;
      for (const { id } of client.prepare<unknown[], { id: string }>(sql).all(...args, ...more))
        found.add(id);
    };
    if (rule.days !== null) {
      const end = now() - rule.days * DAY_MS;
      oldest("and created_at < ? and finished_at < ?", [end, end, limit]);
    }
    if (rule.runs !== null) {
      const sql = `select count(*) as count from runs where status = 'finished' and ${where}`;
      const { count } = client.prepare<unknown[], { count: number }>(sql).get(...args)!;
      if (count > rule.runs) oldest("", [Math.min(limit, count - rule.runs)]);
    }
    return [...found];
  };

  const outdated = (limit: number): string[] => {
    const { workflows, ...common } = rules();
    const own = Object.keys(workflows);
    const others =
      own.length === 0
        ? "true"
        : `(workflow_id is null or workflow_id not in (${own.map(() => "?").join(",")}))`;
    return [
      ...outdatedBy(common, others, own, limit),
      ...own.flatMap((id) => outdatedBy(workflows[id]!, "workflow_id = ?", [id], limit)),
    ].slice(0, limit);
  };

  const canShrink = () => client.pragma("auto_vacuum", { simple: true }) !== 0;

  const removing = (): string[] => parse(settings.find(REMOVING_KEY) ?? "[]") as string[];
  /** From here on nobody sees the run any more; what it wrote goes piece by piece. */
  const takeAway = client.transaction((id: string) => {
    const { changes } = client.prepare("delete from runs where id = ? and status = 'finished'").run(id);
    if (changes === 0) return;
    for (const table of ["run_timers", "run_signals"])
      client.prepare(`delete from ${table} where run_id = ?`).run(id);
    db.delete(memories).where(ofRun(id)).run();
    settings.set(REMOVING_KEY, JSON.stringify([...removing(), id]));
  });
  const removePiece = (id: string): boolean => {
    for (const [table, rows] of Object.entries(ROWS)) {
      const sql = `delete from ${table} where rowid in (select rowid from ${table} where run_id = ? limit ${rows})`;
      if (client.prepare(sql).run(id).changes > 0) return true;
    }
    return false;
  };

  /** One piece of work, a few milliseconds; false when nothing is left to do. */
  const step = (): "removed" | "worked" | "done" => {
    const [current] = removing();
    if (current !== undefined) {
      if (removePiece(current)) return "worked";
      settings.set(REMOVING_KEY, JSON.stringify(removing().slice(1)));
      return "removed";
    }
    const [next] = outdated(1);
    if (next !== undefined) {
      takeAway.immediate(next);
      return "worked";
    }
    const before = client.pragma("freelist_count", { simple: true }) as number;
    if (before === 0) return "done";
    client.pragma(`incremental_vacuum(${PAGES})`);
    return (client.pragma("freelist_count", { simple: true }) as number) < before ? "worked" : "done";
  };

  const sweepAll = async (): Promise<number> => {
    let count = 0;
    for (;;) {
      const did = step();
      if (did === "done") return count;
      if (did === "removed") count++;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS).unref());
    }
  };

  return {
    rules,

    save(next: KeepRules): void {
      settings.set(RULES_KEY, JSON.stringify(KeepRules.parse(next)));
    },

    /** Makes a small database from before able to shrink; a large one would keep the start waiting. */
    allowShrinking(): void {
      const bytes =
        (client.pragma("page_count", { simple: true }) as number) *
        (client.pragma("page_size", { simple: true }) as number);
      if (canShrink() || bytes > REWRITTEN) return;
      client.pragma("auto_vacuum = INCREMENTAL");
      client.exec("vacuum");
    },

    /** How many runs the rules do not keep. */
    countOutdated: () => outdated(1_000_000).length,

    /** Deletes what the rules do not keep; answers how many runs. A sweep that is under way is joined. */
    sweep(): Promise<number> {
      work ??= sweepAll().finally(() => {
        work = null;
      });
      return work;
    },

    sizes(): StorageSizes {
      const pages = client.pragma("page_count", { simple: true }) as number;
      const pageSize = client.pragma("page_size", { simple: true }) as number;
      const free = client.pragma("freelist_count", { simple: true }) as number;
      const counts = client
        .prepare<[], { status: string; count: number }>(
          "select status, count(*) as count from runs group by status",
        )
        .all();
      const countOf = (status: string) => counts.find((one) => one.status === status)?.count ?? 0;
      const all = counts.reduce((sum, { count }) => sum + count, 0);
      const files = client
        .prepare<[], { bytes: number | null }>("select sum(size) as bytes from workspace_files")
        .get()!;
      const { dataDir } = options;
      return {
        database: pages * pageSize,
        free: free * pageSize,
        can_shrink: canShrink(),
        wal: dataDir === null ? 0 : sizeOf(path.join(dataDir, "troupe.db-wal")),
        files: files.bytes ?? 0,
        copies: copiesIn(dataDir),
        runs: {
          finished: countOf("finished"),
          held: countOf("held"),
          other: all - countOf("finished") - countOf("held"),
        },
      };
    },
  };
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
