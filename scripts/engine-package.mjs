// Installs packages/engine-restate, which executes runs on Restate, when a command first needs it.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { withLock } from "./lock.mjs";
import { dataFolder, ensureDataDir, npmCommand, root, runProgram } from "./prepare.mjs";

const home = path.join(root, "packages", "engine-restate");
const stamp = path.join(home, "node_modules", ".troupe-lock");

const lockHash = () =>
  createHash("sha256")
    .update(readFileSync(path.join(home, "package-lock.json")))
    .digest("hex");

/** What is installed from the current lock file: `server`, `worker`, or null. */
export function installed() {
  if (!existsSync(stamp)) return null;
  const [hash, what] = readFileSync(stamp, "utf8").split(" ");
  return hash === lockHash() ? what : null;
}

/**
 * Installs the package if it doesn't match its lock file: `server` with Restate's own binary (216 MB), `worker` without.
 * Returns null, or why it failed. Concurrent calls, also of other processes, install once.
 */
export async function ensureEnginePackage(what) {
  const isInstalled = () => ["server", what].includes(installed());
  if (isInstalled()) return null;
  return withLock(path.join(home, ".installing.lock"), () => (isInstalled() ? null : install(what)));
}

async function install(what) {
  console.log(
    what === "server"
      ? "Installing Restate (216 MB). This happens once."
      : "Installing the packages of workers (9 MB). This happens once.",
  );
  const [npm, args, options] = npmCommand([
    "ci",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
    ...(what === "worker" ? ["--omit=optional"] : []),
  ]);
  const { code, output } = await runProgram(npm, args, {
    ...options,
    cwd: home,
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (code !== 0) return `npm could not install packages/engine-restate: ${output.trim().split("\n").at(0)}`;
  writeFileSync(stamp, `${lockHash()} ${what}`);
  return null;
}

/** The folder of Restate's data and of the identity key that workers with the same data folder trust. */
export function ensureEngineFolder() {
  const folder = path.join(ensureDataDir(), "restate");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** The file of the private key, created by the first engine or worker, and the public key. */
export async function ensureEngineIdentity() {
  const { ensureIdentity } = await import("../packages/engine-restate/identity.mjs");
  const file = path.join(ensureEngineFolder(), "identity.pem");
  return { file, publicKey: ensureIdentity(file) };
}

/**
 * The public key a worker trusts: TROUPE_RESTATE_IDENTITY, else the one in its data folder. Null if other machines can reach
 * the worker and its data folder has no key: then the setting is required.
 */
export async function workerIdentity(env = process.env) {
  if (env.TROUPE_RESTATE_IDENTITY) return env.TROUPE_RESTATE_IDENTITY;
  const isLocal = LOOPBACK.test(env.TROUPE_WORKER_HOST || "127.0.0.1");
  const hasKey = existsSync(path.join(dataFolder(), "restate", "identity.pem"));
  return isLocal || hasKey ? (await ensureEngineIdentity()).publicKey : null;
}

/** Loopback host names and addresses. */
export const LOOPBACK = /^(localhost|127(\.\d+){3}|\[?::1\]?)$/;

/** Installs everything that tests on Restate need. Returns null, or why they can't run here. */
export async function whyNoEngine() {
  const { hasRestate } = await restateServer();
  return hasRestate()
    ? await ensureEnginePackage("server")
    : `there is no Restate for ${process.platform}-${process.arch}`;
}

/** Starts and queries Restate. Call it after the package is installed. */
export const restateServer = () => import("../packages/engine-restate/restate-server.mjs");
