import { errorCode, errorMessage } from "@/server/domain/base/guards";
import { must } from "@/server/domain/base/must";
import { namedError } from "@/server/domain/base/named-error";
import { isPassing } from "@/server/domain/base/transient-error";
import type { TurnWrite } from "@/server/store/runs/runs";

/** A turn that can never be written, whatever one waits for; `cause` says why. */
export class Unwritable extends namedError("Unwritable") {}

interface Waiting {
  write: TurnWrite;
  done: () => void;
  reject: (error: Unwritable) => void;
}

const RETRY_MS = 500;

/** After a disk or another process was in the way of a run. */
export const TRY_AGAIN_MS = 500;

/** Whether the whole database is closed for a moment: no other write would succeed either. */
const isBusy = (error: unknown) => /^SQLITE_(BUSY|LOCKED)/.test(errorCode(error) ?? "");

/**
 * Writes the turns of all runs into the log. Those that wait at the same moment share a transaction; where it fails, each
 * is tried by itself, so that one that cannot be written holds up no other. A fault that passes is waited out.
 */
export class LogWriter {
  private waiting: Waiting[] = [];
  /** Held up by a fault that passes; tried again after a while, apart from those that come new. */
  private later: Waiting[] = [];
  private isScheduled = false;
  private retry: ReturnType<typeof setTimeout> | null = null;

  constructor(
    private readonly write: (writes: readonly TurnWrite[]) => void,
    private readonly warn: (message: string, error: unknown) => void,
  ) {}

  /** How many turns are not yet in the log. */
  get size(): number {
    return this.waiting.length + this.later.length;
  }

  /** Resolves when the turn is in the log; rejects with `Unwritable` where it never can be. */
  append(write: TurnWrite): Promise<void> {
    return new Promise((done, reject) => {
      this.waiting.push({ write, done, reject });
      if (this.isScheduled) return;
      this.isScheduled = true;
      setImmediate(() => {
        this.isScheduled = false;
        const batch = this.waiting;
        this.waiting = [];
        this.writeBatch(batch);
      });
    });
  }

  private writeBatch(batch: readonly Waiting[]): void {
    const error = this.attempt(batch);
    if (error === null) return;
    if (isBusy(error)) this.putOff(batch, error);
    else if (batch.length === 1) this.giveUpOrPutOff(must(batch, 0), error);
    else this.writeOneByOne(batch);
  }

  private writeOneByOne(batch: readonly Waiting[]): void {
    for (const [at, one] of batch.entries()) {
      const error = this.attempt([one]);
      if (isBusy(error)) return this.putOff(batch.slice(at), error);
      if (error !== null) this.giveUpOrPutOff(one, error);
    }
  }

  /** Answers what went wrong, or null. */
  private attempt(batch: readonly Waiting[]): unknown {
    try {
      this.write(batch.map(({ write }) => write));
    } catch (error) {
      return error ?? new Error("unknown");
    }
    for (const { done } of batch) done();
    return null;
  }

  private giveUpOrPutOff(one: Waiting, error: unknown): void {
    if (isPassing(error)) this.putOff([one], error);
    else one.reject(new Unwritable(writeErrorText(error), { cause: error }));
  }

  private putOff(batch: readonly Waiting[], error: unknown): void {
    this.later.push(...batch);
    if (this.retry) return;
    this.warn("The log could not be written; retrying.", error);
    this.retry = setTimeout(() => {
      this.retry = null;
      const again = this.later;
      this.later = [];
      this.writeBatch(again);
    }, RETRY_MS);
  }
}

function writeErrorText(error: unknown): string {
  const message = errorMessage(error);
  if (errorCode(error) === "SQLITE_TOOBIG" || /Invalid (string|array) length/.test(message))
    return "One step of this run produced more than can be stored. Make its values smaller, or write large data to files.";
  return `The result of one step could not be stored: ${message}`;
}
