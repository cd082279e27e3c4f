import {
  closeSync,
  createReadStream,
  createWriteStream,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import type { Database as Connection } from "better-sqlite3";
import Database from "better-sqlite3";
import { copyDatabase, pendingMigrations } from "@/db/open";
import { namedError } from "@/server/domain/base/named-error";

// A backup is one file: a gzip of the database, with two extra tables for the files next to it. The gzip checksum
// detects every changed or missing byte; SQLite alone doesn't.

const DATABASE = "troupe.db";
const KEY_FILE = "secret.key";
const ROLES = "roles";
/** Names that a backup may bring: nothing leads out of the data folder. */
const BROUGHT = /^(?:secret\.key|roles\/[^/\\]+\.(?:ya?ml|json|md))$/i;
const ROLE_FILE = /^[^.].*\.(?:ya?ml|json|md)$/i;

/** Why a backup can't be written or restored, as a message. */
export class BackupError extends namedError("BackupError") {}

/** What is in a backup. */
export interface BackupAbout {
  /** Milliseconds since 1970. */
  madeAt: number;
  /** The Troupe that made it. */
  version: string;
  hasKey: boolean;
  /** How many files of the folder of roles. */
  roles: number;
  /** Unfinished runs; they resume from where they stopped. */
  unfinished: number;
}

/**
 * Writes a backup of a data folder, also while a server uses it: the database at one moment, the role files and, with
 * `withKey`, the key file. Only the owner can read it, and a failed backup leaves the previous file intact. Throws
 * BackupError.
 */
export async function writeBackup(
  dataDir: string,
  file: string,
  { withKey, force, version }: { withKey: boolean; force: boolean; version: string },
): Promise<BackupAbout & { bytes: number }> {
  const source = path.join(dataDir, DATABASE);
  if (!existsSync(source)) throw new BackupError(`No database at ${source}.`);
  if (existsSync(file) && !force)
    throw new BackupError(`${file} already exists. Choose another name, or add --force to replace it.`);
  const besides = filesBeside(dataDir, withKey);
  const copy = `${file}.copy-${process.pid}`;
  const part = `${file}.part-${process.pid}`;
  const drop = () => {
    for (const scratch of [copy, `${copy}-journal`, part]) rmSync(scratch, { force: true });
  };
  // Also where Ctrl+C ends it: the copy is all of the data, and takes the same space again.
  process.once("exit", drop);
  try {
    copyNow(source, copy);
    const about = addBesides(copy, besides, version);
    const out = createWriteStream(part, { mode: 0o600, flags: "wx" });
    await pipeline(createReadStream(copy), createGzip(), out);
    onDisk(part);
    renameSync(part, file);
    return { ...about, bytes: statSync(file).size };
  } catch (error) {
    throw toBackupError(error, "Can't write the backup");
  } finally {
    drop();
    process.off("exit", drop);
  }
}

/** Files in the data folder that belong to the database. */
function filesBeside(dataDir: string, withKey: boolean): { name: string; content: Buffer }[] {
  const roles = path.join(dataDir, ROLES);
  const names = existsSync(roles)
    ? readdirSync(roles)
        .filter((name) => ROLE_FILE.test(name) && statSync(path.join(roles, name)).isFile())
        .map((name) => `${ROLES}/${name}`)
    : [];
  if (withKey && !existsSync(path.join(dataDir, KEY_FILE)))
    throw new BackupError(
      `There is no key file in ${dataDir}. Omit --with-key, and back up TROUPE_SECRET_KEY separately.`,
    );
  if (withKey) names.push(KEY_FILE);
  return names.map((name) => ({ name, content: readFileSync(path.join(dataDir, name)) }));
}

function copyNow(source: string, copy: string): void {
  const client = new Database(source, { fileMustExist: true, timeout: 5_000 });
  try {
    copyDatabase(client, copy);
  } finally {
    client.close();
  }
}

function addBesides(
  copy: string,
  besides: readonly { name: string; content: Buffer }[],
  version: string,
): BackupAbout {
  const client = new Database(copy);
  try {
    // What a restore would refuse is not worth keeping.
    checkWhole(client, "The database");
    client.exec(`create table backup_about (made_at integer not null, version text not null);
      create table backup_files (name text primary key, content blob not null)`);
    client.prepare("insert into backup_about values (?, ?)").run(Date.now(), version);
    const add = client.prepare("insert into backup_files values (?, ?)");
    for (const { name, content } of besides) add.run(name, content);
    return aboutOf(client);
  } finally {
    client.close();
  }
}

/** A backup that was unpacked and looked at, and is not yet in its place. */
export interface OpenedBackup extends BackupAbout {
  files: { name: string; content: Buffer }[];
}

/**
 * Unpacks a backup into a new database file, and looks whether it is whole and of this version of Troupe or an older one.
 * Nobody stays signed in by it. Throws BackupError, and leaves no file then.
 */
export async function openBackup(file: string, into: string): Promise<OpenedBackup> {
  if (!existsSync(file)) throw new BackupError(`File not found: ${file}.`);
  try {
    await pipeline(
      createReadStream(file),
      createGunzip(),
      createWriteStream(into, { mode: 0o600, flags: "wx" }),
    );
    const opened = takeBesides(into);
    onDisk(into);
    return opened;
  } catch (error) {
    rmSync(into, { force: true });
    throw toBackupError(error, `${file} is damaged or not a Troupe backup`);
  } finally {
    rmSync(`${into}-journal`, { force: true });
  }
}

function takeBesides(database: string): OpenedBackup {
  const client = new Database(database);
  try {
    client.pragma("trusted_schema = OFF");
    client.pragma("cell_size_check = ON");
    checkWhole(client, "Its database");
    const about = aboutOf(client);
    const files = client
      .prepare<[], { name: string; content: Buffer }>("select name, content from backup_files")
      .all();
    if (!files.every(({ name, content }) => BROUGHT.test(name) && Buffer.isBuffer(content)))
      throw new BackupError("This is not a Troupe backup: it contains unknown files.");
    if (updatesBefore(client) === null)
      throw new BackupError("This backup was made by a newer version of Troupe. Update Troupe first.");
    // The key must not stay in the pages that become free.
    client.pragma("secure_delete = ON");
    client.exec("drop table backup_files; drop table backup_about; delete from sessions");
    return { ...about, files };
  } finally {
    client.close();
  }
}

function aboutOf(client: Connection): BackupAbout {
  const about = client
    .prepare<[], { made_at: number; version: string }>("select made_at, version from backup_about")
    .get();
  if (!about) throw new BackupError("This backup has no creation time.");
  return {
    madeAt: about.made_at,
    version: about.version,
    hasKey: client.prepare("select 1 from backup_files where name = ?").get(KEY_FILE) !== undefined,
    roles:
      client
        .prepare<[string], number>("select count(*) from backup_files where name <> ?")
        .pluck()
        .get(KEY_FILE) ?? 0,
    unfinished:
      client
        .prepare<[], number>(
          "select count(*) from runs where status in ('queued', 'running', 'waiting', 'paused')",
        )
        .pluck()
        .get() ?? 0,
  };
}

/** How many updates these tables have before them; null where they are ahead of this version. */
function updatesBefore(client: Connection): number | null {
  try {
    return pendingMigrations({ $client: client });
  } catch {
    return null;
  }
}

function checkWhole(client: Connection, what: string): void {
  const found = client.pragma("integrity_check(1)", { simple: true });
  if (found !== "ok")
    throw new BackupError(
      `${what} is damaged (${typeof found === "string" ? found : "SQLite can't read it"}).`,
    );
}

/**
 * Moves an unpacked backup into a data folder that no server uses. Existing data moves into a folder next to it, which
 * is itself a data folder. Returns that folder's name, or null if there was no data.
 */
export function placeBackup(
  dataDir: string,
  database: string,
  { files, hasKey }: OpenedBackup,
): string | null {
  const present = inTheWay(dataDir, hasKey);
  const aside = present.length > 0 ? path.join(dataDir, `before-restore-${Date.now()}`) : null;
  if (aside) {
    mkdirSync(aside, { mode: 0o700 });
    foldLog(path.join(dataDir, DATABASE));
    // The database last: what an interrupted restore leaves is never an old database with new files.
    for (const name of present) renameSync(path.join(dataDir, name), path.join(aside, name));
    const key = path.join(dataDir, KEY_FILE);
    if (existsSync(key)) writeFileSync(path.join(aside, KEY_FILE), readFileSync(key), { mode: 0o600 });
  }
  for (const { name, content } of files) {
    const target = path.join(dataDir, name);
    mkdirSync(path.dirname(target), { recursive: true, mode: 0o700 });
    writeFileSync(target, content, { mode: 0o600 });
    onDisk(target);
  }
  renameSync(database, path.join(dataDir, DATABASE));
  return aside;
}

/** Checkpoints a database's write-ahead log, so that its file is complete by itself. */
function foldLog(file: string): void {
  try {
    const client = new Database(file, { fileMustExist: true });
    client.pragma("wal_checkpoint(TRUNCATE)");
    client.close();
  } catch {
    // Missing or damaged: then file and log are kept as they are.
  }
}

/** What a restore would replace in a data folder, by name. */
export function inTheWay(dataDir: string, hasKey: boolean): string[] {
  const names = [ROLES, `${DATABASE}-wal`, `${DATABASE}-shm`, DATABASE, ...(hasKey ? [KEY_FILE] : [])];
  return names.filter((name) => existsSync(path.join(dataDir, name)));
}

function onDisk(file: string): void {
  const handle = openSync(file, "r+");
  fsyncSync(handle);
  closeSync(handle);
}

/** A file error as a message; our own errors and programming errors are returned unchanged. */
function toBackupError(error: unknown, what: string): unknown {
  if (error instanceof BackupError || !(error instanceof Error) || !("code" in error)) return error;
  return new BackupError(`${what} (${error.message}).`);
}
