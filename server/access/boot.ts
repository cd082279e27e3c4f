import { subscribe } from "node:diagnostics_channel";
import {
  accessSync,
  chmodSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import type { IncomingMessage, Server } from "node:http";
import path from "node:path";
import type { Database as Connection } from "better-sqlite3";
import Database from "better-sqlite3";
import { errorCode, isObject } from "@/server/domain/base/guards";
import type { Env } from "@/server/settings";
import { isLoopback } from "@/server/settings";
import { LIMITS } from "../limits";
import { registerNamedSecrets } from "../secrets/redact";
import { isOwnHost } from "./requests/hosts";

/** Why this address may not be served with these settings, in one sentence; null where it may. */
export function checkBinding(env: Env): string | null {
  const host = env.HOST || "127.0.0.1";
  if (isLoopback(host) || (env.TROUPE_PASSWORD ?? "").length >= 8) return null;
  return env.TROUPE_PASSWORD
    ? "TROUPE_PASSWORD must have at least 8 characters."
    : `HOST=${host} would let other machines in without a password. Set TROUPE_PASSWORD as well.`;
}

/** Why Troupe cannot keep its data here, in one sentence; null where it can. Makes the folder if it is missing. */
export function checkDataFolder(dir: string): string | null {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK);
    // Permissions do not say it all: the disk may be mounted for reading only.
    writeFileSync(path.join(dir, ".write-test"), "", { mode: 0o600 });
    rmSync(path.join(dir, ".write-test"), { force: true });
    return null;
  } catch (error) {
    const code = errorCode(error);
    const why =
      code === "ENOSPC"
        ? "the disk is full"
        : code === "ENOTDIR" || code === "EEXIST"
          ? "it isn't a folder"
          : "it isn't writable";
    return `Troupe stores its data in ${dir}, but ${why}. Fix this, or set TROUPE_DATA_DIR to another folder.`;
  }
}

/** What Troupe itself keeps in its data folder; a restore unpacks beside it. */
const OWN =
  /^(?:troupe\.db(?:-wal|-shm|-journal|\.restoring|\.before-\d+\.bak)?|before-restore-\d+|secret\.key|\.env|server\.(?:json|lock|lock-journal)|at-work|standing-still|roles|\.DS_Store)$/;

/** Whether a file of this name in the data folder is Troupe's own. */
export const isOwnName = (name: string) => OWN.test(name);

/**
 * Closes the data folder to other users of this machine, as one is that Troupe makes itself. A folder that holds other
 * things as well, or belongs to somebody else, is left as it is: then it answers with a sentence that says so.
 */
export function closeDataFolder(dir: string): string | null {
  if (process.platform === "win32") return null;
  const { mode } = statSync(dir);
  if ((mode & 0o077) === 0) return null;
  // A folder with the sticky bit is everybody's on purpose.
  if ((mode & 0o1000) === 0 && readdirSync(dir).every((name) => OWN.test(name)))
    try {
      chmodSync(dir, 0o700);
      return null;
    } catch {
      // Somebody else's.
    }
  return `Other users of this machine can list the data folder ${dir}, but can't read Troupe's files in it. To restrict access to the folder: chmod 700 ${dir}`;
}

declare global {
  var __troupeLock: Connection | undefined;
  var __troupeHttp: boolean | undefined;
  var __troupeSelfGuarding: WeakSet<Server> | undefined;
}

/**
 * Claims the data folder for this process: null, or a sentence that says who has it. The claim is a transaction that
 * stays open, so the system gives it up when the process dies, however it dies.
 */
export function lockDataFolder(dir: string, port: string = process.env.PORT || "3000"): string | null {
  if (globalThis.__troupeLock) return null;
  const noteFile = path.join(dir, "server.json");
  const file = path.join(dir, "server.lock");
  writeFileSync(file, "", { mode: 0o600, flag: "a" });
  if (process.platform !== "win32") chmodSync(file, 0o600);
  const lock = new Database(file, { timeout: 0 });
  try {
    lock.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    if (!errorCode(error)?.startsWith("SQLITE_BUSY")) throw error;
    return `Another Troupe server is using ${dir}${owner(noteFile)}. Stop it first, or set TROUPE_DATA_DIR to another folder.`;
  }
  globalThis.__troupeLock = lock;
  writeFileSync(noteFile, JSON.stringify({ pid: process.pid, port }), { mode: 0o600 });
  return null;
}

/** Gives the folder up; for tests and an orderly end. */
export function unlockDataFolder(): void {
  globalThis.__troupeLock?.close();
  globalThis.__troupeLock = undefined;
}

function owner(noteFile: string): string {
  try {
    const note: unknown = JSON.parse(readFileSync(noteFile, "utf8"));
    const { pid, port } = isObject(note) ? note : {};
    return Number.isInteger(pid) ? ` (process ${Number(pid)}, http://127.0.0.1:${Number(port)})` : "";
  } catch {
    return "";
  }
}

/**
 * Makes polluting the prototypes that everything shares an error instead of a success. Frozen ones would break React's
 * server rendering; these only refuse new keys.
 */
export function hardenPrototypes(): void {
  for (const shared of [Object.prototype, Array.prototype, Function.prototype])
    Object.preventExtensions(shared);
}

globalThis.__troupeSelfGuarding ??= new WeakSet();
const selfGuarding = globalThis.__troupeSelfGuarding;

/** A server that no browser is to reach, and that looks by itself at whoever asks. */
export const guardsItself = (server: Server): void => void selfGuarding.add(server);

/**
 * The same for an HTTP server that Next makes for itself, as it does in development: limits on its sockets, and a
 * request in a foreign name is led to the one place that refuses it. `npm start` has request-filter.ts in front.
 */
export function hardenHttpServer(): void {
  if (globalThis.__troupeHttp) return;
  globalThis.__troupeHttp = true;
  const { headersTimeoutMs, requestTimeoutMs, maxConnections } = LIMITS.http;
  const limited = new WeakSet<Server>();
  subscribe("http.server.request.start", (message) => {
    // What Node publishes on this channel.
    const { request, server } = message as { request: IncomingMessage; server: Server };
    if (selfGuarding.has(server)) return;
    if (!limited.has(server)) {
      limited.add(server);
      server.headersTimeout = headersTimeoutMs;
      server.requestTimeout = requestTimeoutMs;
      server.maxConnections = maxConnections;
    }
    if (!isOwnHost(request.headers.host ?? null)) request.url = "/api/v1/health";
  });
}

/** Loads what must never be shown, before anything is logged. */
export function registerEnvironmentSecrets(env: Env = process.env): void {
  registerNamedSecrets(env);
}
