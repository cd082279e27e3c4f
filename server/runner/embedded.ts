import type { InstallationRules } from "@/server/domain/agent/outcome";
import {
  Cancelled,
  type Durable,
  type DurableContext,
  type LiveFrame,
  type Settled,
  type Settlement,
  type StepOptions,
  type StepRequest,
  type StepScope,
  type StepWork,
} from "@/server/domain/base/durable";
import { isText, recordOf } from "@/server/domain/base/guards";
import { asJson, canonicalJson } from "@/server/domain/base/json";
import { must, present } from "@/server/domain/base/must";
import type { Json } from "@/server/domain/base/values";
import type { RunEvent } from "@/server/domain/run/events";
import { SettingsDamaged } from "@/server/domain/run/held";
import { SHORT_MS, type Waiting, type WorkTime, waitOut } from "./clock";
import type { ForkTurn } from "./recorded/fork-turn";
import { notRecorded, obstacle, type RecordedAnswers } from "./recorded/recorded-answers";
import { requestHash } from "./recorded/request-hash";

/** One turn of a run as the log keeps it: the answer that began it and the events that followed. */
export interface Turn {
  turn: number;
  /** Null for the turns that no answer began: the creation (0) and the beginning (1). */
  key: string | null;
  result: Settled | null;
  at: number;
  lastSeq: number;
  /** How many inline steps were settled in it. */
  inlined: number;
  events: RunEvent[];
}

/** A turn on its way into the log. */
export interface TurnRecord extends Turn {
  runId: string;
  /** The events as they are stored, one text each; and the result, where its text is known. */
  texts: string[];
  resultText?: string;
  /** Whether it answers or begins something outside: it has to be on the disk before anything follows from it. */
  touchesWorld: boolean;
  /** When the first of the sleeps that it waits for is over; null where there is none. */
  wakeAt: number | null;
  /** Sleeps that began in this turn, with their due instants. */
  timers: { key: string; dueAt: number }[];
}

/** What the log knows of a run that is taken up again. */
export interface Journal {
  turns: readonly Turn[];
  timers: ReadonlyMap<string, number>;
  signals: ReadonlyMap<string, Json>;
  /** Of a fork: the turn of its original in which it leaves that one's ways. */
  fork?: ForkTurn;
  /** What another run was answered, for the same requests in this one. */
  recorded?: RecordedAnswers;
}

export interface EmbeddedHost {
  /** Resolves when the turn is safely in the log and its events are published. */
  record(turn: TurnRecord): Promise<void>;
  live(runId: string, frame: LiveFrame): void;
  /** The thread computes for this run from now on, until it comes round again. */
  computing?(): void;
  /** A step goes on beside the thread, until what is answered is called. */
  stepBegins?(): () => void;
  workerId: string;
  /** By which the length of a turn is measured, in milliseconds; a test may stop it. */
  stopwatch?(): number;
  /** What holds in every run here now; absent where nobody says. A run that is taken up again goes on under these. */
  rules?: InstallationRules;
  /** The time in which this process is at work. */
  time: WorkTime;
  /** Blacks out secrets in what came from outside, before anything is made of it. */
  redact?: <T>(value: T) => T;
  /** How long the JSON of a step's result may be, in characters; 32 Mi where it is absent. */
  longestResult?: number;
  /**
   * Recording takes a while here. So turns whose answers are there already do not wait for one another, and what they
   * begin starts once all of them are recorded: a process that ends takes with it what came since the last record.
   */
  recordsTogether?: boolean;
  /** A run that is taken up again comes straight from another worker, so it is told of that only if its rules changed. */
  takesOver?: boolean;
}

interface Handle extends Durable {
  kind: "step" | "inline" | "sleep" | "timeout" | "signal";
  work?: StepWork;
  request?: StepRequest | undefined;
  /** Of its request. */
  hash?: string;
  abort?: AbortController;
  ms?: number;
  dueAt?: number;
  waiting?: Waiting;
  /** For a step that goes on beside the thread. */
  over?: (() => void) | undefined;
  started: boolean;
  /** The time of the turn that asked for it, which another process may have done, in Unix milliseconds. */
  begunAt?: number;
}

/** The wall clock and the time at work at the same moment. */
export interface Seen {
  at: number;
  worked: number;
}

interface Answer {
  key: string;
  result: Settled;
  /** The result as it is stored, where it came from outside. */
  text?: string;
  kind: Handle["kind"] | "note";
}

/**
 * What one turn gathers from inline steps at most, so that a long stretch of them neither keeps the process from
 * other work nor hides its progress, and makes no huge row.
 */
const TURN_EVENTS = 256;
const TURN_CHARS = 256 * 1024;
const TURN_MS = 8;

/** How long the JSON of a step's result may be, in characters, where the host says nothing. */
const LONGEST_RESULT = 32 * 1024 * 1024;

/** What may be on its way into the log together: in turns, in characters, and in milliseconds that they took. */
const MOST_UNRECORDED = { turns: 64, chars: 1024 * 1024, ms: 2 * TURN_MS };

/** A wall clock that differs so much from the time at work was set, or the machine slept. */
const JUMP_MS = 1000;
const CANCEL = "$cancel";

/** The embedded engine for one run: answers and events go into SQLite, work happens in this process. */
export class EmbeddedRun implements DurableContext<RunEvent> {
  private readonly handles = new Map<string, Handle>();
  /** Registered since the last wait; they start once the events before them are recorded. */
  private fresh: Handle[] = [];
  /** Registered and not settled yet, in their order. */
  private readonly inline: Handle[] = [];
  private readonly settled: Answer[] = [];
  private readonly signals: Map<string, Json>;
  private events: RunEvent[] = [];
  /** The same as they are stored; empty while the log is being repeated. */
  private texts: string[] = [];
  private chars = 0;
  private inlined = 0;
  private readonly stopwatch: () => number;
  private beganAt: number;
  private timers: { key: string; dueAt: number }[] = [];
  /** Turns on their way into the log that nothing has waited for yet. */
  private unrecorded: Promise<void>[] = [];
  private unrecordedChars = 0;
  private unrecordedSince = 0;
  private turn = 1;
  private answer: Answer | null = null;
  readonly begunAt: number;
  private at: number;
  private lastSeq: number;
  private wake: (() => void) | null = null;
  private recovered: boolean;
  private frozen = false;
  private stopped = false;
  private cancelSeen = false;
  /** Why the run has to be held, once what is under way is over. */
  private damage: SettingsDamaged | null = null;
  /** Both times when they were last compared, at an answer that came in this process. */
  private seen: Seen | null = null;

  /** `asleep`: the run left this process's memory while it waited, with this; absent where its process has ended. */
  constructor(
    readonly runId: string,
    private readonly host: EmbeddedHost,
    private readonly journal: Journal,
    asleep?: Seen,
  ) {
    this.stopwatch = host.stopwatch ?? (() => performance.now());
    this.beganAt = this.stopwatch();
    const { fork } = journal;
    const begins = fork?.turn === 1 ? fork.at : Math.max(journal.turns[0]?.at ?? 0, this.now);
    this.begunAt = journal.turns[1]?.at ?? begins;
    this.at = this.begunAt;
    this.lastSeq = journal.turns[0]?.lastSeq ?? 0;
    this.signals = new Map(journal.signals);
    const isTakenUp = journal.turns.length > (fork?.turn ?? 1);
    this.recovered = isTakenUp && !host.takesOver ? !asleep : this.hasOtherRules;
    if (!this.recovered) this.seen = asleep ?? { at: this.seenFirst(isTakenUp), worked: host.time.read() };
  }

  /** From when on this process watches the clock for the run. */
  private seenFirst(isTakenUp: boolean): number {
    if (isTakenUp) return Math.max(this.journal.turns.at(-1)?.at ?? 0, this.now);
    return this.journal.fork ? Math.max(this.at, this.now) : this.at;
  }

  /** Whether other rules hold now than the run has gone by so far. */
  private get hasOtherRules(): boolean {
    const { rules } = this.host;
    const created = this.journal.turns[0]?.events[0];
    if (!rules || created?.type !== "run_created") return false;
    const before = this.host.takesOver ? lastRules(this.journal.turns) : undefined;
    return canonicalJson(before ?? created.payload.installation ?? {}) !== canonicalJson(rules);
  }

  /** How many steps are under way; for draining. */
  get inFlight(): number {
    let count = 0;
    for (const handle of this.handles.values()) if (handle.kind === "step" && handle.started) count++;
    return count;
  }

  /** Whether the interpreter waits and nothing has come for it. */
  get isIdle(): boolean {
    return this.wake !== null && this.settled.length === 0;
  }

  /**
   * With what the run may leave the memory until a signal comes or that instant: nothing is at work in it. Null where
   * something is, or where its process alone knows how long it still waits.
   */
  get sleepsUntil(): { wakeAt: number | null; seen: Seen } | null {
    if (!this.isIdle || !this.seen || this.fresh.length > 0 || this.stopped || this.clockJump() !== 0)
      return null;
    for (const { kind, started } of this.handles.values())
      if (!started || (kind !== "signal" && kind !== "sleep")) return null;
    return { wakeAt: this.wakeAt(), seen: this.seen };
  }

  /** A short sleep does not heed the wall clock, so whoever finds it takes it up at once: it counts as due. */
  private wakeAt(): number | null {
    let first: number | null = null;
    for (const { kind, ms = 0, dueAt = 0 } of this.handles.values()) {
      if (kind !== "sleep") continue;
      const at = ms <= SHORT_MS ? 0 : dueAt;
      if (first === null || at < first) first = at;
    }
    return first;
  }

  step(key: string, work: StepWork, options?: StepOptions): Durable {
    const { inline, request } = options ?? {};
    return this.register({ key, kind: inline ? "inline" : "step", work, request, started: false });
  }

  signal(name: string): Durable {
    return this.register({ key: name, kind: "signal", started: false });
  }

  /** By its signals, or by what is recorded of it: a fork has its original's turns. */
  isSent(name: string): boolean {
    const { turns, fork } = this.journal;
    return (
      this.signals.has(name) ||
      turns.some(({ key, turn }) => key === name && turn > this.turn) ||
      (fork?.key === name && fork.turn > this.turn)
    );
  }

  sleep(key: string, ms: number): Durable {
    const known = this.journal.timers.get(key);
    const dueAt = known ?? this.dueIn(ms);
    if (known === undefined) this.timers.push({ key, dueAt });
    return this.register({ key, kind: "sleep", ms, dueAt, started: false });
  }

  /** What a fork's original waited for has as much left in the fork as it had then. */
  private dueIn(ms: number): number {
    const { fork } = this.journal;
    if (fork && this.turn <= fork.turn)
      return fork.shifts.reduce((due, shift) => due + (this.turn <= shift.turn ? shift.ms : 0), this.at + ms);
    return Math.max(this.at, this.now) + ms;
  }

  timeout(key: string, ms: number): Durable {
    return this.register({ key, kind: "timeout", ms, started: false });
  }

  private get now(): number {
    return this.host.time.clock.now();
  }

  emit(event: RunEvent): void {
    this.lastSeq = event.seq;
    this.events.push(event);
    if (this.isRecorded) return;
    const text = JSON.stringify(event);
    this.texts.push(text);
    this.chars += text.length;
  }

  /** Whether the log holds the present turn already. */
  private get isRecorded(): boolean {
    return this.turn < this.journal.turns.length;
  }

  abandon({ key }: Durable): void {
    const handle = this.handles.get(key);
    if (!handle) return;
    this.handles.delete(key);
    this.release(handle);
  }

  next(_pending: readonly Durable[]): Promise<Settlement> | Settlement {
    const gathered = this.nextInline();
    if (!gathered || !this.mayGather()) return this.nextTurn();
    this.inlined++;
    const { key, result } = this.compute(gathered);
    return { key, result, at: this.at };
  }

  /** Ends the present turn and waits for the answer that begins another. */
  private async nextTurn(): Promise<Settlement> {
    if (this.isRecorded)
      this.compare(present(this.journal.turns[this.turn], "this.journal.turns[this.turn]"));
    else {
      const written = this.flush(false);
      if (this.mayGoOnUnrecorded()) this.goOnUnrecorded(written);
      else await this.allRecorded(written);
    }
    this.events = [];
    this.texts = [];
    this.chars = 0;
    this.inlined = 0;
    this.timers = [];

    const upcoming = this.upcoming();
    if (upcoming) {
      // Only the first turn of a journal has neither: it is the one that starts the flow.
      const key = present(upcoming.key ?? undefined, "the key of a later turn");
      const result = present(upcoming.result ?? undefined, "the result of a later turn");
      if (result.request !== undefined && result.ok) this.journal.recorded?.note(result.request);
      const kind = this.handles.get(key)?.kind ?? "note";
      return this.begin({ key, result, kind }, upcoming.at);
    }
    if (this.unrecorded.length === 0) this.startFresh();
    const answer = await this.newAnswer();
    this.beganAt = this.stopwatch();
    const at = Math.max(this.at, this.now);
    // A clock that was set back stands still for this run; what is missing then adds up until it is noted.
    if (answer.kind === "note" || !this.seen || at > this.at)
      this.seen = { at, worked: this.host.time.read() };
    return this.begin(answer, at);
  }

  /** Whether an answer is there to go on with before the present turn is safely in the log. */
  private mayGoOnUnrecorded(): boolean {
    if (!this.host.recordsTogether || this.settled.length === 0 || this.stopped || this.damage) return false;
    if (this.unrecorded.length === 0) return true;
    return (
      this.unrecorded.length < MOST_UNRECORDED.turns &&
      this.unrecordedChars < MOST_UNRECORDED.chars &&
      this.stopwatch() - this.unrecordedSince < MOST_UNRECORDED.ms
    );
  }

  private goOnUnrecorded(written: Promise<void>): void {
    // Who waits for it later hears of a failure.
    written.catch(() => {});
    if (this.unrecorded.length === 0) this.unrecordedSince = this.beganAt;
    this.unrecorded.push(written);
    this.unrecordedChars += this.chars + (this.answer?.text?.length ?? 0);
  }

  /** Waits for this turn and for all before it. */
  private async allRecorded(written: Promise<void> | undefined): Promise<void> {
    await Promise.all([...this.unrecorded, written]);
    this.unrecorded = [];
    this.unrecordedChars = 0;
  }

  /** The answer that comes next by what is recorded: of this run, or of the turn that a fork begins with. */
  private upcoming(): Pick<Turn, "key" | "result" | "at"> | undefined {
    const { turns, fork } = this.journal;
    return turns[this.turn + 1] ?? (fork?.turn === this.turn + 1 ? fork : undefined);
  }

  /** Waits for what has not happened before: a stop or a note of the engine, an answer from outside, an inline step. */
  private async newAnswer(): Promise<Answer> {
    for (;;) {
      if (this.stopped) await new Promise<never>(() => {});
      if (this.isCancelDue())
        return { key: CANCEL, result: { ok: true, value: must(this.signals, "cancel") }, kind: "signal" };
      if (this.recovered) {
        this.recovered = false;
        const { workerId, rules } = this.host;
        const value = { worker_id: workerId, ...(rules ? { rules: asJson(rules) } : {}) };
        return { key: `recovered#${this.turn + 1}`, result: { ok: true, value }, kind: "note" };
      }
      const jump = this.clockJump();
      if (jump !== 0)
        return { key: `clock#${this.turn + 1}`, result: { ok: true, value: { ms: jump } }, kind: "note" };
      const settled = this.settled.shift();
      if (settled) return settled;
      if (this.damage && this.inFlight === 0) throw this.damage;
      const inline = this.frozen ? null : this.nextInline();
      if (inline) return this.compute(inline);
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  /** By how much the wall clock went ahead of the time at work since the last answer; 0 where that is little. */
  private clockJump(): number {
    if (!this.seen) return 0;
    const { at, worked } = this.seen;
    const jump = Math.round(Math.max(this.at, this.now) - at - (this.host.time.read() - worked));
    return Math.abs(jump) < JUMP_MS ? 0 : jump;
  }

  /** Whether the machine slept, or its clock was set forward, since the last answer. */
  get hasSlept(): boolean {
    return this.clockJump() > 0;
  }

  /** Looks whether the clock jumped, also while nothing else comes. */
  lookAtClock(): void {
    if (this.clockJump() !== 0) this.rouse();
  }

  /** The inline step whose answer comes next, if there is one. */
  private nextInline(): Handle | null {
    const { inline, handles } = this;
    while (inline.length > 0 && handles.get(present(inline[0], "inline[0]").key) !== inline[0])
      inline.shift();
    return inline[0] ?? null;
  }

  /** Whether the present turn takes in one more inline step: as often as it did when the log tells of it. */
  private mayGather(): boolean {
    if (this.isRecorded)
      return this.inlined < present(this.journal.turns[this.turn], "this.journal.turns[this.turn]").inlined;
    const { fork } = this.journal;
    if (fork?.turn === this.turn && this.lastSeq < fork.seq) return true;
    return (
      this.events.length < TURN_EVENTS &&
      this.chars < TURN_CHARS &&
      this.stopwatch() - this.beganAt < TURN_MS &&
      !this.frozen &&
      !this.isCancelDue()
    );
  }

  private compute(handle: Handle): Answer {
    this.inline.shift();
    this.handles.delete(handle.key);
    let result: Settled;
    try {
      const value = present(handle.work, "handle.work")(new Scope(this, handle));
      if (value instanceof Promise) throw new Error(`The inline step "${handle.key}" answers later.`);
      result = { ok: true, value };
    } catch (error) {
      result = { ok: false, error: asStepError(error) };
    }
    return { key: handle.key, result, kind: "inline" };
  }

  /** Records what was emitted last; called when the interpreter has returned. */
  async close(): Promise<void> {
    const isToldOf = this.isRecorded || (this.events.length === 0 && !this.answer);
    await this.allRecorded(isToldOf ? undefined : this.flush(true));
    this.stop();
  }

  /** Gives the run a signal that is already in the log. The first value wins. */
  deliver(name: string, value: Json): void {
    if (this.signals.has(name)) return;
    this.signals.set(name, value);
    const handle = this.handles.get(name);
    if (handle?.started) this.settle(handle, { ok: true, value });
    else if (name === "cancel") this.rouse();
  }

  /** Starts no more work; what is under way may finish and be recorded. */
  freeze(): void {
    this.frozen = true;
  }

  /** Drops the run from this process; the log keeps it. */
  stop(): void {
    this.stopped = true;
    for (const handle of this.handles.values()) this.release(handle);
    this.handles.clear();
    this.fresh = [];
  }

  private register(handle: Handle): Durable {
    if (this.handles.has(handle.key))
      throw new Error(`The key "${handle.key}" is used twice in run ${this.runId}.`);
    this.handles.set(handle.key, handle);
    handle.begunAt = this.at;
    (handle.kind === "inline" ? this.inline : this.fresh).push(handle);
    return handle;
  }

  /** A turn begins with this answer. */
  private begin(answer: Answer, at: number): Settlement {
    this.host.computing?.();
    this.turn++;
    this.answer = answer;
    this.at = at;
    const handle = this.handles.get(answer.key);
    if (handle) {
      this.handles.delete(answer.key);
      this.release(handle);
    }
    if (answer.key === CANCEL) {
      this.cancelSeen = true;
      const { by, reason } = recordOf(answer.result.ok ? answer.result.value : null);
      throw new Cancelled(isText(by) ? by : undefined, isText(reason) ? reason : undefined, at);
    }
    return { key: answer.key, result: answer.result, at };
  }

  private isCancelDue(): boolean {
    return !this.cancelSeen && this.signals.has("cancel");
  }

  private async flush(isLast: boolean): Promise<void> {
    const { kind, text } = this.answer ?? {};
    await this.host.record({
      runId: this.runId,
      turn: this.turn,
      key: this.answer?.key ?? null,
      result: this.answer?.result ?? null,
      at: this.at,
      lastSeq: this.lastSeq,
      inlined: this.inlined,
      events: this.events,
      texts: this.texts,
      ...(text === undefined ? {} : { resultText: text }),
      timers: this.timers,
      touchesWorld:
        isLast || kind === "step" || kind === "signal" || this.fresh.some((handle) => handle.kind === "step"),
      wakeAt: isLast ? null : this.wakeAt(),
    });
  }

  /** A replay must make the events that the log holds, or the log would stop telling the truth. */
  private compare(recorded: Turn): void {
    const isSame =
      this.events.length === recorded.events.length &&
      this.inlined === recorded.inlined &&
      this.events.every(
        (event, at) => event.type === present(recorded.events[at], "recorded.events[at]").type,
      );
    if (!isSame || this.lastSeq !== recorded.lastSeq) throw new ReplayMismatch(this.runId, this.turn);
  }

  private startFresh(): void {
    if (this.frozen) return;
    this.host.computing?.();
    const starting = this.fresh;
    this.fresh = [];
    for (const handle of starting) {
      if (this.handles.get(handle.key) !== handle) continue;
      handle.started = true;
      if (handle.kind === "signal") {
        const value = this.signals.get(handle.key);
        if (value !== undefined) this.settle(handle, { ok: true, value });
      } else if (handle.kind === "sleep" || handle.kind === "timeout") this.arm(handle);
      else this.startStep(handle);
    }
  }

  private arm(handle: Handle): void {
    const { ms = 0, dueAt } = handle;
    // Taken up again, a sleep has less left, but never more than at first: the clock may have been set back meanwhile.
    const left = dueAt === undefined ? ms : Math.max(0, Math.min(ms, dueAt - this.now));
    const done = () => this.settle(handle, { ok: true, value: null });
    handle.waiting = waitOut(this.host.time, left, done, dueAt);
  }

  /** What a recorded answer makes of a step; undefined: it is carried out. */
  private recordedFor(handle: Handle): Settled | undefined {
    const { request } = handle;
    if (!request) return undefined;
    handle.hash = requestHash(request);
    const { recorded } = this.journal;
    if (!recorded || request.isAgreed) return undefined;
    if (recorded.replay) return this.replayed(recorded, request, handle.hash);
    if (request.again === "ask") return undefined;
    const found = recorded.next(handle.hash);
    recorded.note(handle.hash);
    if (!found?.result.ok || request.fits?.(found.result.value) === false) return undefined;
    const { value } = found.result;
    return request.again === "reuse"
      ? { ok: true, value, reused: recorded.runId }
      : { ok: false, error: obstacle({ why: "done_before", run: recorded.runId, value }) };
  }

  /** The answer that a replay is given; it makes no call by itself. */
  private replayed(recorded: RecordedAnswers, { kind, asked }: StepRequest, hash: string): Settled {
    const found = recorded.next(hash);
    recorded.note(hash);
    if (found?.result.ok) return { ok: true, value: found.result.value, reused: recorded.runId };
    const difference = recorded.difference({ kind, asked: asked() });
    if (recorded.replay === "strict") return { ok: false, error: notRecorded(difference) };
    const { sentence } = difference;
    return {
      ok: false,
      error: obstacle({ why: "not_recorded", run: recorded.runId, difference: sentence }),
    };
  }

  private startStep(handle: Handle): void {
    const recorded = this.recordedFor(handle);
    if (recorded) return this.settle(handle, recorded);
    try {
      const value = present(handle.work, "handle.work")(new Scope(this, handle));
      if (value instanceof Promise) {
        handle.over = this.host.stepBegins?.();
        value.then(
          (done) => this.settle(handle, { ok: true, value: done }),
          (error: unknown) => this.failed(handle, error),
        );
      } else this.settle(handle, { ok: true, value });
    } catch (error) {
      this.failed(handle, error);
    }
  }

  /** A step that found the settings damaged has no answer: it is made again once they are mended. */
  private failed(handle: Handle, error: unknown): void {
    if (!(error instanceof SettingsDamaged))
      return this.settle(handle, { ok: false, error: asStepError(error) });
    if (this.handles.get(handle.key) !== handle || this.stopped) return;
    this.handles.delete(handle.key);
    this.release(handle);
    this.damage = error;
    this.freeze();
    this.rouse();
  }

  /** Shows something of a step to whoever watches, as long as it is not over. */
  show(handle: Handle, frame: LiveFrame): void {
    if (this.handles.get(handle.key) === handle) this.host.live(this.runId, frame);
  }

  private settle(handle: Handle, result: Settled): void {
    // Given up, or settled already: a late result changes nothing.
    if (this.handles.get(handle.key) !== handle || this.stopped) return;
    this.host.computing?.();
    this.handles.delete(handle.key);
    this.letGo(handle);
    const { key, kind, hash } = handle;
    const redacted = this.host.redact ? this.host.redact(result) : result;
    const whole = hash === undefined ? redacted : { ...redacted, request: hash };
    this.settled.push({ key, kind, ...this.asStored(whole) });
    this.rouse();
  }

  /** A result with its text. One that cannot be kept is the failure of its step. */
  private asStored(result: Settled): { result: Settled; text: string } {
    try {
      const text = JSON.stringify(result);
      const most = this.host.longestResult ?? LONGEST_RESULT;
      if (text.length <= most) return { result, text };
      const sizes = [text.length, most].map((chars) => `${Math.round(chars / 1024 / 1024)} MiB`);
      throw new ResultTooLarge(`it is too large (${sizes.join(", at most ")})`);
    } catch (error) {
      const { message } = asStepError(error);
      const failed: Settled = {
        ok: false,
        error: {
          name: error instanceof ResultTooLarge ? error.name : "Unkeepable",
          message: `What came back cannot be kept: ${message}.`,
        },
      };
      return { result: failed, text: JSON.stringify(failed) };
    }
  }

  private rouse(): void {
    const { wake } = this;
    this.wake = null;
    wake?.();
  }

  private release(handle: Handle): void {
    this.letGo(handle);
    handle.abort?.abort();
  }

  private letGo(handle: Handle): void {
    handle.waiting?.stop();
    handle.over?.();
    handle.over = undefined;
  }
}

/** What a step's work is given. Made for every step, so each part only for work that asks for it. */
class Scope implements StepScope {
  constructor(
    private readonly run: EmbeddedRun,
    private readonly handle: Handle,
  ) {}

  get idempotencyKey(): string {
    return `${this.run.runId}/${this.handle.key}`;
  }
  get abort(): AbortSignal {
    return (this.handle.abort ??= new AbortController()).signal;
  }
  get begunAt(): number {
    return present(this.handle.begunAt, "begunAt");
  }
  live(frame: LiveFrame): void {
    this.run.show(this.handle, frame);
  }
}

/** The interpreter did not repeat what the log says it did: it is another version, or it is not deterministic. */
export class ReplayMismatch extends Error {
  override name = "ReplayMismatch";
  constructor(runId: string, turn: number) {
    super(`Run ${runId} cannot be continued: its turn ${turn} came out differently from what its log says.`);
  }
}

class ResultTooLarge extends Error {
  override name = "ResultTooLarge";
}

/** A failure as a log keeps it. */
export function asStepError(error: unknown): { name: string; message: string; detail?: Json } {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  // Whoever throws with a detail gives JSON; what cannot be kept is found where the failure is written.
  const { detail } = error as { detail?: Json };
  return { name: error.name, message: error.message, ...(detail === undefined ? {} : { detail }) };
}

/** The rules that the engine noted last; undefined where it noted none. */
function lastRules(turns: readonly Turn[]): Json | undefined {
  const noted = turns.findLast(({ key }) => key?.startsWith("recovered#"))?.result;
  const value = noted?.ok ? noted.value : null;
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value.rules : undefined;
}
