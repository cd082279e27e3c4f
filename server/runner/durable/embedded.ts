import { defined } from "@/server/domain/base/defined";
import {
  Cancelled,
  type Durable,
  type DurableContext,
  type LiveFrame,
  type Settled,
  type Settlement,
  type StepOptions,
  type StepWork,
} from "@/server/domain/base/durable";
import { isText, recordOf, textsOf } from "@/server/domain/base/guards";
import { asJson } from "@/server/domain/base/json";
import { must, present } from "@/server/domain/base/must";
import type { Json } from "@/server/domain/base/values";
import type { RunEvent } from "@/server/domain/run/events";
import { SettingsDamaged } from "@/server/domain/run/quarantine";
import { asStepError, storedResult } from "../node/step-result";
import { recordedAnswer } from "../replay/answer-step";
import { inFlight, obstacle } from "../replay/recorded-answers";
import { requestHash } from "../replay/request-hash";
import { waitOut } from "./clock";
import { ClockWatch, type Seen } from "./clock-watch";
import { CANCEL, type EmbeddedHost, type Journal } from "./embedded-contract";
import { type Answer, type Handle, Handles, isRun, note, Scope } from "./handles";
import { KnownTurns } from "./known-turns";
import { OpenTurn } from "./open-turn";
import { UnrecordedTurns } from "./unrecorded-turns";

/** The embedded engine for one run: answers and events go into SQLite, work happens in this process. */
export class EmbeddedRun implements DurableContext<RunEvent> {
  private readonly handles: Handles;
  /** Registered since the last wait; they start once the events before them are recorded. */
  private fresh: Handle[] = [];
  private readonly settled: Answer[] = [];
  private readonly signals: Map<string, Json>;
  private readonly taken = new Set<string>();
  private readonly open: OpenTurn;
  private readonly known: KnownTurns;
  private readonly unrecorded: UnrecordedTurns;
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
  /** Why the run must be quarantined when its running steps have ended. */
  private damage: SettingsDamaged | null = null;
  private readonly clocks: ClockWatch;

  /** `asleep`: the run left this process's memory while it waited, with this; absent where its process has ended. */
  constructor(
    readonly runId: string,
    private readonly host: EmbeddedHost,
    private readonly journal: Journal,
    asleep?: Seen,
  ) {
    const stopwatch = host.stopwatch ?? (() => performance.now());
    this.handles = new Handles(runId);
    this.open = new OpenTurn(stopwatch);
    this.unrecorded = new UnrecordedTurns(stopwatch);
    this.clocks = new ClockWatch(host.time);
    this.known = new KnownTurns(journal);
    this.begunAt = this.known.begunAt(this.now);
    this.at = this.begunAt;
    this.lastSeq = journal.turns[0]?.lastSeq ?? 0;
    this.signals = new Map(journal.signals);
    this.recovered =
      this.known.isResumed && !host.takesOver ? !asleep : this.known.differIn(host.rules, host.takesOver);
    if (this.recovered) return;
    if (asleep) this.clocks.seen = asleep;
    else this.clocks.note(this.known.watchedFrom(this.at, this.now));
  }

  /** How many steps are running; for draining. */
  get inFlight(): number {
    return this.handles.inFlight;
  }

  /** Whether the interpreter waits and nothing has come for it. */
  get isIdle(): boolean {
    return this.wake !== null && this.settled.length === 0;
  }

  /**
   * State with which the run may leave memory until a signal or that instant: nothing is running. Null if something is,
   * or if only this process knows how long it still waits.
   */
  get sleepsUntil(): { wakeAt: number | null; seen: Seen } | null {
    const { seen } = this.clocks;
    if (!this.isIdle || !seen || this.fresh.length > 0 || this.stopped || this.clockJump() !== 0) return null;
    return this.handles.onlyRest ? { wakeAt: this.handles.wakeAt, seen } : null;
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
    // The log shows that the flow continued in this turn, so the signal came later.
    if (this.isRecorded && this.lastSeq < this.known.get(this.turn).lastSeq) return false;
    return this.signals.has(name) || this.known.isAnsweredAfter(this.turn, name);
  }

  sleep(key: string, ms: number): Durable {
    const known = this.journal.timers.get(key);
    const dueAt = known ?? this.dueIn(ms);
    if (known === undefined) this.open.timers.push({ key, dueAt });
    return this.register({ key, kind: "sleep", ms, dueAt, started: false });
  }

  /** What a fork's original waited for has as much left in the fork as it had then. */
  private dueIn(ms: number): number {
    const shift = this.known.shiftIn(this.turn);
    return shift === null ? Math.max(this.at, this.now) + ms : this.at + ms + shift;
  }

  timeout(key: string, ms: number): Durable {
    return this.register({ key, kind: "timeout", ms, started: false });
  }

  private get now(): number {
    return this.host.time.clock.now();
  }

  asRecorded(event: RunEvent): RunEvent {
    const recorded = this.isRecorded ? this.known.get(this.turn).events[this.open.events.length] : undefined;
    // Of another type, it is a mismatch that the end of the turn reports.
    return recorded?.type === event.type ? recorded : event;
  }

  emit(event: RunEvent): void {
    this.lastSeq = event.seq;
    this.open.add(event, this.isRecorded);
  }

  /** Whether the log holds the present turn already. */
  private get isRecorded(): boolean {
    return this.known.has(this.turn);
  }

  abandon({ key }: Durable): void {
    const handle = this.handles.get(key);
    if (!handle) return;
    this.handles.giveUp(handle);
    handle.request?.abandoned?.();
  }

  next(_pending: readonly Durable[]): Promise<Settlement> | Settlement {
    const gathered = this.handles.nextInline();
    if (!gathered || !this.mayGather()) return this.nextTurn();
    this.open.inlined++;
    const { key, result } = this.compute(gathered);
    return { key, result, at: this.at };
  }

  /** Ends the present turn and waits for the answer that begins another. */
  private async nextTurn(): Promise<Settlement> {
    if (this.isRecorded) this.known.expectSame(this.runId, this.turn, this.open, this.lastSeq);
    else {
      const written = this.flush(false);
      if (this.mayGoOnUnrecorded())
        this.unrecorded.add(written, this.open.chars + (this.answer?.text?.length ?? 0), this.open.beganAt);
      else await this.unrecorded.all(written);
    }
    this.open.clear();

    const upcoming = this.known.after(this.turn);
    if (upcoming) {
      // Only the first turn of a journal has neither: it is the one that starts the flow.
      const key = present(upcoming.key ?? undefined, "the key of a later turn");
      const result = present(upcoming.result ?? undefined, "the result of a later turn");
      this.journal.recorded?.noteSettled(key, result);
      const kind = this.handles.get(key)?.kind ?? "note";
      return this.begin({ key, result, kind }, upcoming.at);
    }
    if (this.unrecorded.isEmpty) this.startFresh();
    const answer = await this.newAnswer();
    this.open.restart();
    const at = Math.max(this.at, this.now);
    // A clock that was set back stands still for this run; what is missing then adds up until it is noted.
    if (answer.kind === "note" || !this.clocks.seen || at > this.at) this.clocks.note(at);
    return this.begin(answer, at);
  }

  /** Whether an answer is available to continue with before the current turn is safely in the log. */
  private mayGoOnUnrecorded(): boolean {
    if (!this.host.recordsTogether || this.stopped || this.damage) return false;
    return this.settled.length > 0 && this.unrecorded.hasRoom;
  }

  /** Waits for what has not happened before: a stop or a note of the engine, an answer from outside, an inline step. */
  private async newAnswer(): Promise<Answer> {
    for (;;) {
      if (this.stopped) await new Promise<never>(() => {});
      if (this.isCancelDue())
        return { key: CANCEL, result: { ok: true, value: this.cancellation }, kind: "signal" };
      if (this.recovered) {
        this.recovered = false;
        const { workerId, rules } = this.host;
        const value = { worker_id: workerId, ...defined({ rules: rules ? asJson(rules) : undefined }) };
        return note(`recovered#${this.turn + 1}`, value);
      }
      const jump = this.clockJump();
      if (jump !== 0) return note(`clock#${this.turn + 1}`, { ms: jump });
      const settled = this.settled.shift();
      if (settled) return settled;
      if (this.damage && this.inFlight === 0) throw this.damage;
      const inline = this.frozen ? null : this.handles.nextInline();
      if (inline) return this.compute(inline);
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  /** Who cancels the run and why, with the signals that it has not taken. */
  private get cancellation(): Json {
    const untaken = [...this.signals.keys()].filter((name) => name !== "cancel" && !this.taken.has(name));
    const about = must(this.signals, "cancel");
    return untaken.length === 0 ? about : asJson({ ...recordOf(about), untaken });
  }

  private clockJump(): number {
    return this.clocks.jump(Math.max(this.at, this.now));
  }

  /** Whether the machine slept, or its clock was set forward, since the last answer. */
  get hasSlept(): boolean {
    return this.clockJump() > 0;
  }

  /** Looks whether the clock jumped, also while nothing else comes. */
  checkClock(): void {
    if (this.clockJump() !== 0) this.rouse();
  }

  /** Whether the present turn takes in one more inline step: as often as it did when the log tells of it. */
  private mayGather(): boolean {
    if (this.isRecorded) return this.open.inlined < this.known.get(this.turn).inlined;
    if (this.known.isBeforeFork(this.turn, this.lastSeq)) return true;
    return !this.open.isFull && !this.frozen && !this.isCancelDue();
  }

  private compute(handle: Handle): Answer {
    this.handles.settleInline(handle);
    let result: Settled;
    try {
      const value = this.execute(handle);
      if (value instanceof Promise) throw new Error(`The inline step "${handle.key}" answers later.`);
      result = { ok: true, value };
    } catch (error) {
      result = { ok: false, error: asStepError(error) };
    }
    return { key: handle.key, result, kind: "inline" };
  }

  /** Records what was emitted last; called when the interpreter has returned. */
  async close(): Promise<void> {
    const isReported = this.isRecorded || (this.open.events.length === 0 && !this.answer);
    await this.unrecorded.all(isReported ? undefined : this.flush(true));
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

  /** Starts no more work; running steps may finish and be recorded. */
  freeze(): void {
    this.frozen = true;
  }

  /** Drops the run from this process; the log keeps it. */
  stop(): void {
    this.stopped = true;
    this.handles.clear();
    this.fresh = [];
  }

  private register(handle: Handle): Durable {
    this.handles.add(handle);
    handle.mayHaveBegun = this.known.isResumed && this.isRecorded;
    // What a fork has from its original is asked for since the fork was made.
    handle.begunAt = Math.max(this.at, this.journal.fork?.forkedAt ?? 0);
    if (handle.kind !== "inline") this.fresh.push(handle);
    return handle;
  }

  /** A turn begins with this answer. */
  private begin(answer: Answer, at: number): Settlement {
    this.host.computing?.();
    this.turn++;
    this.answer = answer;
    this.at = at;
    const handle = this.handles.get(answer.key);
    if (handle) this.handles.giveUp(handle);
    if (answer.kind === "signal") this.taken.add(answer.key);
    if (answer.key === CANCEL) {
      this.cancelSeen = true;
      const { by, reason, untaken } = recordOf(answer.result.ok ? answer.result.value : null);
      throw new Cancelled(
        isText(by) ? by : undefined,
        isText(reason) ? reason : undefined,
        at,
        textsOf(untaken),
      );
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
      ...this.open.made,
      ...defined({ resultText: text }),
      touchesWorld:
        isLast ||
        kind === "step" ||
        kind === "signal" ||
        this.fresh.some((handle) => handle.kind === "step" && !isRun(handle)),
      wakeAt: isLast ? null : this.handles.wakeAt,
    });
  }

  private startFresh(): void {
    if (this.frozen) return;
    this.host.computing?.();
    const starting = this.fresh;
    this.fresh = [];
    for (const handle of starting) {
      if (!this.handles.has(handle)) continue;
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

  private startStep(handle: Handle): void {
    const { request } = handle;
    if (request) {
      handle.hash = requestHash(request);
      const recorded = recordedAnswer(this.journal.recorded, request, handle);
      if (recorded) return this.settle(handle, recorded);
      if (handle.mayHaveBegun && request.onCrash) {
        if (request.onCrash !== "repeat")
          return this.settle(handle, { ok: false, error: obstacle(inFlight(this.runId)) });
        handle.mark = { repeated: true };
      }
    }
    try {
      const value = this.execute(handle);
      if (value instanceof Promise)
        value.then(
          (done) => this.settle(handle, { ok: true, value: done }),
          (error: unknown) => this.failed(handle, error),
        );
      else this.settle(handle, { ok: true, value });
    } catch (error) {
      this.failed(handle, error);
    }
  }

  private execute(handle: Handle): ReturnType<StepWork> {
    const work = () => must(handle, "work")(new Scope(this, handle));
    return this.host.around ? this.host.around(handle.key, work) : work();
  }

  /** A step that failed on damaged settings has no answer: it is repeated when they are repaired. */
  private failed(handle: Handle, error: unknown): void {
    if (!(error instanceof SettingsDamaged))
      return this.settle(handle, { ok: false, error: asStepError(error) });
    if (!this.handles.has(handle) || this.stopped) return;
    this.handles.giveUp(handle);
    this.damage = error;
    this.freeze();
    this.rouse();
  }

  /** Shows a step's live output to watchers until it ends. */
  show(handle: Handle, frame: LiveFrame): void {
    if (this.handles.has(handle)) this.host.live(this.runId, frame);
  }

  private settle(handle: Handle, result: Settled): void {
    // Given up, or settled already: a late result changes nothing.
    if (!this.handles.has(handle) || this.stopped) return;
    this.host.computing?.();
    this.handles.settle(handle);
    const { key, kind, hash, mark } = handle;
    const redacted = this.host.redact ? this.host.redact(result) : result;
    const whole = hash === undefined ? redacted : { ...redacted, request: hash, ...mark };
    this.settled.push({
      key,
      kind: isRun(handle) ? "run" : kind,
      ...storedResult(whole, this.host.longestResult),
    });
    this.rouse();
  }

  private rouse(): void {
    const { wake } = this;
    this.wake = null;
    wake?.();
  }
}
