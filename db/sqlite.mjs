// The one place that names a database driver, in plain JavaScript so that the scripts can ask it before anything is
// built. Importing a driver reads no native code; opening a database does, so only the chosen one is ever loaded.
import process from "node:process";
import Current from "better-sqlite3";
import ForNode20 from "better-sqlite3-node20";

/**
 * Opens SQLite databases: the current better-sqlite3, which brings its binaries along and needs Node 22 or newer; on
 * Node 20 the last version that runs there, which scripts/prepare.mjs builds.
 * @type {typeof Current}
 */
export const Database = Number(process.versions.node.split(".", 1)[0]) < 22 ? ForNode20 : Current;
