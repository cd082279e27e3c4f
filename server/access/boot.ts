import { subscribe } from "node:diagnostics_channel";
import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage, Server } from "node:http";
import path from "node:path";
import { type Database as Connection } from "better-sqlite3";
import { Database } from "@/db/sqlite.mjs";
import { isLoopback } from "@/server/settings";
import { type Env, isOwnHost } from "./hosts";
import { LIMITS } from "./limits";
import { registerSecret } from "./redact";

/** Why this address may not be served with these settings, in one sentence; null where it may. */
export function checkBinding(env: Env): string | null {
  const host = env.HOST || "127.0.0.1";
  if (isLoopback(host) || (env.TROUPE_PASSWORD ?? "").length >= 8) return null;
  return env.TROUPE_PASSWORD
    ? "TROUPE_PASSWORD must have at least 8 characters."
    : `HOST=${host} would open Troupe to other machines, and nothing would ask them who they are. Set TROUPE_PASSWORD as well.`;
}

/** Why Troupe cannot keep its data here, in one sentence; null where it can. Makes the folder if it is missing. */
export function checkDataFolder(dir: string): string | null {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK);
    // Permissions do not say it all: the disk may be mounted for reading only.
    writeFileSync(path.join(dir, ".write-test"), "", { mode: 0o600 });
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why =
      code === "ENOSPC"
        ? "the disk is full"
        : code === "ENOTDIR" || code === "EEXIST"
          ? "it is not a folder"
          : "it cannot be written to";
    return `Troupe keeps its data in ${dir}, but ${why}. Set TROUPE_DATA_DIR to another folder, or change that.`;
  }
}

const held = globalThis as typeof globalThis & { __troupeLock?: Connection; __troupeHttp?: boolean };

/**
 * Claims the data folder for this process: null, or a sentence that says who has it. The claim is a transaction that
 * stays open, so the system gives it up when the process dies, however it dies.
 */
export function lockDataFolder(dir: string, port: string = process.env.PORT || "3000"): string | null {
  if (held.__troupeLock) return null;
  const noteFile = path.join(dir, "server.json");
  const lock = new Database(path.join(dir, "server.lock"), { timeout: 0 });
  try {
    lock.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    if (!String((error as { code?: string }).code).startsWith("SQLITE_BUSY")) throw error;
    return `Another Troupe server is using ${dir}${owner(noteFile)}. Stop it first, or set TROUPE_DATA_DIR to another folder.`;
  }
  held.__troupeLock = lock;
  writeFileSync(noteFile, JSON.stringify({ pid: process.pid, port }), { mode: 0o600 });
  return null;
}

/** Gives the folder up; for tests and an orderly end. */
export function unlockDataFolder(): void {
  held.__troupeLock?.close();
  held.__troupeLock = undefined;
}

function owner(noteFile: string): string {
  try {
    const { pid, port } = JSON.parse(readFileSync(noteFile, "utf8")) as { pid: unknown; port: unknown };
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

/**
 * The same for an HTTP server that Next makes for itself, as it does in development: limits on its sockets, and a
 * request in a foreign name is led to the one place that refuses it. `npm start` has edge.ts in front.
 */
export function hardenHttpServer(): void {
  if (held.__troupeHttp) return;
  held.__troupeHttp = true;
  const { headersTimeoutMs, requestTimeoutMs, maxConnections } = LIMITS.http;
  const limited = new WeakSet<Server>();
  subscribe("http.server.request.start", (message) => {
    const { request, server } = message as { request: IncomingMessage; server: Server };
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
  for (const [name, value] of Object.entries(env))
    if (value && /(?:KEY|TOKEN|PASSWORD|SECRET)$/.test(name)) registerSecret(value.trim());
}
