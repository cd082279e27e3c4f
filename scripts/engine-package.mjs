// The package that carries out runs on Restate, packages/engine-restate: installed on demand, apart from what every start
// needs. Its lock file says what exactly.
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

/** What is installed, as the lock file is now: `server`, `worker`, or null. */
export function installed() {
  if (!existsSync(stamp)) return null;
  const [hash, what] = readFileSync(stamp, "utf8").split(" ");
  return hash === lockHash() ? what : null;
}

/**
 * Installs the package if it is not there as its lock file says: `server` with Restate's own program (216 MB), `worker`
 * without. Answers null, or why that did not succeed. Several that are started at the same time install it once.
 */
export async function ensureEnginePackage(what) {
  const isThere = () => ["server", what].includes(installed());
  if (isThere()) return null;
  return withLock(path.join(home, ".installing.lock"), () => (isThere() ? null : install(what)));
}

async function install(what) {
  console.log(
    what === "server"
      ? "Installing what runs on Restate need, with Restate itself (216 MB). This happens once."
      : "Installing what workers need beside Troupe itself (9 MB). This happens once.",
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

/** What Restate keeps, and the keys by which the workers of a data folder know the Restate of the same. */
export function ensureEngineFolder() {
  const folder = path.join(ensureDataDir(), "restate");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** The private key's file, made if it is not there, and the public key. Whoever of engine and workers is first makes it. */
export async function ensureEngineIdentity() {
  const { ensureIdentity } = await import("../packages/engine-restate/identity.mjs");
  const file = path.join(ensureEngineFolder(), "identity.pem");
  return { file, publicKey: ensureIdentity(file) };
}

/**
 * By which key a worker knows Restate, where it is not told: that of its own data folder. Null: it listens to other machines, so it
 * has to be told, unless a Restate has been on this folder.
 */
export async function workerIdentity(env = process.env) {
  if (env.TROUPE_RESTATE_IDENTITY) return env.TROUPE_RESTATE_IDENTITY;
  const isAlone = LOOPBACK.test(env.TROUPE_WORKER_HOST || "127.0.0.1");
  const isThere = existsSync(path.join(dataFolder(), "restate", "identity.pem"));
  return isAlone || isThere ? (await ensureEngineIdentity()).publicKey : null;
}

/** Names of this machine for itself. */
export const LOOPBACK = /^(localhost|127(\.\d+){3}|\[?::1\]?)$/;

/** Why runs on Restate cannot be tested here; null where they can, with everything installed. */
export async function whyNoEngine() {
  const { hasRestate } = await restateServer();
  return hasRestate()
    ? await ensureEnginePackage("server")
    : `there is no Restate for ${process.platform}-${process.arch}`;
}

/** Restate's program and what one says to it; only once the package is installed. */
export const restateServer = () => import("../packages/engine-restate/restate-server.mjs");
