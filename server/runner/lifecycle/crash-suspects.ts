import type { RunningMarker } from "@/server/store/runs/running-marker";
import type { RunStore } from "@/server/store/runs/runs";
import type { Executing, Watchdog } from "@/server/store/watchdog";
import type { HostLog } from "./host-log";

/** The runs that ended the last process, and what it did meanwhile, as the end of a sentence that begins with "The server". */
export interface Stopped {
  run_ids: readonly string[];
  why: string;
}

/** For which runs this thread computes, noted where a next start finds it: so it is known which run ended the server. */
export class Computing {
  private isNoted = false;

  constructor(
    private readonly parts: {
      runningMarker?: RunningMarker | undefined;
      watchdog?: Watchdog | undefined;
      /** Whether the last process crashed; a killed one did not. */
      crashed?: boolean | undefined;
      store: Pick<RunStore, "noteStops">;
      log?: HostLog | undefined;
    },
  ) {}

  /** The thread computes for these runs, until it comes round again. */
  note(runIds: readonly string[]): void {
    const { runningMarker } = this.parts;
    if (!runningMarker) return;
    runningMarker.note(runIds);
    if (this.isNoted) return;
    this.isNoted = true;
    setImmediate(() => {
      this.isNoted = false;
      runningMarker.clear();
    });
  }

  /** Tells the watchdog what `work` is executed for, also after an `await` in it. */
  around<T>(what: Executing, work: () => T): T {
    return this.parts.watchdog ? this.parts.watchdog.around(what, work) : work();
  }

  /**
   * Which runs ended the last process is written down before anything is taken up. A kill, however often and at whatever
   * moment, makes no run suspect. Where the watchdog ended the process and knows the run, that counts like two crashes.
   */
  noteWhatStopped(): Stopped {
    const { runningMarker, watchdog, crashed, store, log } = this.parts;
    const marked = runningMarker?.last() ?? [];
    const hang = watchdog?.last();
    const { run_id, step, request } = hang ?? {};
    let stopped: Stopped = { run_ids: [], why: "" };
    if (hang) {
      const place = step === undefined ? "" : ` (step ${step})`;
      const why = `stopped responding while executing this run${place}`;
      stopped = { run_ids: run_id !== undefined ? [run_id] : request !== undefined ? [] : marked, why };
      log?.("warn", `The server stopped responding and ${hang.ended ? "was terminated" : "ended"}.`, {
        ...hang,
        run_ids: stopped.run_ids,
      });
    } else if (crashed && marked.length > 0) {
      stopped = { run_ids: marked, why: "crashed while executing this run" };
      log?.("warn", "The server crashed while executing a run.", { run_ids: marked });
    }
    store.noteStops(stopped.run_ids, hang?.ended && run_id !== undefined ? 2 : 1);
    runningMarker?.clear();
    watchdog?.forgetLast();
    return stopped;
  }

  close(): void {
    this.parts.runningMarker?.close();
    this.parts.watchdog?.close();
  }
}
