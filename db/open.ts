import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import type { Database as Connection } from "better-sqlite3";
import Database from "better-sqlite3";
import { type BetterSQLite3Database, drizzle } from "drizzle-orm/better-sqlite3";
import { migrate } from "drizzle-orm/better-sqlite3/migrator";
import { z } from "zod";

export type Db = BetterSQLite3Database & { $client: Connection };

/** Runs work as one transaction that holds the database's write lock from its beginning. */
export const writeTransaction = <T>(db: Db, work: () => T): T =>
  db.transaction(work, { behavior: "immediate" });

/** Where the migrations lie; a package may put them elsewhere. */
const migrationsFolder = () =>
  process.env.TROUPE_MIGRATIONS_DIR ?? path.join(process.cwd(), "db", "migrations");

/**
 * Opens a database file, ":memory:", or the bytes of a database to keep in memory, with the settings of every connection,
 * and migrates its tables. The file is copied to the same folder before tables change.
 */
export function openDb(file: string | Buffer): Db {
  if (isOnDisk(file)) mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const isNew = !isOnDisk(file) || !existsSync(file);
  let client = connect(file, isNew);
  try {
    const isBehind = pendingMigrations({ $client: client }) > 0;
    if (isBehind && isOnDisk(file) && !isNew) client = copyBeforeUpdate(client, file);
    const db: Db = drizzle(client);
    if (isBehind) applyMigrations(db);
    client.pragma("foreign_keys = ON");
    return db;
  } catch (error) {
    client.close();
    throw error;
  }
}

const isOnDisk = (file: string | Buffer): file is string => typeof file === "string" && file !== ":memory:";

function connect(file: string | Buffer, isNew: boolean): Connection {
  const client = new Database(file, { timeout: 200 });
  try {
    if (isOnDisk(file)) chmodSync(file, 0o600);
    // Space that deleted runs leave can be given back; says something only before the first table.
    if (isNew) client.pragma("auto_vacuum = INCREMENTAL");
    client.pragma("journal_mode = WAL");
    client.pragma("synchronous = NORMAL");
    client.pragma("journal_size_limit = 16777216");
    client.pragma("wal_autocheckpoint = 1000");
    client.pragma("trusted_schema = OFF");
    client.pragma("cell_size_check = ON");
    client.pragma("temp_store = MEMORY");
    return client;
  } catch (error) {
    client.close();
    throw error;
  }
}

function applyMigrations(db: Db) {
  // Inside Drizzle's one transaction this pragma does nothing, and a rebuilt table would cascade deletes.
  db.$client.pragma("foreign_keys = OFF");
  migrate(db, { migrationsFolder: migrationsFolder() });
  const broken = danglingRows(db.$client);
  if (broken > 0)
    throw new Error(
      `After the update ${broken} rows point to nothing; the copy beside the database is the state before.`,
    );
}

/** How many rows point to nothing; what cannot be read for damage is not counted. */
function danglingRows(client: Connection): number {
  try {
    return client.prepare("select * from pragma_foreign_key_check").all().length;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return 0;
  }
}

/** Whether SQLite met a page of the file that makes no sense. */
const isDamage = (error: unknown): boolean =>
  error instanceof Error &&
  "code" in error &&
  typeof error.code === "string" &&
  error.code.startsWith("SQLITE_CORRUPT");

/** How many copies from before updates stay beside the database. */
export const COPIES_KEPT = 3;

/**
 * Copies a database as it stands at this moment, whoever writes to it meanwhile, into a new file that nobody else can
 * read. Throws where that file exists; a copy that fails leaves none.
 */
export function copyDatabase(client: Connection, copy: string): void {
  // SQLite would make the file readable to everybody; into one that is there and empty it writes as well.
  writeFileSync(copy, "", { mode: 0o600, flag: "wx" });
  try {
    client.prepare("VACUUM INTO ?").run(copy);
  } catch (error) {
    rmSync(copy, { force: true });
    throw error;
  }
}

/** Copies the database beside itself, and lets the oldest copies go. Answers the connection to go on with. */
function copyBeforeUpdate(client: Connection, file: string): Connection {
  const copy = `${file}.before-${Date.now()}.bak`;
  const kept = copied(client, { file, copy });
  const [folder, prefix] = [path.dirname(file), `${path.basename(file)}.before-`];
  const made = readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && /^\d+\.bak$/.test(name.slice(prefix.length)))
    .sort(
      (a, b) => Number.parseInt(b.slice(prefix.length), 10) - Number.parseInt(a.slice(prefix.length), 10),
    );
  for (const name of made.slice(COPIES_KEPT))
    for (const part of [name, `${name}-wal`]) rmSync(path.join(folder, part), { force: true });
  return kept;
}

/** Where a page is damaged, SQLite copies nothing, and the files are copied as they are. */
function copied(client: Connection, { file, copy }: { file: string; copy: string }): Connection {
  try {
    copyDatabase(client, copy);
    return client;
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  // Brings the log into the file where that works; and whoever closes the file takes the locks off it.
  client.close();
  const ends = ["", "-wal"].filter((end) => existsSync(`${file}${end}`));
  try {
    for (const end of ends) {
      copyFileSync(`${file}${end}`, `${copy}${end}`, constants.COPYFILE_EXCL);
      chmodSync(`${copy}${end}`, 0o600);
    }
  } catch (error) {
    for (const end of ends) rmSync(`${copy}${end}`, { force: true });
    throw error;
  }
  return connect(file, false);
}

/** How many updates the tables of a database have before them. Throws where a newer version of Troupe wrote it. */
export function pendingMigrations({ $client: client }: Pick<Db, "$client">): number {
  const journal = readJournal();
  const table = client
    .prepare("select 1 from sqlite_master where type = 'table' and name = '__drizzle_migrations'")
    .get();
  if (!table) return journal.length;
  const last =
    client.prepare<[], number | null>("select max(created_at) from __drizzle_migrations").pluck().get() ?? 0;
  const newest = journal.at(-1)?.when ?? 0;
  if (last > newest)
    throw new Error(
      "This data folder was written by a newer version of Troupe. Update Troupe, or use another folder.",
    );
  return journal.filter((entry) => entry.when > last).length;
}

const Journal = z.object({ entries: z.array(z.object({ when: z.number() })) });

function readJournal(): { when: number }[] {
  const file = path.join(migrationsFolder(), "meta", "_journal.json");
  return Journal.parse(JSON.parse(readFileSync(file, "utf8"))).entries;
}
