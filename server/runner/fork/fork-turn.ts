import type { Settled } from "@/server/domain/base/durable";

/** The turn of its original in which a fork goes its own way: begun by the same answer, up to the same event. */
export interface ForkTurn {
  turn: number;
  /** What began it; null for a run's first. */
  key: string | null;
  result: Settled | null;
  /** When, in the original. */
  at: number;
  /** The last event that both have, at least. */
  seq: number;
  /** When the fork was made, Unix time in milliseconds. */
  forkedAt: number;
  /** By how much the time that passed between a run and its fork moves what was waited for in turns up to that one, in milliseconds. */
  shifts: { turn: number; ms: number }[];
}
