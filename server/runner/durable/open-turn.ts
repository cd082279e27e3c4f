import { must } from "@/server/domain/base/must";
import type { RunEvent } from "@/server/domain/run/events";
import type { Turn } from "./embedded-contract";

/**
 * Max size that one turn collects from inline steps, so that a long sequence of them neither blocks the process nor
 * hides its progress, and writes no huge row.
 */
const TURN_EVENTS = 256;
const TURN_CHARS = 256 * 1024;
export const TURN_MS = 8;

/** The turn that is being made: what was emitted in it, and what began. */
export class OpenTurn {
  events: RunEvent[] = [];
  /** The same as they are stored; empty while the log is being repeated. */
  texts: string[] = [];
  chars = 0;
  /** How many inline steps were settled in it. */
  inlined = 0;
  timers: { key: string; dueAt: number }[] = [];
  /** By the stopwatch. */
  beganAt: number;

  constructor(private readonly stopwatch: () => number) {
    this.beganAt = stopwatch();
  }

  /** Its time runs from now on. */
  restart(): void {
    this.beganAt = this.stopwatch();
  }

  add(event: RunEvent, isRecorded: boolean): void {
    this.events.push(event);
    if (isRecorded) return;
    const text = JSON.stringify(event);
    this.texts.push(text);
    this.chars += text.length;
  }

  /** What of it goes into its record. */
  get made() {
    const { inlined, events, texts, timers } = this;
    return { inlined, events, texts, timers };
  }

  /** Whether it takes no more inline steps: it holds much, or took long. */
  get isFull(): boolean {
    return (
      this.events.length >= TURN_EVENTS ||
      this.chars >= TURN_CHARS ||
      this.stopwatch() - this.beganAt >= TURN_MS
    );
  }

  /** Whether a replay made what the log holds. */
  isSameAs(recorded: Turn): boolean {
    return (
      this.events.length === recorded.events.length &&
      this.inlined === recorded.inlined &&
      this.events.every((event, at) => event.type === must(recorded.events, at).type)
    );
  }

  /** Starts the next turn; what was passed on stays with its receiver. */
  clear(): void {
    this.events = [];
    this.texts = [];
    this.chars = 0;
    this.inlined = 0;
    this.timers = [];
  }
}
