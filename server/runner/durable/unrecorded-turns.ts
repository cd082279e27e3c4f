import { TURN_MS } from "./open-turn";

/** What may be on its way into the log together: in turns, in characters, and in milliseconds that they took. */
const MOST_UNRECORDED = { turns: 64, chars: 1024 * 1024, ms: 2 * TURN_MS };

/** Turns on their way into the log that nothing has waited for yet. */
export class UnrecordedTurns {
  private turns: Promise<void>[] = [];
  private chars = 0;
  private since = 0;

  constructor(private readonly stopwatch: () => number) {}

  get isEmpty(): boolean {
    return this.turns.length === 0;
  }

  /** Whether one more may be on its way with them. */
  get hasRoom(): boolean {
    return (
      this.isEmpty ||
      (this.turns.length < MOST_UNRECORDED.turns &&
        this.chars < MOST_UNRECORDED.chars &&
        this.stopwatch() - this.since < MOST_UNRECORDED.ms)
    );
  }

  add(written: Promise<void>, chars: number, beganAt: number): void {
    // Who waits for it later hears of a failure.
    written.catch(() => {});
    if (this.isEmpty) this.since = beganAt;
    this.turns.push(written);
    this.chars += chars;
  }

  /** Waits for all of them, and for one more. */
  async all(written: Promise<void> | undefined): Promise<void> {
    await Promise.all([...this.turns, written]);
    this.turns = [];
    this.chars = 0;
  }
}
