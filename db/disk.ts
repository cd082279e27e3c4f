import { closeSync, fdatasync, openSync } from "node:fs";

/** Makes what was committed safe against a power cut. */
export interface Disk {
  /** Resolves when all that was committed before the call is on the disk. */
  sync(): Promise<void>;
}

/** For a database in memory, which survives nothing. */
export const NO_DISK: Disk = { sync: () => Promise.resolve() };

const RETRY_MS = 500;

/**
 * The disk under a database in WAL mode with `synchronous = NORMAL`. There a commit is one append to the write-ahead
 * log, and SQLite itself syncs that log only before it moves pages out of it. Syncing the log file makes every commit
 * in it durable, as `synchronous = FULL` would at each commit; but it is done beside this thread, once for all that
 * wait for it. After a power cut SQLite reads the log up to its last whole commit: each frame carries a checksum.
 */
export function newDisk(
  client: { name: string; memory: boolean; open: boolean },
  warn: (message: string, error: unknown) => void = () => {},
): Disk {
  if (client.memory) return NO_DISK;
  let log: number | null = null;
  let waiting: (() => void)[] = [];
  let isBusy = false;

  const flush = () => {
    const served = waiting;
    waiting = [];
    const done = (error: NodeJS.ErrnoException | null) => {
      if (error && client.open) {
        warn("The disk did not take what was written; trying again.", error);
        waiting = [...served, ...waiting];
        setTimeout(flush, RETRY_MS);
        return;
      }
      for (const resolve of served) resolve();
      isBusy = waiting.length > 0;
      if (isBusy) flush();
      else if (!client.open && log !== null) {
        closeSync(log);
        log = null;
      }
    };
    try {
      log ??= openSync(`${client.name}-wal`, "r+");
      fdatasync(log, done);
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  };

  return {
    sync: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        if (isBusy) return;
        isBusy = true;
        // After all that asks in this moment, so that one sync serves them together.
        process.nextTick(flush);
      }),
  };
}
