import { errorMessage } from "@/server/domain/base/guards";

/** The save status, shown at the top of the editor. */
export type SaveState<D> =
  | { state: "clean" }
  | { state: "dirty" }
  | { state: "saving" }
  | { state: "saved"; at: number }
  | { state: "failed"; reason: string }
  | { state: "conflict"; theirs: D; revision: number };

/** What became of an attempt to save. */
export type SaveResult<D> =
  | { ok: true; revision: number }
  | { ok: false; conflict: { theirs: D; revision: number } }
  | { ok: false; reason: string };

export interface AutosaveOptions<D> {
  /** The document as it is now, and the revision that it is based on. */
  read(): { doc: D; revision: number };
  isDirty(): boolean;
  save(doc: D, revision: number): Promise<SaveResult<D>>;
  /** The server has this document now. */
  onSaved(doc: D, revision: number): void;
  onState(state: SaveState<D>): void;
  delayMs?: number;
  retryMs?: number;
  now?: () => number;
}

export interface Autosave {
  /** The document changed. `atOnce`: something came or went, which must not be lost to a closed tab. */
  changed(atOnce?: boolean): void;
  /** Saves pending changes; true if everything is saved afterwards. */
  flush(): Promise<boolean>;
  /** A conflict was settled: the document is based on the newer revision now. */
  settled(): void;
  stop(): void;
}

/** Autosave: one request at a time, debounced, never overwriting someone else's version. */
export function newAutosave<D>(options: AutosaveOptions<D>): Autosave {
  const { delayMs = 800, retryMs = 5000, now = Date.now } = options;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pendingSave: Promise<boolean> | null = null;
  let isStopped = false;
  let hasConflict = false;

  const schedule = (ms: number) => {
    clearTimeout(timer);
    if (!isStopped) timer = setTimeout(() => void flush(), ms);
  };

  async function attempt(): Promise<boolean> {
    const { doc, revision } = options.read();
    options.onState({ state: "saving" });
    const result = await options.save(doc, revision).catch((error: unknown) => ({
      ok: false as const,
      reason: errorMessage(error),
    }));
    if (result.ok) {
      options.onSaved(doc, result.revision);
      options.onState(options.isDirty() ? { state: "dirty" } : { state: "saved", at: now() });
      return true;
    }
    if ("conflict" in result) {
      hasConflict = true;
      options.onState({ state: "conflict", ...result.conflict });
    } else {
      options.onState({ state: "failed", reason: result.reason });
      schedule(retryMs);
    }
    return false;
  }

  async function flush(): Promise<boolean> {
    clearTimeout(timer);
    if (pendingSave) {
      const went = await pendingSave;
      return went && options.isDirty() ? flush() : went;
    }
    if (hasConflict) return false;
    if (!options.isDirty()) return true;
    pendingSave = attempt();
    const went = await pendingSave;
    pendingSave = null;
    // Something was written meanwhile: it waits for its own turn.
    if (went && options.isDirty()) schedule(delayMs);
    return went && !options.isDirty();
  }

  return {
    changed(atOnce = false) {
      if (hasConflict) return;
      if (!options.isDirty()) {
        clearTimeout(timer);
        if (!pendingSave) options.onState({ state: "clean" });
        return;
      }
      if (!pendingSave) options.onState({ state: "dirty" });
      schedule(atOnce ? 0 : delayMs);
    },
    flush,
    settled() {
      hasConflict = false;
      this.changed(true);
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
