import { randomUUID } from "node:crypto";
import type { SentSignal } from "@/server/cluster/protocol";
import type { InstallationRules } from "@/server/domain/agent/outcome";
import type { DurableContext, LiveFrame } from "@/server/domain/base/durable";
import { errorMessage } from "@/server/domain/base/guards";
import { namedError } from "@/server/domain/base/named-error";
import type { RunState } from "@/server/domain/run";
import { SettingsDamaged } from "@/server/domain/run/quarantine";
import { SHORT_MS, type WorkTime } from "@/server/runner/durable/clock";
import { EmbeddedRun } from "@/server/runner/durable/embedded";
import type { Journal, TurnRecord } from "@/server/runner/durable/embedded-contract";
import { ReplayMismatch } from "@/server/runner/durable/known-turns";
import type { SegmentEnd } from "@/server/runner/lifecycle/segment-progress";
import type { SentTurn } from "@/server/runner/log/record-turns";
import { statusOf, TurnWriter } from "@/server/runner/log/turn-write";

/** What the engine keeps of a stretch, entry by entry: turns that were put down together, and perhaps its end. */
export interface Entry {
  /** The session that made it. */
  session: string;
  worker: string;
  turns: SentTurn[];
  /** How long they are as JSON, about. */
  chars: number;
  end?: SegmentEnd;
}

/** Carries a run out on a context; `watch` is told of the state that its events make. */
export type Program = (ctx: DurableContext, watch: (state: RunState) => void) => Promise<void>;

export interface SessionOptions {
  runId: string;
  stretch: number;
  workerId: string;
  program: Program;
  /** Its log as it is kept, with what the engine keeps of this stretch. */
  journal: Journal;
  /** How many entries of this stretch are in it. */
  entries: number;
  /** How many signals the run got before this stretch, and during it, of those that are in it. */
  signals: { atStart: number; since: number };
  rules: InstallationRules | null;
  time: WorkTime;
  live(runId: string, frame: LiveFrame): void;
  redact?: <T>(value: T) => T;
  /** Whether a turn of that many bytes, as JSON, may be handed to the engine. */
  fits(turn: SentTurn, chars: number): boolean;
  /** A test may stop it: see EmbeddedHost. */
  stopwatch?: () => number;
}

/** The engine takes messages of 32 MiB; what holds a result holds it in its events as well. */
const LONGEST_RESULT = 8 * 1024 * 1024;
/** An entry takes no more turns from here on, in characters. */
const FULL_ENTRY = 4 * 1024 * 1024;

/** Whoever waited for an entry gets none: the session goes on without, or not here. */
export class NoEntry extends namedError("NoEntry") {}

/** A turn that can never be handed on. */
class TooLargeTurn extends namedError("TooLargeTurn") {}

interface Unrecorded {
  sent: SentTurn;
  chars: number;
  recorded(): void;
}

/**
 * A stretch of a run at work in this process: the run itself, and what it has put down that the engine does not keep yet.
 * It outlives the engine's attempts at the stretch: whoever asks next goes on with the steps that are under way.
 */
export class Session {
  /** Tells its entries from those of another one for the same stretch. */
  readonly id = randomUUID();
  private readonly run: EmbeddedRun;
  private readonly writer: TurnWriter;
  private readonly unrecorded: Unrecorded[] = [];
  private end: SegmentEnd | null = null;
  /** Entries of the stretch that are known to be kept. */
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
        ...(rules ? { rules } : {}),
        ...(redact ? { redact } : {}),
        ...(stopwatch ? { stopwatch } : {}),
        longestResult: LONGEST_RESULT,
        recordsTogether: true,
        takesOver: true,
      },
      journal,
    );
  }

  /** Carries the run on; its turns and its end wait for whoever asks for entries. */
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

  /** Steps under way. */
  get steps(): number {
    return this.run.inFlight;
  }

  /** Whether the run waits for what comes from outside, and the engine keeps all that was put down. */
  get isQuiet(): boolean {
    return this.unrecorded.length === 0 && this.run.isIdle;
  }

  /** Whether it can be left: nothing is under way, and the engine keeps all that was put down. */
  get isAtRest(): boolean {
    return this.isOver || (!this.end && this.run.inFlight === 0 && this.isQuiet);
  }

  /** Whether it is the one that made what the engine keeps of the stretch since it began. */
  made(entries: readonly Entry[]): boolean {
    return (
      !this.isOver &&
      entries.length >= this.kept &&
      entries.slice(this.begunWith).every(({ session }) => session === this.id)
    );
  }

  /** The next entry, as soon as there is something to keep. Who asks again gets the same turns until they are kept. */
  async next(): Promise<Entry> {
    this.refuse(new NoEntry("Somebody else asks for the next entry of this stretch."));
    if (this.isOver) throw new NoEntry("This stretch is not carried out here any more.");
    if (this.unrecorded.length === 0 && !this.end) {
      const something = new Promise<void>((answer, refuse) => {
        this.asking = { answer, refuse };
      });
      setImmediate(() => this.restIfDue());
      await something;
    }
    // What comes in the same moment goes along.
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
      ...(this.end && isAll ? { end: this.end } : {}),
    };
  }

  /** The engine keeps this, as the `count`th entry of the stretch. */
  keep(count: number, { turns }: Entry): void {
    if (count <= this.kept) return;
    this.kept = count;
    const last = turns.at(-1)?.turn ?? 0;
    while (this.unrecorded[0] && this.unrecorded[0].sent.turn <= last) this.unrecorded.shift()?.recorded();
  }

  /** The `index`th signal of the stretch; one that came already changes nothing. */
  deliver(index: number, { name, value }: SentSignal): void {
    const count = this.options.signals.atStart + index;
    if (count <= this.signals) return;
    this.signals = count;
    this.run.deliver(name, value);
  }

  /** Tells the run where the clock jumped or the machine slept. */
  checkClock(): void {
    this.run.checkClock();
  }

  /** Starts no more steps. */
  freeze(): void {
    this.run.freeze();
  }

  /** Whoever waits for an entry gets none. */
  refuse(why: Error): void {
    const { asking } = this;
    this.asking = null;
    asking?.refuse(why);
  }

  /** Ends it here: what is under way is aborted, what was not kept is lost to it. */
  drop(): void {
    this.isOver = true;
    this.run.stop();
    this.refuse(new NoEntry("This stretch is not carried out here any more."));
  }

  private putDown(turn: TurnRecord): Promise<void> {
    const { write } = this.writer.write(turn);
    const chars =
      turn.texts.reduce((sum, text) => sum + text.length, 0) + (turn.resultText?.length ?? 0) + 256;
    const sent = sentTurn(write);
    if (!this.options.fits(sent, chars))
      return Promise.reject(
        new TooLargeTurn(
          "One step of this run made more than can be stored. Keep its values smaller, or write large texts into files.",
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

/** How the stretch of a run ends whose interpreter gave up. */
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
    ...(stack === undefined ? {} : { stack }),
    ...(error instanceof TooLargeTurn ? { edit_graph: true } : {}),
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
    ...(wakeAt === undefined ? {} : { wakeAt }),
    ...(progress ? { progress } : {}),
    ...(questions ? { questions } : {}),
    ...(work ? { work } : {}),
  };
}

const eventsTo = ({ turns }: Journal, seq: number) =>
  turns.flatMap(({ events }) => events).filter((event) => event.seq <= seq);
