import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Database } from "../db/sqlite.mjs";

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
