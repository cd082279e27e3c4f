// One process at a time for work on shared files.
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import process from "node:process";

const LOOK_EVERY_MS = 300;

/**
 * Waits until no other process holds the lock in this file, then does the work while it holds it.
 * @template T
 * @param {string} file
 * @param {() => T | Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(file, work) {
  while (!isTaken(file)) await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

/** Takes the lock, if it is free. That of a process that has ended is removed, and is free the next time. */
function isTaken(file) {
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
  // A power cut can leave it empty; a process that takes it writes its number at once.
  if (!holder) return Date.now() - made > 10_000;
  try {
    process.kill(holder, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
}
