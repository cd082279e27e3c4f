import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { Worker } from "node:worker_threads";

/**
 * Knows which runs had a step under way when the server's thread stood still. Code that runs after an `await` inside a step
 * tells nobody whose it is, so these runs are all that it can be: who it was is found out by taking them up one by one.
 */
export interface Watchdog {
  /** The runs that had a step under way when the last process stood still, if it ended so; mostly none. */
  last(): string[];
  /** What `last` says was written down. */
  forgetLast(): void;
  /** A step of this run is under way, until what is answered is called. Costs well below a microsecond; never throws. */
  stepBegins(runId: string): () => void;
  close(): void;
}

/** Where nothing outlives the process. */
const NO_WATCHDOG: Watchdog = {
  last: () => [],
  forgetLast: () => {},
  stepBegins: () => () => {},
  close: () => {},
};

const SLOTS = 1024;
/** Of each slot, and of what stands before the first: how many steps, how long the id is, the id. */
const SLOT_BYTES = 64;
const ID_BYTES = SLOT_BYTES - 8;

/** Not import.meta.url: the server is bundled, and the thread must load the file as it is. */
const workerFile = () => path.join(process.cwd(), "server", "store", "watchdog-worker.mjs");

/**
 * A thread that notes those runs in a small file, once the server's thread has not come round for `everyMs` times `misses`
 * milliseconds, and wipes the note when it does again. It starts with the first step.
 */
export function newWatchdog(
  dataDir: string | null,
  { everyMs = 1_000, misses = 3, warn = (_message: string, _error: unknown) => {} } = {},
): Watchdog {
  if (dataDir === null) return NO_WATCHDOG;
  const file = path.join(dataDir, "standing-still");
  // Read at once: the thread writes over it.
  const last = readIds(file);
  const memory = new SharedArrayBuffer((SLOTS + 1) * SLOT_BYTES);
  const numbers = new Int32Array(memory);
  const slotOf = new Map<string, number>();
  const free = Array.from({ length: SLOTS }, (_, at) => SLOTS - at);
  let stop: (() => void) | null = null;
  let isClosed = false;

  const start = () => {
    const worker = new Worker(workerFile(), {
      workerData: { file, memory, everyMs, misses, slots: SLOTS, slotBytes: SLOT_BYTES },
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
      // Neither the loaders of development and tests, nor anything that the server knows.
      execArgv: [],
      argv: [],
      env: {},
    });
    worker.unref();
    // Without it a run that stops the server this way is not recognised; everything else works.
    worker.on("error", (error) => warn("The watchdog has ended.", error));
    const beating = setInterval(() => Atomics.add(numbers, 0, 1), everyMs / 2);
    beating.unref();
    return () => {
      clearInterval(beating);
      void worker.terminate().then(() => rmSync(file, { force: true }));
    };
  };

  const leave = (runId: string, slot: number) => {
    const at = (slot * SLOT_BYTES) / 4;
    if (Atomics.sub(numbers, at, 1) > 1) return;
    slotOf.delete(runId);
    free.push(slot);
  };

  return {
    last: () => last,
    forgetLast: () => rmSync(file, { force: true }),
    stepBegins(runId) {
      if (isClosed) return () => {};
      stop ??= start();
      let slot = slotOf.get(runId);
      if (slot === undefined) {
        slot = free.pop();
        // More runs at once than anybody allows: those beyond are not watched.
        if (slot === undefined) return () => {};
        slotOf.set(runId, slot);
        const at = slot * SLOT_BYTES;
        const { written } = new TextEncoder().encodeInto(runId, encoded);
        new Uint8Array(memory, at + 8, ID_BYTES).set(encoded.subarray(0, written));
        numbers[at / 4 + 1] = written;
      }
      const mine = slot;
      Atomics.add(numbers, (mine * SLOT_BYTES) / 4, 1);
      return () => leave(runId, mine);
    },
    close() {
      isClosed = true;
      stop?.();
    },
  };
}

/** Texts are not encoded into shared memory by every version of Node. */
const encoded = new Uint8Array(ID_BYTES);

function readIds(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split(" ").filter(Boolean);
  } catch {
    return [];
  }
}
