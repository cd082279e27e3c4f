// The package that carries out runs on Restate, packages/engine-restate: installed on demand, apart from what every start
// needs. Its lock file says what exactly.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { dataFolder, npmCommand, root, runProgram } from "./prepare.mjs";

const home = path.join(root, "packages", "engine-restate");
const stamp = path.join(home, "node_modules", ".troupe-lock");

const lockHash = () =>
  createHash("sha256")
    .update(readFileSync(path.join(home, "package-lock.json")))
    .digest("hex");

/** What is installed, as the lock file is now: `server`, `worker`, or null. */
function installed() {
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
  await lock();
  try {
    return isThere() ? null : await install(what);
  } finally {
    rmSync(lockFolder, { recursive: true, force: true });
  }
}

const lockFolder = path.join(home, ".installing");
const LOOK_EVERY_MS = 300;
/** Whoever began so long ago has not come to an end. */
const STALE_MS = 10 * 60_000;

async function lock() {
  for (;;)
    try {
      return mkdirSync(lockFolder);
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
      const began = statSync(lockFolder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
      if (Date.now() - began > STALE_MS) rmSync(lockFolder, { recursive: true, force: true });
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
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

/** Where `npm run engine` lays the key by which workers of the same data folder know it. */
export const publicKeyFile = () => path.join(dataFolder(), "restate", "identity.pub");

/** Restate's program and what one says to it; only once the package is installed. */
export const restateServer = () => import("../packages/engine-restate/restate-server.mjs");
