// A lock file: one process at a time works on shared files.
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import process from "node:process";

const POLL_MS = 300;

/**
 * Waits for the lock, then does the work while it holds it.
 * @template T
 * @param {string} file
 * @param {() => T | Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(file, work) {
  while (!acquire(file)) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

/** Acquires the lock if it is free. Removes the lock of a dead process, so that the next attempt succeeds. */
function acquire(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  }
  if (isAbandoned(file)) rmSync(file, { force: true });
  return false;
}

function isAbandoned(file) {
  const made = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  if (made === undefined) return false;
  const holder = Number(readFileSync(file, "utf8"));
  // A power failure can leave it empty. A process that acquires it writes its id at once.
  if (!holder) return Date.now() - made > 10_000;
  try {
    process.kill(holder, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
}
