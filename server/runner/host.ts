import type { Disk } from "@/db/disk";
import type { SentTurn, StretchEnd, StretchNews } from "@/server/cluster/protocol";
import type { InstallationRules, RaisableLimit, RunConfig } from "@/server/domain/agent/outcome";
import type { RoleDefinition } from "@/server/domain/agent/role";
import type { LiveFrame } from "@/server/domain/base/durable";
import { errorMessage } from "@/server/domain/base/guards";
import { newId } from "@/server/domain/base/ids";
import { parseJson } from "@/server/domain/base/json";
import { present } from "@/server/domain/base/must";
import { namedError } from "@/server/domain/base/named-error";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { RunCommand } from "@/server/domain/run/command";
import type { PeopleRules, RunEvent, RunEventOf } from "@/server/domain/run/events";
import { DamagedLog, type HeldReason, heldMessage, SettingsDamaged } from "@/server/domain/run/held";
import { editPlan, type PlanEdit } from "@/server/domain/run/plan-edit";
import { RULES_NOW, USUAL_PEOPLE } from "@/server/domain/run/question-times";
import { GivenAnswer, type PersonsAnswer } from "@/server/domain/run/tool-question";
import type { AtWork } from "@/server/store/at-work";
import type { RunProgress, RunStatus, RunStore } from "@/server/store/runs";
import type { Watchdog } from "@/server/store/watchdog";
import { Beginnings, storedCreation } from "./beginnings";
import { type Clock, LOOK_EVERY_MS, SHORT_MS, WorkTime } from "./clock";
import { type Elsewhere, ENGINE_MISSING, type LiveRun, RemoteRun } from "./elsewhere";
import { EmbeddedRun, type Journal, ReplayMismatch, type Seen, type TurnRecord } from "./embedded";
import { INTERPRETER_VERSION } from "./execute";
import { type Follower, Followers, type RunFrame, type StatusTick, Watchers } from "./followers";
import { type ForkRequest, planFork, withOriginal } from "./forking";
import { Frames, type StreamRedactor } from "./frames";
import { asError, internalError, isMarked } from "./internal-error";
import { interpreters, unknownVersionText } from "./interpreters";
import { isPassing, LogWriter, Unwritable } from "./log-writer";
import type { Effects } from "./ports";
import { Recovery } from "./recovery";
import { RunQueue } from "./run-queue";
import { Taken } from "./taken";
import { placeOf, TurnWriter, type WrittenTurn } from "./turn-write";

export interface StartRequest {
  workflow_id: string | null;
  workflow_name: string;
  graph: WorkflowGraph;
  roles: RoleDefinition[];
  input: JsonObject;
  config: RunConfig;
  trigger: RunEventOf<"run_created">["payload"]["trigger"];
  provider_summary: RunEventOf<"run_created">["payload"]["provider_summary"];
  context_windows?: RunEventOf<"run_created">["payload"]["context_windows"];
  installation?: RunEventOf<"run_created">["payload"]["installation"];
  pins?: RunEventOf<"run_created">["payload"]["pins"];
  only_node?: RunEventOf<"run_created">["payload"]["only_node"];
  idempotency_key?: string;
  /** Of what was asked for with the key, so that the same key is not taken for something else. */
  request_hash?: string;
}

export class QueueFull extends namedError("QueueFull") {}

export interface HostOptions {
  store: RunStore;
  effects: Effects;
  /** Absent where nothing has to survive a power cut. */
  disk?: Disk;
  /** Runs at work at the same time; those that only wait do not count. A function where it changes. */
  maxRuns?: number | (() => number);
  maxQueued?: number;
  /** What holds in every run from now on, also in those that an earlier process began. */
  rules?: InstallationRules;
  /** How people are asked in runs that begin from now on; the usual rules where it is absent. */
  people?: PeopleRules;
  /** Blacks out secrets; nothing that it hides reaches the log of a run. */
  redact?: <T>(value: T) => T;
  /** The same for text that is being written. */
  streamRedactor?: StreamRedactor;
  /** Where time comes from; tests bring their own. */
  clock?: Clock;
  /** Where it is noted which run is being computed, so that a next start knows which one ended the server. */
  atWork?: AtWork;
  /** Sees when this thread stands still, and notes whose steps were under way. */
  watchdog?: Watchdog;
  /** Where runs are carried out in other processes; absent where nothing is known of any. */
  elsewhere?: Elsewhere;
  /** How long a run is left alone after a start that was being computed when the server ended, in milliseconds. */
  suspectDelayMs?: number;
  log?: (level: "info" | "warn" | "error", message: string, about?: Record<string, unknown>) => void;
}

const BACKLOG_CHUNK = 500;
/** After a disk or another process was in the way of a run. */
const TRY_AGAIN_MS = 500;
const SUSPECT_DELAY_MS = 10_000;
/** How long before its time a waiting run is back in memory, so that it wakes on time. */
const WAKE_EARLY_MS = 5_000;
/** At a start, whoever has to answer in this time gets longer: what waits for so little is taken up at once. */
const TAKE_UP_DUE_MS = 5 * 60_000;
/** So many runs are taken up at a time, with a breath for others between. */
const WAKE_SLICE = 25;

/** The runs in progress: starts, continues, cancels them; records first, then tells whoever follows. */
export class Host {
  private readonly live = new Map<string, LiveRun>();
  /** Runs that left the memory of this process while they wait, with the times that they had seen. */
  private readonly asleep = new Map<string, Seen>();
  /** Who waits for a run to leave this process. */
  private readonly leaving = new Map<string, { gone: Promise<void>; leave: () => void }>();
  private waking: { id: string; workflow_id: string | null }[] = [];
  private readonly queue = new RunQueue();
  private readonly beginnings = new Beginnings();
  private readonly followers = new Followers();
  private readonly watchers = new Watchers();
  private readonly taken = new Taken();
  private readonly frames: Frames;
  private readonly writer: LogWriter;
  private readonly recovery: Recovery;
  private isNoted = false;
  /** Whether runs of an earlier process may still wait outside the memory of this one. */
  private hasLeftSome = false;
  private draining = false;
  private pumping = false;
  readonly workerId = `${process.pid}-${Date.now().toString(36)}`;
  private readonly time: WorkTime;
  private readonly looking: ReturnType<typeof setInterval>;

  constructor(private readonly options: HostOptions) {
    this.time = new WorkTime(options.clock);
    this.looking = setInterval(() => this.lookAtClock(), LOOK_EVERY_MS);
    this.looking.unref();
    this.frames = new Frames(
      (runId, frames) => this.followers.send(runId, { kind: "live", frames }),
      options.streamRedactor,
    );
    this.writer = new LogWriter(
      (writes) => {
        this.noteComputing(writes.map(({ runId }) => runId));
        this.store.write(writes);
      },
      (message, error) => options.log?.("warn", message, { error: errorMessage(error) }),
    );
    this.recovery = new Recovery({
      store: options.store,
      isElsewhere: (id) => this.options.elsewhere?.stretchOf(id) != null,
      takeUp: (id, workflowId) => this.takeUp(id, workflowId),
      enqueue: (id, workflowId) => this.queue.add(id, workflowId),
      hold: (id, code, message) => this.hold(id, code, message),
      suspectDelayMs: options.suspectDelayMs ?? SUSPECT_DELAY_MS,
    });
  }

  /** Keeps the time at work, and tells the runs where the clock jumped or the machine slept. */
  private lookAtClock(): void {
    this.time.read();
    for (const { engine } of this.live.values()) engine.lookAtClock();
    if (this.asleep.size > 0 || this.hasLeftSome) this.wakeDue();
  }

  /** Takes up waiting runs whose time has nearly come, a few at a time. */
  private wakeDue(): void {
    const isWaking = this.waking.length > 0;
    this.waking = this.store
      .due(this.now + WAKE_EARLY_MS)
      .filter(({ id }) => !this.live.has(id) && !this.recovery.isPending(id) && !this.recovery.isSuspect(id));
    if (!isWaking && this.waking.length > 0) this.wakeSome();
  }

  private wakeSome(): void {
    if (this.draining) return;
    for (const { id, workflow_id } of this.waking.splice(0, WAKE_SLICE)) this.takeUp(id, workflow_id);
    if (this.waking.length > 0) setImmediate(() => this.wakeSome());
  }

  private get now(): number {
    return this.time.clock.now();
  }

  private get store(): RunStore {
    return this.options.store;
  }

  /** The run that this key started before, or null. Throws KeyReused where it was for something else. */
  startedWith(key: string, requestHash: string): string | null {
    return this.store.startedWith(key, requestHash);
  }

  /** Creates a run and queues it. The same idempotency key gives the same run; throws KeyReused, QueueFull. */
  start(request: StartRequest): { run_id: string; created: boolean } {
    this.refuseMore();
    const id = newId("run");
    const past = this.store.pastWork(placeOf(request), request.graph);
    const created = storedCreation({
      type: "run_created",
      seq: 1,
      ts: this.now,
      payload: {
        graph: request.graph,
        roles: request.roles,
        workflow_id: request.workflow_id,
        workflow_name: request.workflow_name,
        input: this.options.redact ? this.options.redact(request.input) : request.input,
        config: request.config,
        trigger: request.trigger,
        provider_summary: request.provider_summary,
        ...(request.context_windows ? { context_windows: request.context_windows } : {}),
        ...(past.length > 0 ? { past_work: past } : {}),
        ...(request.config.mode === "continuous" ? {} : { can_hold: true as const }),
        ...(request.installation ? { installation: request.installation } : {}),
        ...(request.pins ? { pins: request.pins } : {}),
        ...(request.only_node === undefined ? {} : { only_node: request.only_node }),
        people: { ...(this.options.people ?? USUAL_PEOPLE), ...RULES_NOW },
      },
    });
    const made = this.store.create({
      id,
      created,
      interpreterVersion: INTERPRETER_VERSION,
      idempotencyKey: request.idempotency_key ?? null,
      ...(request.request_hash === undefined ? {} : { requestHash: request.request_hash }),
    });
    if (made.created) {
      this.beginnings.keep(id, created);
      this.begin(id, request.workflow_id);
    }
    return { run_id: made.id, created: made.created };
  }

  /** Creates a run that begins as another one went, and queues it. Throws RefusedFork, QueueFull, DamagedLog. */
  fork(request: ForkRequest): { run_id: string; at_seq: number } {
    this.refuseMore();
    const redacted = this.options.redact ? this.options.redact(request) : request;
    const { origin, ...planned } = planFork(this.store, redacted, this.now);
    const id = newId("run");
    this.store.create({ id, idempotencyKey: null, origin, ...planned });
    this.begin(id, planned.created.payload.workflow_id);
    return { run_id: id, at_seq: origin.seq };
  }

  private refuseMore(): void {
    if (this.queue.size >= (this.options.maxQueued ?? 1000))
      throw new QueueFull("Too many runs are waiting. Try again in a moment.");
  }

  private begin(id: string, workflow_id: string | null): void {
    this.queue.add(id, workflow_id);
    this.watchers.tell({ run_id: id, workflow_id, status: "queued", final_status: null });
    this.pump();
  }

  /** Takes up every run that had not ended, each where its log ends, a few at a time. Answers how many. */
  recover(): number {
    const guessed = this.noteWhatStopped();
    this.hasLeftSome = true;
    this.store.listOldQuestions();
    for (const id of this.options.elsewhere?.runs() ?? []) this.takeUpElsewhere(id);
    this.recovery.begin(this.now + TAKE_UP_DUE_MS, guessed);
    this.pump();
    return this.store.countUnfinished();
  }

  /**
   * What the last process computed when it ended is written down before anything is taken up. Answers the runs of which it
   * is only known that they had a step under way when the thread stood still.
   */
  private noteWhatStopped(): ReadonlySet<string> {
    const { atWork, watchdog } = this.options;
    const computed = atWork?.last() ?? [];
    const guessed = computed.length > 0 ? [] : (watchdog?.last() ?? []);
    const stopped = [...computed, ...guessed];
    if (stopped.length > 0) {
      const what =
        guessed.length > 0
          ? "stood still while steps were under way, and ended."
          : "ended while it computed a run.";
      this.options.log?.("warn", `The server ${what}`, { run_ids: stopped });
      this.store.noteStops(stopped);
      atWork?.clear();
    }
    watchdog?.forgetLast();
    return new Set(guessed);
  }

  /** Cancels a run in any state; false if it has ended. */
  cancel(runId: string, about: { by: string; reason: string }): boolean {
    const run = this.store.find(runId);
    if (!run || run.status === "finished") return false;
    const live = this.live.get(runId);
    // What cannot be computed, or better is not, is ended without.
    if (!live && (run.status === "held" || this.recovery.isSuspect(runId))) {
      this.recovery.forget(runId);
      void this.end(runId, {
        final_status: "CANCELLED",
        reason_code: "CANCELLED",
        output: {},
        warnings: [],
      });
      return true;
    }
    this.beginnings.take(runId);
    this.store.signal(runId, "cancel", about, this.now);
    if (live) live.engine.deliver("cancel", about);
    else {
      this.queue.remove(runId);
      this.takeUp(runId, run.workflow_id);
    }
    return true;
  }

  /** Takes up a run again that is held; false if it is not. */
  tryAgain(runId: string): boolean {
    const { elsewhere } = this.options;
    const stretch = elsewhere?.stretchOf(runId) ?? null;
    const status = this.store.release(runId);
    if (status === null) return false;
    // Where its engine is known it goes on there; otherwise a person decided that it goes on here.
    if (stretch !== null && !elsewhere?.isConfigured) elsewhere?.over(runId, stretch);
    const workflowId = this.store.find(runId)?.workflow_id ?? null;
    this.watchers.tell({ run_id: runId, workflow_id: workflowId, status, final_status: null });
    if (status === "queued") {
      this.queue.add(runId, workflowId);
      this.pump();
    } else this.takeUp(runId, workflowId);
    return true;
  }

  /** Raises a limit; a run that stopped at it goes on. */
  raiseLimit(runId: string, limit: RaisableLimit, to: number, by: string): void {
    const value = { kind: "raise_limit", limit, to, by };
    const name = this.store.command(runId, value, this.now);
    this.deliver(runId, name, value);
  }

  /**
   * Tells a run something, for good: it takes it up also after a restart. Answers the events that followed; null where it
   * has not come to it yet.
   */
  command(runId: string, command: RunCommand, by: string): Promise<RunEvent[] | null> {
    const value = parseJson(JSON.stringify({ ...command, by }));
    const name = this.store.command(runId, value, this.now);
    const taken = this.taken.wait(runId, name);
    // A run that has just ended is on its way out, and is taken up again for this.
    if (this.store.find(runId)?.status === "finished")
      void this.settled(runId).then(() => this.deliver(runId, name, value));
    else this.deliver(runId, name, value);
    return taken;
  }

  /** Changes the plan of a crew at work. Answers what is wrong with the change, or null: it is on its way. */
  editPlan(runId: string, activationId: string, edit: PlanEdit, by: string): string | null {
    const run = this.store.find(runId);
    const state = run && run.status !== "finished" ? this.store.state(runId) : undefined;
    const crew = state?.crews[activationId];
    const plan = state?.plans[activationId];
    if (!run || !crew || !plan || crew.status !== "running") return "This crew is not at work any more.";
    const edited = editPlan(plan, crew, edit);
    if (!edited.ok) return edited.message;
    const value = { kind: "edit_plan", activation_id: activationId, edit, by };
    const name = this.store.command(runId, value, this.now);
    this.deliver(runId, name, value);
    return null;
  }

  /**
   * Answers a question of a run. False where it is not open any more, or asks for something else than what the
   * fingerprint names: an answer counts for exactly one question, once. One that nobody waited for is kept, marked late,
   * where its run has ended.
   */
  answer(
    runId: string,
    interactionId: string,
    fingerprint: string,
    value: PersonsAnswer & { by: string },
  ): boolean {
    const interaction = this.store.state(runId)?.interactions[interactionId];
    if (interaction?.status !== "open" || interaction.requested.fingerprint !== fingerprint) return false;
    // A run that has not noticed yet that it slept leaves the question open for longer, and so does one taken up again.
    const { mode, expires_at } = interaction.requested;
    const name = `answer:${interactionId}`;
    if (mode === "advisory" && this.store.find(runId)?.status === "finished")
      return this.store.signal(runId, name, { ...value, late: true }, this.now);
    const asking = this.live.get(runId)?.engine;
    if (mode !== "advisory" && expires_at <= this.now && asking && !asking.hasSlept) return false;
    if (!this.store.signal(runId, name, value, this.now)) return false;
    this.deliver(runId, name, value);
    return true;
  }

  /** Who answered a question, also where the run has not taken that up yet; null where nobody did. */
  answered(runId: string, interactionId: string): GivenAnswer | null {
    const kept = this.store.sent(runId, `answer:${interactionId}`);
    const taken = this.store.state(runId)?.interactions[interactionId]?.answered;
    return GivenAnswer.safeParse(taken ?? kept).data ?? null;
  }

  /** Hands a run what is in its log already. One that is held gets it once it is tried again. */
  private deliver(runId: string, name: string, value: Json): void {
    this.beginnings.take(runId);
    const live = this.live.get(runId);
    if (live) return live.engine.deliver(name, value);
    const run = this.store.find(runId);
    if (run && run.status !== "held") this.takeUp(runId, run.workflow_id);
  }

  /** Watches all runs change their status. Answers how to stop. */
  watch(onTick: (tick: StatusTick) => void): () => void {
    return this.watchers.watch(onTick);
  }

  /** The same as a stream. */
  ticks(signal?: AbortSignal): AsyncGenerator<StatusTick> {
    return this.watchers.ticks(signal, () => this.draining);
  }

  get isDraining(): boolean {
    return this.draining;
  }

  isLive(runId: string): boolean {
    return this.live.has(runId) || this.asleep.has(runId);
  }

  /**
   * Follows a run: first what the log holds after `after`, then what happens. It listens from the moment of the
   * call, so that nothing between the two is lost. Ends after the last event of a finished run.
   */
  follow(runId: string, after: number, signal?: AbortSignal): AsyncGenerator<RunFrame> {
    const { follower, leave } = this.followers.join(runId);
    signal?.addEventListener("abort", leave, { once: true });
    return this.read(runId, after, follower, () => {
      signal?.removeEventListener("abort", leave);
      leave();
    });
  }

  private async *read(
    runId: string,
    after: number,
    follower: Follower,
    leave: () => void,
  ): AsyncGenerator<RunFrame> {
    try {
      let last = after;
      for (;;) {
        const isHeld = this.store.find(runId)?.status === "held";
        const events = this.store.events(runId, last, BACKLOG_CHUNK, isHeld);
        if (events.length === 0) break;
        last = present(events.at(-1), "events.at(-1)").seq;
        yield { kind: "events", events };
      }
      const overlay = this.frames.snapshot(runId);
      if (overlay.length > 0) yield { kind: "live", frames: overlay };
      const run = this.store.find(runId);
      if (!run || (run.status === "finished" && !this.live.has(runId))) {
        yield { kind: "end" };
        return;
      }
      for await (const frame of follower.frames()) {
        if (frame.kind !== "events") {
          yield frame;
          continue;
        }
        const events = frame.events.filter(({ seq }) => seq > last);
        if (events.length === 0) continue;
        last = present(events.at(-1), "events.at(-1)").seq;
        yield { kind: "events", events };
      }
    } finally {
      leave();
    }
  }

  /** Resolves when the run is out of this process: ended, or stopped at a limit. */
  async settled(runId: string): Promise<void> {
    if (this.recovery.isPending(runId)) await this.recovery.done;
    if (!this.isLive(runId)) return;
    let waiting = this.leaving.get(runId);
    if (!waiting) {
      let leave = () => {};
      const gone = new Promise<void>((resolve) => {
        leave = resolve;
      });
      this.leaving.set(runId, (waiting = { gone, leave }));
    }
    await waiting.gone;
  }

  /** Stops taking up work and lets what is under way finish, for at most `ms`. What is left goes on at the next start. */
  async drain(ms: number): Promise<void> {
    this.draining = true;
    this.recovery.stop();
    for (const { engine } of this.live.values()) engine.freeze();
    const end = Date.now() + ms;
    while (Date.now() < end && [...this.live.values()].some(({ engine }) => engine.inFlight > 0))
      await new Promise((resolve) => setTimeout(resolve, 20));
    while (this.writer.size > 0 && Date.now() < end) await new Promise((resolve) => setImmediate(resolve));
    await this.options.disk?.sync();
    for (const { engine } of this.live.values()) engine.stop();
    this.followers.close();
    this.frames.stop();
    clearInterval(this.looking);
    this.options.atWork?.close();
    this.options.watchdog?.close();
  }

  /** Notes for which runs the thread computes, until it comes round again. */
  private noteComputing(runIds: readonly string[]): void {
    const { atWork } = this.options;
    if (!atWork) return;
    atWork.note(runIds);
    if (this.isNoted) return;
    this.isNoted = true;
    setImmediate(() => {
      this.isNoted = false;
      atWork.clear();
    });
  }

  private busyCount(): number {
    let count = 0;
    for (const { status } of this.live.values()) if (status === null || status === "running") count++;
    return count;
  }

  /** Begins queued runs while there is room, one workflow after another. */
  private pump(): void {
    if (this.draining || this.pumping) return;
    this.pumping = true;
    try {
      const { maxRuns = 16 } = this.options;
      let room = (typeof maxRuns === "number" ? maxRuns : maxRuns()) - this.busyCount();
      while (room > 0) {
        const next = this.queue.next();
        if (!next) break;
        if (this.takeUp(next.id, next.workflowId)) room--;
      }
    } finally {
      this.pumping = false;
    }
  }

  /** Takes a run up; false if it cannot be read: then it is held, and the others go on. Never throws. */
  private takeUp(runId: string, workflowId: string | null): boolean {
    this.recovery.forget(runId);
    try {
      this.carryOut(runId, workflowId);
      return true;
    } catch (error) {
      if (isPassing(error)) setTimeout(() => this.takeUp(runId, workflowId), TRY_AGAIN_MS);
      else this.hold(runId, "damaged_log", errorMessage(error));
      return false;
    }
  }

  /** What the log knows of a run. One that was created here and only waited for its turn has no more than its creation. */
  private journalOf(runId: string): Journal & { version: number } {
    const created = this.beginnings.take(runId);
    if (!created) return this.store.journal(runId);
    const first = {
      turn: 0,
      key: null,
      result: null,
      at: created.ts,
      lastSeq: 1,
      inlined: 0,
      events: [created],
    };
    return { version: INTERPRETER_VERSION, turns: [first], timers: new Map(), signals: new Map() };
  }

  private carryOut(runId: string, workflowId: string | null): void {
    if (this.draining || this.live.has(runId)) return;
    const { elsewhere } = this.options;
    if (elsewhere && (elsewhere.isPreferred || elsewhere.stretchOf(runId) !== null))
      return this.sendElsewhere(elsewhere, runId, workflowId);
    this.noteComputing([runId]);
    const journal = this.journalOf(runId);
    const created = journal.turns[0]?.events[0];
    const execute = interpreters[journal.version];
    if (!execute) return this.hold(runId, "unknown_version", unknownVersionText(journal.version));
    if (created?.type !== "run_created") throw new DamagedLog("The beginning of this run's log is missing.");
    const { redact, watchdog } = this.options;
    const engine = new EmbeddedRun(
      runId,
      {
        record: (turn) => this.record(turn),
        computing: () => this.noteComputing([runId]),
        ...(watchdog ? { stepBegins: () => watchdog.stepBegins(runId) } : {}),
        live: (id, frame) => this.frames.add(id, frame),
        workerId: this.workerId,
        ...(this.options.rules ? { rules: this.options.rules } : {}),
        time: this.time,
        ...(redact ? { redact } : {}),
      },
      withOriginal(this.store, created, journal),
      this.asleep.get(runId),
    );
    this.asleep.delete(runId);
    const turns = new TurnWriter((seq) => this.store.events(runId, 0, seq));
    const run: LiveRun = { engine, turns, status: null, finalStatus: null, workflowId };
    this.live.set(runId, run);
    void execute(engine, created, this.options.effects, (state) => {
      turns.state = state;
    })
      .then(() => engine.close())
      .catch((error: unknown) => {
        engine.stop();
        return this.broke(runId, error);
      })
      .finally(() => this.forget(runId, run));
  }

  /** Has the run carried out in other processes from here on, or finds that it is. */
  private sendElsewhere(elsewhere: Elsewhere, runId: string, workflowId: string | null): void {
    const isAtWork = elsewhere.stretchOf(runId) !== null;
    if (isAtWork && !elsewhere.isConfigured) return this.hold(runId, "engine_missing", ENGINE_MISSING);
    // Whoever begins it reads these; what is damaged is held before.
    this.store.creation(runId);
    this.store.lastTurn(runId);
    this.beginnings.take(runId);
    this.asleep.delete(runId);
    const engine = new RemoteRun(runId, elsewhere);
    this.live.set(runId, { engine, turns: null, status: null, finalStatus: null, workflowId });
    if (!isAtWork) elsewhere.begin(runId);
  }

  /** After a start: finds a run at work in other processes. */
  private takeUpElsewhere(runId: string): void {
    const run = this.store.find(runId);
    if (!run) return;
    if (run.held?.code === "engine_missing" && this.options.elsewhere?.isConfigured) this.tryAgain(runId);
    else if (run.status !== "held") this.takeUp(runId, run.workflow_id);
  }

  /**
   * What a worker tells of a run that it carries out. Resolves once it is in the log and was published. What came before, or
   * is of a stretch that is over, changes nothing.
   */
  async receive(news: StretchNews): Promise<void> {
    const { elsewhere } = this.options;
    const { run_id, stretch, turns, end } = news;
    if (!elsewhere || elsewhere.stretchOf(run_id) !== stretch) return;
    elsewhere.heard(run_id, stretch, news.worker);
    try {
      const last = this.store.lastTurn(run_id).turn;
      await this.recordElsewhere(
        run_id,
        turns.filter(({ turn }) => turn > last),
      );
      if (end) await this.endStretch(elsewhere, news, end);
    } catch (error) {
      const isDamage = error instanceof DamagedLog;
      if (!isDamage && !(error instanceof Unwritable)) throw error;
      this.leaveElsewhere(elsewhere, run_id, stretch);
      this.left(run_id);
      if (isDamage) this.hold(run_id, "damaged_log", errorMessage(error));
      else await this.broke(run_id, error);
    }
  }

  /** Text of a run that is being written elsewhere. */
  show(runId: string, frames: readonly LiveFrame[]): void {
    for (const frame of frames) this.frames.add(runId, frame);
  }

  private async recordElsewhere(runId: string, turns: readonly SentTurn[]): Promise<void> {
    if (turns.length === 0) return;
    await Promise.all(turns.map((turn) => this.writer.append({ ...turn, runId })));
    await this.options.disk?.sync();
    for (const { key, events, progress, questions } of turns) {
      if (events.length > 0) this.publish(runId, events);
      this.taken.tell(runId, key, events);
      const run = this.live.get(runId);
      if (run) this.noteProgress(runId, run, progress ?? null, questions !== undefined);
    }
  }

  private async endStretch(elsewhere: Elsewhere, news: StretchNews, end: StretchEnd): Promise<void> {
    const { run_id, stretch } = news;
    const run = this.leaveElsewhere(elsewhere, run_id, stretch);
    if (end.kind !== "rested") {
      if (end.kind === "held") this.hold(run_id, end.code, end.message);
      else await this.broke(run_id, faultOf(end));
      return this.left(run_id);
    }
    const row = this.store.find(run_id);
    const workflowId = run?.workflowId ?? row?.workflow_id ?? null;
    // What it was sent while it came to rest is taken in by its next stretch.
    if (elsewhere.signalCount(run_id) > end.signals) this.takeUp(run_id, workflowId);
    else if (row && row.status !== "finished") {
      this.asleep.set(run_id, { at: this.now, worked: this.time.read() });
      return this.pump();
    }
    if (run && !this.live.has(run_id)) this.left(run_id);
  }

  private leaveElsewhere(elsewhere: Elsewhere, runId: string, stretch: number): LiveRun | undefined {
    elsewhere.over(runId, stretch);
    const run = this.live.get(runId);
    this.live.delete(runId);
    return run;
  }

  /** The interpreter gave up: the run is closed with the reason, or held where another version may carry it on. */
  private async broke(runId: string, fault: unknown): Promise<void> {
    if (fault instanceof ReplayMismatch) return this.hold(runId, "log_differs", errorMessage(fault));
    if (fault instanceof SettingsDamaged) return this.hold(runId, "settings_damaged", errorMessage(fault));
    const error = internalError(asError(fault), "This run could not be carried on");
    this.options.log?.("error", "A run could not be carried on.", {
      run_id: runId,
      ...(isMarked(error.detail) ? error.detail : { error: errorMessage(fault) }),
    });
    await this.end(runId, {
      final_status: "ERROR",
      reason_code: "INTERNAL",
      output: {},
      warnings: [],
      error: fault instanceof Unwritable ? { ...error, user_action: "edit_graph" } : error,
    });
  }

  /** Puts a run aside, with the reason, until a person tries it again or cancels it. Never throws. */
  private hold(runId: string, code: HeldReason["code"], message: string): void {
    this.options.log?.("warn", "A run is held.", { run_id: runId, reason: message });
    try {
      if (!this.store.hold(runId, { code, message: heldMessage(code, message), at: this.now })) return;
    } catch (error) {
      if (isPassing(error)) setTimeout(() => this.hold(runId, code, message), TRY_AGAIN_MS);
      else
        this.options.log?.("error", "It could not be noted that a run is held.", {
          error: errorMessage(error),
        });
      return;
    }
    this.watchers.tell({
      run_id: runId,
      workflow_id: this.store.find(runId)?.workflow_id ?? null,
      status: "held",
      final_status: null,
    });
  }

  /** Ends a run without computing it any further: it keeps its log, with this as its last event. Never throws. */
  private async end(runId: string, payload: RunEventOf<"run_finished">["payload"]): Promise<void> {
    try {
      const row = this.store.find(runId);
      if (!row || row.status === "finished") return;
      const { held: _, ...rest } = row;
      const progress: RunProgress = {
        ...rest,
        status: "finished",
        final_status: payload.final_status,
        reason_code: payload.reason_code,
        finished_at: this.now,
        outcome_text: payload.error?.message ?? "",
        waits_for: null,
      };
      const event = await this.endLog(runId, payload, progress);
      if (event) this.followers.send(runId, { kind: "events", events: [event] });
      const { final_status } = payload;
      this.watchers.tell({ run_id: runId, workflow_id: row.workflow_id, status: "finished", final_status });
      if (!this.live.has(runId)) this.followers.send(runId, { kind: "end" });
    } catch (error) {
      this.options.log?.("error", "A run could not be ended.", { run_id: runId, error: errorMessage(error) });
    }
  }

  /** Answers the event; null where the log is so damaged that only the row of the run can say it. */
  private async endLog(
    runId: string,
    payload: RunEventOf<"run_finished">["payload"],
    progress: RunProgress,
  ): Promise<RunEvent | null> {
    try {
      const last = this.store.lastTurn(runId);
      const at = Math.max(last.at, progress.finished_at ?? 0);
      const event: RunEvent = { type: "run_finished", seq: last.lastSeq + 1, ts: at, payload };
      await this.writer.append({
        runId,
        turn: last.turn + 1,
        key: "$ended",
        result: { ok: true, value: null },
        at,
        lastSeq: event.seq,
        inlined: 0,
        events: [event],
        timers: [],
        progress,
      });
      await this.options.disk?.sync();
      return event;
    } catch (error) {
      this.options.log?.("warn", "The log of a run is damaged; only its row says how it ended.", {
        run_id: runId,
        error: errorMessage(error),
      });
      this.store.setProgress(runId, progress);
      return null;
    }
  }

  private forget(runId: string, run: LiveRun): void {
    if (this.live.get(runId) !== run) return;
    this.live.delete(runId);
    this.left(runId);
  }

  /** A run is out of this process. */
  private left(runId: string): void {
    this.leaving.get(runId)?.leave();
    this.leaving.delete(runId);
    this.frames.drop(runId);
    this.followers.send(runId, { kind: "end" });
    this.pump();
  }

  /** Puts a turn on its way into the log; resolves once it is there and was published. */
  private async record(turn: TurnRecord): Promise<void> {
    const run = this.live.get(turn.runId);
    const { write, asksAnew }: WrittenTurn = run?.turns?.write(turn) ?? { write: turn, asksAnew: false };
    const { progress } = write;
    await this.writer.append(write);
    // Nothing follows from what touched the world, and nobody is told, before it survives a power cut.
    if (turn.touchesWorld || progress?.status === "finished") await this.options.disk?.sync();
    if (turn.events.length > 0) this.publish(turn.runId, turn.events);
    this.taken.tell(turn.runId, turn.key, turn.events);
    if (run) this.noteProgress(turn.runId, run, progress ?? null, asksAnew);
  }

  /** Tells how a run stands after a turn, and lets it leave the memory where it only waits. */
  private noteProgress(run_id: string, run: LiveRun, progress: RunProgress | null, asksAnew: boolean): void {
    const before = run.status;
    if (progress) {
      run.status = progress.status;
      run.finalStatus = progress.final_status;
    }
    const { status, finalStatus: final_status, workflowId: workflow_id } = run;
    if (status === null) return;
    if (leavesMemory(status)) setImmediate(() => this.putToSleep(run_id, run));
    if (before === status && !asksAnew) return;
    this.watchers.tell({ run_id, workflow_id, status, final_status });
    if (before === status) return;
    // Stopped at a limit: the log holds everything, so it need not stay in memory.
    if (status === "finished" && final_status === "INCOMPLETE") setImmediate(() => this.evict(run_id, run));
    else if (leavesMemory(status)) setImmediate(() => this.pump());
  }

  private evict(runId: string, run: LiveRun): void {
    if (run.status !== "finished" || !run.engine.isIdle) return;
    run.engine.stop();
    this.forget(runId, run);
  }

  /** A run that only waits, and for long, leaves the memory; what wakes it takes it up again. */
  private putToSleep(runId: string, run: LiveRun): void {
    if (this.draining || this.live.get(runId) !== run) return;
    const sleeps = run.engine.sleepsUntil;
    if (!sleeps || (sleeps.wakeAt !== null && sleeps.wakeAt < this.now + SHORT_MS)) return;
    run.engine.stop();
    this.live.delete(runId);
    this.asleep.set(runId, sleeps.seen);
  }

  /** The words of an error that nobody foresaw, under the mark that people were told. */
  private logFault(run_id: string, event: RunEvent): void {
    if (event.type !== "node_failed" && event.type !== "agent_finished") return;
    const { error } = event.payload;
    if (error?.code === "INTERNAL" && isMarked(error.detail))
      this.options.log?.("error", "Something failed that nobody foresaw.", { run_id, ...error.detail });
  }

  private publish(runId: string, events: RunEvent[]): void {
    for (const event of events) this.logFault(runId, event);
    if (this.frames.has(runId))
      for (const event of events)
        if (event.call_id && (event.type === "llm_call_completed" || event.type === "llm_call_failed"))
          this.frames.end(runId, event.call_id);
    this.followers.send(runId, { kind: "events", events });
  }
}

/** What stopped an interpreter elsewhere, as it would have been here. */
function faultOf({ name, message, stack, edit_graph }: StretchEnd & { kind: "broke" }): Error {
  const fault = edit_graph ? new Unwritable(message) : new Error(message);
  if (!edit_graph) fault.name = name;
  if (stack) fault.stack = stack;
  return fault;
}

/** Whether a run that stands like this goes on by itself soon, or can be taken up again when it does. */
const leavesMemory = (status: RunStatus) => status === "waiting" || status === "paused";
