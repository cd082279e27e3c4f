import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { COPIES_KEPT, openDb } from "./open";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), "troupe-open-"));
  mkdirSync(path.join(dir, "migrations", "meta"), { recursive: true });
  vi.stubEnv("TROUPE_MIGRATIONS_DIR", path.join(dir, "migrations"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(dir, { recursive: true, force: true });
});

/** A version of Troupe whose database has so many tables, one for each update. */
function release(updates: number) {
  const entries = Array.from({ length: updates }, (_, idx) => ({
    idx,
    version: "6",
    when: idx + 1,
    tag: `000${idx}_t`,
    breakpoints: true,
  }));
  for (const { idx, tag } of entries)
    writeFileSync(path.join(dir, "migrations", `${tag}.sql`), `CREATE TABLE t${idx} (x integer);`);
  writeFileSync(
    path.join(dir, "migrations", "meta", "_journal.json"),
    JSON.stringify({ version: "7", dialect: "sqlite", entries }),
  );
}
const copies = () =>
  readdirSync(dir)
    .filter((name) => name.endsWith(".bak"))
    .sort();
const tables = (file: string) => {
  const db = new Database(path.join(dir, file), { readonly: true });
  const names = db.prepare("select name from sqlite_master where name like 't%' order by 1").pluck().all();
  db.close();
  return names;
};

test("a private backup is made before each migration, and only the newest are kept", () => {
  const file = path.join(dir, "troupe.db");
  const updates = COPIES_KEPT + 2;
  for (let version = 1; version <= updates; version++) {
    release(version);
    openDb(file).$client.close();
    // Opened again without an update: no copy.
    openDb(file).$client.close();
  }
  expect(copies()).toHaveLength(COPIES_KEPT);
  expect(copies().map(tables)).toEqual(
    Array.from({ length: COPIES_KEPT }, (_, at) =>
      Array.from({ length: updates - COPIES_KEPT + at }, (_, table) => `t${table}`),
    ),
  );
  if (process.platform === "win32") return;
  const modes = [...copies(), "troupe.db"].map((name) => statSync(path.join(dir, name)).mode & 0o777);
  expect(modes).toEqual(modes.map(() => 0o600));
});

test("foreign and differently named backups are left alone", () => {
  const file = path.join(dir, "troupe.db");
  release(1);
  openDb(file).$client.close();
  const theirs = ["troupe.db.before-the-move.bak", "other.db.before-1.bak", "troupe.db.bak"];
  for (const name of theirs) writeFileSync(path.join(dir, name), "");
  chmodSync(path.join(dir, "troupe.db.bak"), 0o644);
  for (let version = 2; version <= COPIES_KEPT + 3; version++) {
    release(version);
    openDb(file).$client.close();
  }
  expect(copies()).toEqual(expect.arrayContaining(theirs));
  expect(copies()).toHaveLength(theirs.length + COPIES_KEPT);
});

test("a damaged page doesn't prevent a migration: the file is copied and readable data is kept", () => {
  const file = path.join(dir, "troupe.db");
  release(2);
  const before = openDb(file).$client;
  before.exec("insert into t0 values (1); insert into t1 values (2)");
  const page = before
    .prepare<[], number>("select rootpage from sqlite_master where name = 't0'")
    .pluck()
    .get();
  const size = before.pragma("page_size", { simple: true });
  before.close();
  const bytes = readFileSync(file);
  bytes.fill(0xff, (Number(page) - 1) * Number(size), Number(page) * Number(size));
  writeFileSync(file, bytes);

  release(3);
  const { $client: client } = openDb(file);
  expect(client.prepare("select x from t1").pluck().all()).toEqual([2]);
  expect(client.prepare("select x from t2").pluck().all()).toEqual([]);
  expect(() => client.prepare("select x from t0").all()).toThrow("malformed");
  client.close();
  const [copy = ""] = copies();
  expect(copies()).toEqual([copy]);
  expect(readFileSync(path.join(dir, copy)).equals(bytes)).toBe(true);
  if (process.platform !== "win32") expect(statSync(path.join(dir, copy)).mode & 0o777).toBe(0o600);
});
