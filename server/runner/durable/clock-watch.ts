import type { WorkTime } from "./clock";

/** A wall clock that differs so much from the time at work was set, or the machine slept. */
const JUMP_MS = 1000;

/** The wall clock and the time at work at the same moment. */
export interface Seen {
  at: number;
  worked: number;
}

/** Watches the wall clock beside the time at work, for one run: where the two part, the machine slept or its clock was set. */
export class ClockWatch {
  /** Both times when they were last compared, at an answer that came in this process; null before the first. */
  seen: Seen | null = null;

  constructor(private readonly time: WorkTime) {}

  /** From this instant of the wall clock on. */
  note(at: number): void {
    this.seen = { at, worked: this.time.read() };
  }

  /** By how much the wall clock, at `now`, went ahead of the time at work since the last answer; 0 where that is little. */
  jump(now: number): number {
    if (!this.seen) return 0;
    const { at, worked } = this.seen;
    const jump = Math.round(now - at - (this.time.read() - worked));
    return Math.abs(jump) < JUMP_MS ? 0 : jump;
  }
}
