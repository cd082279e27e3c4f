import type { WorkTime } from "./clock";

/** If the wall clock and the work time differ by more, the clock was set or the machine slept. */
const JUMP_MS = 1000;

/** Wall clock and work time, read at the same moment. */
export interface Seen {
  at: number;
  worked: number;
}

/** Compares the wall clock with the work time of one run: if they diverge, the machine slept or its clock was set. */
export class ClockWatch {
  /** Both times when they were last compared, at an answer that came in this process; null before the first. */
  seen: Seen | null = null;

  constructor(private readonly time: WorkTime) {}

  /** From this instant of the wall clock on. */
  note(at: number): void {
    this.seen = { at, worked: this.time.read() };
  }

  /** How far the wall clock, at `now`, moved ahead of the work time since the last answer; 0 if only slightly. */
  jump(now: number): number {
    if (!this.seen) return 0;
    const { at, worked } = this.seen;
    const jump = Math.round(now - at - (this.time.read() - worked));
    return Math.abs(jump) < JUMP_MS ? 0 : jump;
  }
}
