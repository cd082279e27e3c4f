import type { InstallationRules } from "@/server/domain/agent/outcome";
import { canonicalJson } from "@/server/domain/base/json";
import { must } from "@/server/domain/base/must";
import { namedError } from "@/server/domain/base/named-error";
import type { Json } from "@/server/domain/base/values";
import type { Journal, Turn } from "./embedded-contract";
import type { OpenTurn } from "./open-turn";

/** What is recorded of a run already: its own turns, and of a fork the turn in which it leaves its original's ways. */
export class KnownTurns {
  constructor(private readonly journal: Pick<Journal, "turns" | "fork">) {}

  /** Whether the log holds a turn. */
  has(turn: number): boolean {
    return turn < this.journal.turns.length;
  }

  /** One that the log holds. */
  get(turn: number): Turn {
    return must(this.journal.turns, turn);
  }

  /** A replay must make the events that the log holds, or the log would stop telling the truth. Throws ReplayMismatch. */
  expectSame(runId: string, turn: number, made: OpenTurn, lastSeq: number): void {
    const recorded = this.get(turn);
    if (!made.isSameAs(recorded) || lastSeq !== recorded.lastSeq) throw new ReplayMismatch(runId, turn);
  }

  /** Whether the run was executed before, beyond what it got at its creation. */
  get isResumed(): boolean {
    return this.journal.turns.length > (this.journal.fork?.turn ?? 1);
  }

  /** When execution of the run began; `now` if it begins only now. */
  begunAt(now: number): number {
    const { turns, fork } = this.journal;
    return turns[1]?.at ?? (fork?.turn === 1 ? fork.at : Math.max(turns[0]?.at ?? 0, now));
  }

  /** The time from which a process watches the clock for a run that it executes from `at` on. */
  watchedFrom(at: number, now: number): number {
    if (this.isResumed) return Math.max(this.journal.turns.at(-1)?.at ?? 0, now);
    return this.journal.fork ? Math.max(at, now) : at;
  }

  /** The answer that begins the turn after this one: of this run, or of the turn that a fork begins with. */
  after(turn: number): Pick<Turn, "key" | "result" | "at"> | undefined {
    const { turns, fork } = this.journal;
    return turns[turn + 1] ?? (fork?.turn === turn + 1 ? fork : undefined);
  }

  /** Whether an answer of that key came after this turn: a fork has its original's turns. */
  isAnsweredAfter(turn: number, key: string): boolean {
    const { turns, fork } = this.journal;
    return (
      turns.some((other) => other.key === key && other.turn > turn) || (fork?.key === key && fork.turn > turn)
    );
  }

  /** Whether a fork is still on its original's ways in this turn, whose last event is `lastSeq`. */
  isBeforeFork(turn: number, lastSeq: number): boolean {
    const { fork } = this.journal;
    return fork?.turn === turn && lastSeq < fork.seq;
  }

  /** By how much what a fork's original waited for is due later in the fork; null where this turn is not of the original. */
  shiftIn(turn: number): number | null {
    const { fork } = this.journal;
    if (!fork || turn > fork.turn) return null;
    return fork.shifts.reduce((sum, shift) => sum + (turn <= shift.turn ? shift.ms : 0), 0);
  }

  /** Whether these rules are others than the run began with; with `noted`, than the engine noted last, where it noted some. */
  differIn(rules: InstallationRules | undefined, noted = false): boolean {
    const created = this.journal.turns[0]?.events[0];
    if (!rules || created?.type !== "run_created") return false;
    const before = noted ? this.lastRules : undefined;
    return canonicalJson(before ?? created.payload.installation ?? {}) !== canonicalJson(rules);
  }

  /** The rules that the engine noted last; undefined where it noted none. */
  private get lastRules(): Json | undefined {
    const noted = this.journal.turns.findLast(({ key }) => key?.startsWith("recovered#"))?.result;
    const value = noted?.ok ? noted.value : null;
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value.rules : undefined;
  }
}

/** The interpreter did not repeat what the log says it did: it is another version, or it is not deterministic. */
export class ReplayMismatch extends namedError("ReplayMismatch") {
  constructor(runId: string, turn: number) {
    super(`Run ${runId} can't resume: its turn ${turn} differs from its log.`);
  }
}
