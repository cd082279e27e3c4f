import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import Database from "better-sqlite3";
import type { Db } from "../db/open";

/** Commits a second of bare SQLite with the same settings: one transaction for each node, a row like one of ours. */
export function bareCommitsPerSecond(commits: number, bytes = 420): number {
  const dir = mkdtempSync(path.join(os.tmpdir(), "troupe-bare-"));
  const db = new Database(path.join(dir, "bare.db"));
  try {
    db.pragma("journal_mode = WAL");
    db.pragma("synchronous = NORMAL");
    db.exec("create table turns (run_id text, turn integer, events text, primary key (run_id, turn))");
    const insert = db.prepare("insert into turns values (?, ?, ?)");
    const events = "x".repeat(bytes);
    const began = performance.now();
    for (let turn = 0; turn < commits; turn++) db.transaction(() => insert.run("run", turn, events))();
    return commits / ((performance.now() - began) / 1000);
  } finally {
    db.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** A run's rows as the executor leaves them. */
export interface RunRows {
  run: Record<string, unknown>;
  turns: Record<string, unknown>[];
}

/**
 * Runs a second of bare SQLite that writes the same rows into the same tables: one commit for the creation of a run, and
 * one for each record after it, with the change of the run's row.
 */
export function bareRunsPerSecond(client: Db["$client"], { run, turns }: RunRows, times: number): number {
  const insertInto = (table: string, row: Record<string, unknown>) => {
    const names = Object.keys(row);
    return client.prepare(
      `insert into ${table} (${names.join(",")}) values (${names.map((n) => `@${n}`).join(",")})`,
    );
  };
  const insertRun = insertInto("runs", run);
  const insertTurn = insertInto("run_turns", turns[0]!);
  const changed = Object.keys(run).filter((name) => name !== "id");
  const updateRun = client.prepare(
    `update runs set ${changed.map((n) => `${n} = @${n}`).join(",")} where id = @id`,
  );
  const began = performance.now();
  for (let at = 0; at < times; at++) {
    const id = `bare_${began}_${at}`;
    const first = { ...run, id, status: "queued", idempotency_key: null };
    client.transaction(() => {
      insertRun.run(first);
      insertTurn.run({ ...turns[0], run_id: id });
    })();
    for (const turn of turns.slice(1))
      client.transaction(() => {
        insertTurn.run({ ...turn, run_id: id });
        updateRun.run({ ...run, id, idempotency_key: null });
      })();
  }
  return times / ((performance.now() - began) / 1_000);
}
