import { AsyncLocalStorage } from "node:async_hooks";
import { readFileSync, rmSync } from "node:fs";
import inspector from "node:inspector";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { ownJson } from "./own-json";

/** For what code is executed: a run, with the key of its step, or a request. */
export interface Executing {
  run_id?: string;
  step?: string;
  /** Method and path. */
  request?: string;
}

declare global {
  var __troupeExecuting: AsyncLocalStorage<Executing> | undefined;
}

/**
 * Known after an `await` as well. On globalThis: the routes are separate bundles, the start script names requests here, and
 * the watchdog's thread asks for it while the server's thread is stuck.
 */
export const executing = (globalThis.__troupeExecuting ??= new AsyncLocalStorage<Executing>());

/** What the server's thread executed when it no longer responded. */
export interface Hang extends Executing {
  /** Whether the watchdog ended the process. */
  ended: boolean;
  stack?: string;
}

/** Sees when the server's thread no longer responds. */
export interface Watchdog {
  /** How the last process hung when it ended; null where it did not. */
  last(): Hang | null;
  /** What `last` says was written down. */
  forgetLast(): void;
  /** Executes `work`, knowing what for. */
  around<T>(what: Executing, work: () => T): T;
  start(): void;
  close(): void;
}

/** Not import.meta.url: the server is bundled, and the thread must load the file as it is. */
const workerFile = () => path.join(process.cwd(), "server", "store", "watchdog-worker.mjs");

/**
 * A thread that writes down what the server's thread executes once that one missed `misses` checks, `everyMs` milliseconds
 * apart, and deletes the note when it responds again. After `endAfter` missed checks it ends the process; 0: never. A check
 * counts for less where the process got little of a processor.
 */
export function newWatchdog(
  dataDir: string,
  { everyMs = 1_000, misses = 3, endAfter = 0, warn = (_message: string, _error: unknown) => {} } = {},
): Watchdog {
  const file = path.join(dataDir, "standing-still");
  // Read at once: the thread overwrites it.
  const last = readHang(file);
  let stop: (() => void) | null = null;

  const start = () => {
    const numbers = new Int32Array(new SharedArrayBuffer(8));
    const worker = new Worker(workerFile(), {
      workerData: { file, numbers, everyMs, misses, endAfter },
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
      // Neither the loaders of development and tests, nor anything that the server knows.
      execArgv: [],
      argv: [],
      env: {},
    });
    worker.unref();
    worker.on("error", (error) => warn("The watchdog stopped unexpectedly.", error));
    const beat = () => {
      Atomics.add(numbers, 0, 1);
      // Whoever debugs the server stops its thread on purpose.
      Atomics.store(numbers, 1, inspector.url() === undefined ? 0 : 1);
    };
    const beating = setInterval(beat, everyMs / 2);
    beating.unref();
    return () => {
      clearInterval(beating);
      void worker.terminate().then(() => rmSync(file, { force: true }));
    };
  };

  return {
    last: () => last,
    forgetLast: () => rmSync(file, { force: true }),
    around: (what, work) => executing.run(what, work),
    start() {
      stop ??= start();
    },
    close() {
      stop?.();
    },
  };
}

function readHang(file: string): Hang | null {
  try {
    return ownJson<Hang>(readFileSync(file, "utf8"));
  } catch {
    return null;
  }
}
