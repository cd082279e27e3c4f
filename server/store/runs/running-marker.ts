import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import path from "node:path";
import { must } from "@/server/domain/base/must";

/** For which runs the server's thread computes, noted where it outlives the process. */
export interface RunningMarker {
  /** The runs that the last process computed when it ended without a farewell; mostly none. */
  last(): string[];
  /** Notes that the thread computes for these runs from now on. Costs about a microsecond; never throws. */
  note(runIds: readonly string[]): void;
  /** The thread computes for no run. */
  clear(): void;
  close(): void;
}

/** More than one run is noted only while their turns are written together. */
const MOST = 64;

/**
 * A small file next to the database that names the runs being computed. It is written in place and never synced: it
 * must outlive the process, not the machine, since a power cut is not the fault of a run.
 */
export function newRunningMarker(dataDir: string | null): RunningMarker {
  if (dataDir === null) return { last: () => [], note: () => {}, clear: () => {}, close: () => {} };
  const file = path.join(dataDir, "at-work");
  // Read at once: the first note of this process writes over it.
  const last = readIds(file);
  let fd: number | null = null;
  let noted: string | null = null;
  let isClosed = false;
  const write = (text: string) => {
    if (text === noted || isClosed) return;
    try {
      fd ??= openSync(file, "w", 0o600);
      // What stands behind the end of the line is left over from longer ones.
      writeSync(fd, `${text}\n`, 0);
      noted = text;
    } catch {
      // Without the note a run that stops the server is not recognised; everything else works.
    }
  };
  return {
    last: () => last,
    note: (runIds) => write(runIds.slice(0, MOST).join(" ")),
    clear: () => write(""),
    close() {
      write("");
      isClosed = true;
      if (fd !== null) closeSync(fd);
    },
  };
}

function readIds(file: string): string[] {
  try {
    return must(readFileSync(file, "utf8").split("\n", 1), 0).split(" ").filter(Boolean);
  } catch {
    return [];
  }
}
