import "server-only";
import path from "node:path";
import { type Db, openDb } from "./open";

/** The folder that holds everything Troupe keeps. */
export function dataDir(): string {
  return path.resolve(/* turbopackIgnore: true */ process.env.TROUPE_DATA_DIR || "./data");
}

declare global {
  var __troupeDb: Db | undefined;
}

/** The server's one database. On globalThis: separate bundles and dev reloads would open second copies. */
export function getDb(): Db {
  globalThis.__troupeDb ??= openDb(path.join(dataDir(), "troupe.db"));
  return globalThis.__troupeDb;
}
