import { randomUUID } from "node:crypto";
import type { SentSignal } from "@/server/cluster/protocol";
import type { InstallationRules } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import type { DurableContext, LiveFrame } from "@/server/domain/base/durable";
import { errorMessage } from "@/server/domain/base/guards";
import { namedError } from "@/server/domain/base/named-error";
import type { RunState } from "@/server/domain/run";
import type { RunEvent } from "@/server/domain/run/events";
import { SettingsDamaged } from "@/server/domain/run/quarantine";
import { SHORT_MS, type WorkTime } from "@/server/runner/durable/clock";
import { EmbeddedRun } from "@/server/runner/durable/embedded";
import type { Journal, TurnRecord } from "@/server/runner/durable/embedded-contract";
import { ReplayMismatch } from "@/server/runner/durable/known-turns";
import type { SegmentEnd } from "@/server/runner/lifecycle/segment-progress";
import type { SentTurn } from "@/server/runner/log/record-turns";
import { statusOf, TurnWriter } from "@/server/runner/log/turn-write";

/** An entry of a segment that the engine keeps: turns that were recorded together, and perhaps the end. */
export interface Entry {
  /** The id of the session that made it. */
  session: string;
  worker: string;
  turns: SentTurn[];
  /** Their approximate length as JSON. */
  chars: number;
  end?: SegmentEnd;
}

/** Runs a run on a context; `watch` gets the state after its events. */
export type Program = (ctx: DurableContext<RunEvent>, watch: (state: RunState) => void) => Promise<void>;

export interface SessionOptions {
  runId: string;
  stretch: number;
  workerId: string;
  program: Program;
  /** Its stored log, with this segment's entries in the engine. */
  journal: Journal;
  /** How many entries of this segment are in it. */
  entries: number;
  /** How many signals in the log the run got before this segment, and during it. */
  signals: { atStart: number; since: number };
  rules: InstallationRules | null;
  time: WorkTime;
  live(runId: string, frame: LiveFrame): void;
  redact?: <T>(value: T) => T;
  /** Whether the engine accepts a turn of this many bytes as JSON. */
  fits(turn: SentTurn, chars: number): boolean;
  /** A test may stop it: see EmbeddedHost. */
  stopwatch?: () => number;
}

/** The engine accepts messages of 32 MiB; a turn holds its result in its events as well. */
const LONGEST_RESULT = 8 * 1024 * 1024;
/** An entry of this many characters takes no more turns. */
const FULL_ENTRY = 4 * 1024 * 1024;

/** There is no entry for a caller that waits: the session continues without it, or not here. */
export class NoEntry extends namedError("NoEntry") {}

/** A turn that is too large for the engine. */
class TooLargeTurn extends namedError("TooLargeTurn") {}

interface Unrecorded {
  sent: SentTurn;
  chars: number;
  recorded(): void;
}

/**
 * A segment of a run that runs in this process: the run itself, and the turns that the engine doesn't keep yet. It outlives
 * the engine's attempts at the segment: the next attempt continues with the running steps.
 */
export class Session {
  /** Distinguishes its entries from those of another session of the segment. */
  readonly id = randomUUID();
  private readonly run: EmbeddedRun;
  private readonly writer: TurnWriter;
  private readonly unrecorded: Unrecorded[] = [];
  private end: SegmentEnd | null = null;
  /** Entries of the segment that the engine is known to keep. */
  private kept: number;
  private readonly begunWith: number;
  private signals: number;
  private asking: { answer: () => void; refuse: (why: Error) => void } | null = null;
  private isOver = false;

  constructor(private readonly options: SessionOptions) {
    const { runId, workerId, journal, rules, time, redact, stopwatch } = options;
    this.kept = this.begunWith = options.entries;
    this.signals = options.signals.atStart + options.signals.since;
    this.writer = new TurnWriter((seq) => eventsTo(journal, seq));
    this.run = new EmbeddedRun(
      runId,
      {
        record: (turn) => this.putDown(turn),
        live: options.live,
        workerId,
        time,
        ...defined({ rules: rules ?? undefined, redact, stopwatch }),
        longestResult: LONGEST_RESULT,
        recordsTogether: true,
        takesOver: true,
      },
      journal,
    );
  }

  /** Continues the run; its turns and its end wait until entries are asked for. */
  begin(): void {
    const watch = (state: RunState) => {
      this.writer.state = state;
    };
    this.options
      .program(this.run, watch)
      .then(() => this.run.close())
      .then(
        () => this.finish(this.rested()),
        (error: unknown) => this.finish(endFor(error)),
      );
  }

  get place(): { runId: string; stretch: number } {
    return this.options;
  }

  /** Running steps. */
  get steps(): number {
    return this.run.inFlight;
  }

  /** Whether the run waits for something outside, and the engine keeps every turn. */
  get isQuiet(): boolean {
    return this.unrecorded.length === 0 && this.run.isIdle;
  }

  /** Whether it can be dropped: nothing is running, and the engine keeps every turn. */
  get isAtRest(): boolean {
    return this.isOver || (!this.end && this.run.inFlight === 0 && this.isQuiet);
  }

  /** Whether this session made all entries that the engine has kept since it began. */
  made(entries: readonly Entry[]): boolean {
    return (
      !this.isOver &&
      entries.length >= this.kept &&
      entries.slice(this.begunWith).every(({ session }) => session === this.id)
    );
  }

  /** The next entry, as soon as there is something to keep; the same turns until they are kept. */
  async next(): Promise<Entry> {
    this.refuse(new NoEntry("Another request for the next entry of this segment is open."));
    if (this.isOver) throw new NoEntry("This segment no longer executes here.");
    if (this.unrecorded.length === 0 && !this.end) {
      const something = new Promise<void>((answer, refuse) => {
        this.asking = { answer, refuse };
      });
      setImmediate(() => this.restIfDue());
      await something;
    }
    // Turns of the same moment share an entry.
    await new Promise((resolve) => setImmediate(resolve));
    return this.entry();
  }

  private entry(): Entry {
    const turns: SentTurn[] = [];
    let chars = 0;
    for (const one of this.unrecorded) {
      if (turns.length > 0 && chars + one.chars > FULL_ENTRY) break;
      turns.push(one.sent);
      chars += one.chars;
    }
    const isAll = turns.length === this.unrecorded.length;
    return {
      session: this.id,
      worker: this.options.workerId,
      turns,
      chars,
      ...defined({ end: this.end && isAll ? this.end : undefined }),
    };
  }

  /** Notes that the engine keeps this, as the `count`th entry of the segment. */
  keep(count: number, { turns }: Entry): void {
    if (count <= this.kept) return;
    this.kept = count;
    const last = turns.at(-1)?.turn ?? 0;
    while (this.unrecorded[0] && this.unrecorded[0].sent.turn <= last) this.unrecorded.shift()?.recorded();
  }

  /** Delivers the `index`th signal of the segment; a repeated one has no effect. */
  deliver(index: number, { name, value }: SentSignal): void {
    const count = this.options.signals.atStart + index;
    if (count <= this.signals) return;
    this.signals = count;
    this.run.deliver(name, value);
  }

  /** Tells the run that the clock jumped or the machine slept. */
  checkClock(): void {
    this.run.checkClock();
  }

  /** Starts no more steps. */
  freeze(): void {
    this.run.freeze();
  }

  /** Rejects the caller that waits for an entry. */
  refuse(why: Error): void {
    const { asking } = this;
    this.asking = null;
    asking?.refuse(why);
  }

  /** Ends it here: running steps are aborted, and turns that weren't kept are lost. */
  drop(): void {
    this.isOver = true;
    this.run.stop();
    this.refuse(new NoEntry("This segment no longer executes here."));
  }

  private putDown(turn: TurnRecord): Promise<void> {
    const { write } = this.writer.write(turn);
    const chars =
      turn.texts.reduce((sum, text) => sum + text.length, 0) + (turn.resultText?.length ?? 0) + 256;
    const sent = sentTurn(write);
    if (!this.options.fits(sent, chars))
      return Promise.reject(
        new TooLargeTurn(
          "One step of this run produced more than can be stored. Make its values smaller, or write large data to files.",
        ),
      );
    return new Promise((recorded) => {
      this.unrecorded.push({ sent, chars, recorded });
      this.rouse();
    });
  }

  /** A run that only waits, and for long, leaves the worker; so does one that stopped at a limit. */
  private restIfDue(): void {
    const { state } = this.writer;
    if (this.isOver || this.end || this.unrecorded.length > 0 || !state) return;
    const status = statusOf(state);
    if (status === "finished") {
      if (state.run.final_status === "INCOMPLETE" && this.run.isIdle) this.leave();
      return;
    }
    if (status !== "waiting" && status !== "paused") return;
    const sleeps = this.run.sleepsUntil;
    if (sleeps && (sleeps.wakeAt === null || sleeps.wakeAt >= this.options.time.clock.now() + SHORT_MS))
      this.leave();
  }

  private leave(): void {
    this.run.stop();
    this.finish(this.rested());
  }

  private rested(): SegmentEnd {
    return { kind: "rested", signals: this.signals };
  }

  private finish(end: SegmentEnd): void {
    if (this.end || this.isOver) return;
    this.run.stop();
    this.end = end;
    this.rouse();
  }

  private rouse(): void {
    const { asking } = this;
    this.asking = null;
    asking?.answer();
  }
}

/** The end of a segment whose interpreter failed. */
export function endFor(error: unknown): SegmentEnd {
  if (error instanceof ReplayMismatch)
    return { kind: "held", code: "log_differs", message: errorMessage(error) };
  if (error instanceof SettingsDamaged)
    return { kind: "held", code: "settings_damaged", message: errorMessage(error) };
  const { name, message, stack } =
    error instanceof Error ? error : { name: "", message: String(error), stack: undefined };
  return {
    kind: "broke",
    name,
    message,
    ...defined({ stack, edit_graph: error instanceof TooLargeTurn ? true : undefined }),
  };
}

function sentTurn(write: ReturnType<TurnWriter["write"]>["write"]): SentTurn {
  const { turn, key, result, at, lastSeq, inlined, events, timers, wakeAt, progress, questions, work } =
    write;
  return {
    turn,
    key,
    result,
    at,
    lastSeq,
    inlined,
    events,
    timers,
    ...defined({ wakeAt, progress, questions, work }),
  };
}

const eventsTo = ({ turns }: Journal, seq: number) =>
  turns.flatMap(({ events }) => events).filter((event) => event.seq <= seq);
