import type { AtWork } from "@/server/store/at-work";
import type { RunStore } from "@/server/store/runs";
import type { Watchdog } from "@/server/store/watchdog";
import type { HostLog } from "./host-log";

/** For which runs this thread computes, noted where a next start finds it: so it is known which run ended the server. */
export class Computing {
  private isNoted = false;

  constructor(
    private readonly parts: {
      atWork?: AtWork | undefined;
      watchdog?: Watchdog | undefined;
      store: Pick<RunStore, "noteStops">;
      log?: HostLog | undefined;
    },
  ) {}

  /** The thread computes for these runs, until it comes round again. */
  note(runIds: readonly string[]): void {
    const { atWork } = this.parts;
    if (!atWork) return;
    atWork.note(runIds);
    if (this.isNoted) return;
    this.isNoted = true;
    setImmediate(() => {
      this.isNoted = false;
      atWork.clear();
    });
  }

  /** How steps of a run that go on beside the thread are noted; nothing where nobody watches the thread. */
  watchSteps(runId: string): { stepBegins?: () => () => void } {
    const { watchdog } = this.parts;
    return watchdog ? { stepBegins: () => watchdog.stepBegins(runId) } : {};
  }

  /**
   * What the last process computed when it ended is written down before anything is taken up. Answers the runs of which it
   * is only known that they had a step under way when the thread stood still.
   */
  noteWhatStopped(): ReadonlySet<string> {
    const { atWork, watchdog, store, log } = this.parts;
    const computed = atWork?.last() ?? [];
    const guessed = computed.length > 0 ? [] : (watchdog?.last() ?? []);
    const stopped = [...computed, ...guessed];
    if (stopped.length > 0) {
      const what =
        guessed.length > 0
          ? "stood still while steps were under way, and ended."
          : "ended while it computed a run.";
      log?.("warn", `The server ${what}`, { run_ids: stopped });
      store.noteStops(stopped);
      atWork?.clear();
    }
    watchdog?.forgetLast();
    return new Set(guessed);
  }

  close(): void {
    this.parts.atWork?.close();
    this.parts.watchdog?.close();
  }
}
