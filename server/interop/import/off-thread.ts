import { existsSync } from "node:fs";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { Rejection } from "@/server/domain/errors/rejection";
import type { SentFile } from "./archive";
import type { ImportChoices, ImportRead } from "./pipeline";

export interface ReadingJob {
  sent: readonly SentFile[];
  choices: ImportChoices;
}
export type ReadingAnswer = { read: ImportRead } | { rejected: string } | { failed: string };

const LIMITS = {
  /** Milliseconds that reading one import may take. */
  readMs: 5_000,
  /** Milliseconds that the thread may take to start, on a machine that is busy with other things. */
  startMs: 30_000,
  /** Without anything to read the thread ends. */
  idleMs: 60_000,
  memoryMb: 512,
  waiting: 50,
};

const stopped = (why: string): { read: ImportRead } => ({
  read: {
    found: [],
    picked: null,
    imported: null,
    findings: [
      { level: "error", at: "", message: `${why} Shorten the files, or import them one at a time.` },
    ],
  },
});
const TOO_LONG = stopped(`Reading the files took longer than ${LIMITS.readMs / 1_000} s and was stopped.`);
const TOO_MUCH = stopped("Reading the files took too much memory and was stopped.");
const BUSY = stopped("Too many imports are in progress. Try again shortly.");

/** Not import.meta.url: the server is bundled, and the thread needs the original file. */
function workerFile(): string {
  const bundled = path.join(process.cwd(), "cli", "import-worker.mjs");
  return existsSync(bundled)
    ? bundled
    : path.join(process.cwd(), "server", "interop", "import", "worker.mjs");
}

/**
 * Reads imports in a thread, one after another, so that no file can hold the server. The thread starts with the first
 * import and is kept for the next ones; over its limits of time and memory it is ended, and a finding says so. The
 * function that it returns unpacks archives, and throws Rejection.
 */
export function newImportReader({ file = workerFile, limits = LIMITS } = {}) {
  let worker: Worker | null = null;
  let hear: (heard: "ready" | ReadingAnswer | { ended: ReadingAnswer }) => void = () => {};
  let idle: ReturnType<typeof setTimeout> | undefined;
  let line: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  function start(): Worker {
    const started = new Worker(file(), {
      // A large young generation can overshoot the limit so far that V8 ends the entire process.
      resourceLimits: { maxOldGenerationSizeMb: limits.memoryMb, maxYoungGenerationSizeMb: 16 },
      // Neither the loaders of development and tests, nor anything that the server knows.
      execArgv: [],
      env: {},
      argv: [],
    });
    started.on("message", (message: "ready" | ReadingAnswer) => hear(message));
    started.on("error", (error: NodeJS.ErrnoException) => {
      const isMemory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
      if (worker === started) hear({ ended: isMemory ? TOO_MUCH : { failed: error.stack ?? error.message } });
    });
    return started;
  }
  function stop(): void {
    void worker?.terminate();
    worker = null;
  }

  function answerTo(job: ReadingJob): Promise<ReadingAnswer> {
    clearTimeout(idle);
    const isWarm = worker !== null;
    worker ??= start();
    const own = worker;
    return new Promise((resolve) => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const limit = (ms: number, otherwise: ReadingAnswer) => {
        clearTimeout(timer);
        timer = setTimeout(() => hear({ ended: otherwise }), ms);
      };
      hear = (heard) => {
        if (heard === "ready") return limit(limits.readMs, TOO_LONG);
        clearTimeout(timer);
        hear = () => {};
        if ("ended" in heard) {
          stop();
          return resolve(heard.ended);
        }
        // Waiting for the next import keeps no process alive.
        own.unref();
        idle = setTimeout(stop, limits.idleMs);
        idle.unref();
        resolve(heard);
      };
      if (isWarm) limit(limits.readMs, TOO_LONG);
      else limit(limits.startMs, { failed: "The import thread did not start." });
      own.ref();
      own.postMessage(job);
    });
  }

  return async (sent: readonly SentFile[], choices: ImportChoices = {}): Promise<ImportRead> => {
    if (waiting >= limits.waiting) return BUSY.read;
    waiting++;
    const answer = line.then(() => answerTo({ sent, choices }));
    // A fault of one import does not hold up the next.
    line = answer.catch(() => {});
    const given = await answer.finally(() => waiting--);
    if ("read" in given) return given.read;
    if ("rejected" in given) throw new Rejection("not_importable", given.rejected);
    throw new Error(given.failed);
  };
}

declare global {
  var __troupeImportReader: ReturnType<typeof newImportReader> | undefined;
}

/** Reads files in the thread of this process. Throws Rejection. */
export const readSent = (sent: readonly SentFile[], choices?: ImportChoices): Promise<ImportRead> => {
  globalThis.__troupeImportReader ??= newImportReader();
  return globalThis.__troupeImportReader(sent, choices);
};
