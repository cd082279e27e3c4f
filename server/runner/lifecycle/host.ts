import type { Disk } from "@/db/disk";
import type { InstallationRules } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import { errorMessage } from "@/server/domain/base/guards";
import { newId } from "@/server/domain/base/ids";
import { Rejection } from "@/server/domain/errors/rejection";
import type { PeopleRules } from "@/server/domain/run/events";
import type { RunningMarker } from "@/server/store/runs/running-marker";
import type { RunStore } from "@/server/store/runs/runs";
import type { Watchdog } from "@/server/store/watchdog";
import { CLOCK_CHECK_INTERVAL_MS, type Clock, WorkTime } from "../durable/clock";
import { CANCEL } from "../durable/embedded-contract";
import { type ForkRequest, planFork } from "../fork/fork";
import { INTERPRETER_VERSION } from "../interpreter/execute";
import { followRun } from "../log/follow-run";
import { Followers, type RunFrame, Watchers } from "../log/followers";
import { Frames, type StreamRedactor } from "../log/frames";
import { LogWriter } from "../log/log-writer";
import { TurnRecorder } from "../log/record-turns";
import { placeOf } from "../log/turn-write";
import type { Effects } from "../node/ports";
import { CommandWaiters } from "../people/command-waiters";
import { Steering } from "../people/steering";
import { ChildRuns } from "./child-runs";
import { Computing } from "./crash-suspects";
import { CreationCache } from "./creation-cache";
import type { HostLog } from "./host-log";
import { LiveRuns } from "./live-runs";
import { Recovery } from "./recovery";
import type { RemoteEngine } from "./remote-engine";
import { RunEndings } from "./run-endings";
import { RunExecutor } from "./run-executor";
import { SegmentReceiver } from "./segment-progress";
import { creationOf, type StartRequest } from "./start-request";
import { WakeDue } from "./wake-due";

export interface HostOptions {
  store: RunStore;
  effects: Effects;
  /** Absent where nothing has to survive a power cut. */
  disk?: Disk;
  /** Max runs executing at the same time; waiting runs don't count. A function if it can change. */
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
  runningMarker?: RunningMarker;
  /** Sees when this thread no longer responds, and notes for what run it executes then. */
  watchdog?: Watchdog;
  /** Whether the last process crashed, rather than being killed or stopped. */
  crashed?: boolean;
  /** Executes runs in other processes; absent if there is none. */
  remoteEngine?: RemoteEngine;
  log?: HostLog;
}

/** After a start, questions with less time left than this get more; waits that end this soon are resumed at once. */
const RESUME_DUE_WITHIN_MS = 5 * 60_000;

/** The active runs: starts, resumes and cancels them; writes events first, then notifies followers. */
export class Host {
  /** What people tell runs. */
  readonly steering: Steering;
  /** Waits for what a run makes of a command. */
  readonly waiters = new CommandWaiters();
  /** Who watches all runs change their status. */
  readonly watchers = new Watchers();
  readonly live = new LiveRuns();
  /** Streamed text of runs, wherever it is written. */
  readonly frames: Frames;
  /** What workers report; absent where no other process executes runs. */
  readonly segments: SegmentReceiver | undefined;
  readonly workerId = `${process.pid}-${Date.now().toString(36)}`;
  private readonly creationCache = new CreationCache();
  private readonly followers = new Followers();
  private readonly time: WorkTime;
  private readonly writer: LogWriter;
  private readonly computing: Computing;
  private readonly endings: RunEndings;
  private readonly runs: RunExecutor;
  private readonly recovery: Recovery;
  private readonly children: ChildRuns;
  private readonly due: WakeDue;
  private readonly clockTimer: ReturnType<typeof setInterval>;
  /** Whether runs of an earlier process may still wait outside the memory of this one. */
  private hasLeftSome = false;

  constructor(private readonly options: HostOptions) {
    const { store, disk, log, remoteEngine, rules, redact, effects, maxRuns } = options;
    const { runningMarker, watchdog, crashed } = options;
    const { live, followers, watchers, waiters, creationCache, workerId } = this;
    const time = new WorkTime(options.clock);
    const { clock } = time;
    const computing = new Computing({ runningMarker, watchdog, crashed, store, log });
    const frames = new Frames(
      (id, made) => followers.send(id, { kind: "live", frames: made }),
      options.streamRedactor,
    );
    const writer = new LogWriter(
      (writes) => {
        computing.note(writes.map(({ runId }) => runId));
        store.write(writes);
      },
      (message, error) => log?.("warn", message, { error: errorMessage(error) }),
    );
    const turns = new TurnRecorder({ writer, disk, live, frames, followers, watchers, waiters, log });
    const endings = new RunEndings({
      ...{ store, writer, disk, live, followers, watchers, clock, log },
      ended: (id) => this.children.cancelChildren(id),
    });
    const children = new ChildRuns({
      ...{ store, live, watchers },
      runs: { start: (id, workflowId) => this.runs.start(id, workflowId) },
      creation: (request) => this.creation(request),
      now: () => clock.now(),
      begin: (id, created, isFork) => {
        if (!isFork) creationCache.keep(id, created);
        this.begin(id, created.payload.workflow_id);
      },
      cancel: (id, about) => this.cancel(id, about),
    });
    const runs = new RunExecutor({
      mayLeave: (id) => children.mayLeave(id),
      effects: { ...effects, runs: children },
      ...{ store, remoteEngine, rules, redact, time, workerId, maxRuns },
      ...{ live, creationCache, computing, waiters, frames, followers, turns, endings },
    });
    this.steering = new Steering({ store, waiters, clock, live, runs });
    this.segments =
      remoteEngine && new SegmentReceiver({ remoteEngine, store, turns, endings, live, runs, time });
    this.recovery = new Recovery({ store, live, runs, endings, remoteEngine });
    this.due = new WakeDue({ store, live, runs });
    this.children = children;
    this.time = time;
    this.computing = computing;
    this.frames = frames;
    this.writer = writer;
    this.endings = endings;
    this.runs = runs;
    this.clockTimer = setInterval(() => this.checkClock(), CLOCK_CHECK_INTERVAL_MS);
    this.clockTimer.unref();
  }

  /** Updates the work time, and tells runs if the clock jumped or the machine slept. */
  private checkClock(): void {
    this.time.read();
    for (const { engine } of this.live.all()) engine.checkClock();
    if (this.live.hasSleepers || this.hasLeftSome) this.due.wake(this.now);
    if (this.hasLeftSome) this.retryQuarantined();
  }

  private get now(): number {
    return this.time.clock.now();
  }

  private get store(): RunStore {
    return this.options.store;
  }

  /** Creates a run and queues it. The same idempotency key gives the same run; throws Rejection. */
  start(request: StartRequest): { run_id: string; created: boolean } {
    this.refuseMore();
    const id = newId("run");
    const created = this.creation(request);
    const made = this.store.create({
      id,
      created,
      interpreterVersion: INTERPRETER_VERSION,
      idempotencyKey: request.idempotency_key ?? null,
      ...defined({ requestHash: request.request_hash }),
    });
    if (made.created) {
      this.creationCache.keep(id, created);
      this.begin(id, request.workflow_id);
    }
    return { run_id: made.id, created: made.created };
  }

  private creation(request: StartRequest) {
    const { people, redact } = this.options;
    const past_work = this.store.pastWork(placeOf(request), request.graph);
    return creationOf(request, { now: this.now, past_work, people, redact });
  }

  /** Creates a run that begins as another one went, and queues it. Throws Rejection, DamagedLog. */
  fork(request: ForkRequest): { run_id: string; at_seq: number; warnings?: string[] } {
    this.refuseMore();
    const { redact } = this.options;
    // A key that is typed into the workflow still has to be sent.
    const redacted = redact ? { ...redact(request), latest: request.latest } : request;
    const { origin, warnings, ...planned } = planFork(this.store, redacted, this.now);
    const id = newId("run");
    this.store.create({ id, idempotencyKey: null, origin, ...planned });
    this.begin(id, planned.created.payload.workflow_id);
    return {
      run_id: id,
      at_seq: origin.seq,
      ...defined({ warnings: warnings.length > 0 ? warnings : undefined }),
    };
  }

  private refuseMore(): void {
    if (this.runs.queue.size >= (this.options.maxQueued ?? 1000))
      throw new Rejection("queue_full", "Too many runs are queued. Try again shortly.");
  }

  private begin(id: string, workflow_id: string | null): void {
    this.runs.queue.add(id, workflow_id);
    this.watchers.notify({ run_id: id, workflow_id, status: "queued", final_status: null });
    this.runs.startQueued();
  }

  /** Takes up every run that had not ended, each where its log ends, a few at a time. Answers how many. */
  recover(): number {
    const stopped = this.computing.noteWhatStopped();
    this.hasLeftSome = true;
    this.store.listOldQuestions();
    for (const id of this.options.remoteEngine?.runs() ?? []) this.resumeRemote(id);
    this.recovery.begin(this.now + RESUME_DUE_WITHIN_MS, stopped);
    this.retryQuarantined();
    this.children.cancelOrphans();
    this.runs.startQueued();
    return this.store.countUnfinished();
  }

  /** Cancels a run in any state; false if it has ended. */
  cancel(runId: string, about: { by: string; reason: string }): boolean {
    const run = this.store.find(runId);
    if (!run || run.status === "finished") return false;
    const live = this.live.get(runId);
    // What cannot be computed, or better is not, is ended without.
    if (!live && run.status === "held") {
      void this.endings
        .end(runId, { final_status: "CANCELLED", reason_code: "CANCELLED", output: {}, warnings: [] })
        .then(() => this.waiters.settle(runId, CANCEL, []));
      return true;
    }
    this.creationCache.take(runId);
    this.store.signal(runId, "cancel", about, this.now);
    if (live) live.engine.deliver("cancel", about);
    else {
      this.runs.queue.remove(runId);
      this.runs.start(runId, run.workflow_id);
    }
    return true;
  }

  private retryQuarantined(): void {
    if (this.isDraining) return;
    for (const id of this.store.retriesDue(this.now)) this.tryAgain(id, { keepsStops: true });
  }

  /** Retries a quarantined run; false if it is not quarantined. `keepsStops`: its earlier stops of the server still count. */
  tryAgain(runId: string, { keepsStops = false } = {}): boolean {
    const { remoteEngine } = this.options;
    const segment = remoteEngine?.activeSegment(runId) ?? null;
    const status = this.store.release(runId, keepsStops);
    if (status === null) return false;
    // If its engine is known, the run continues there; otherwise a person decided that it continues here.
    if (segment !== null && !remoteEngine?.isConfigured) remoteEngine?.over(runId, segment);
    const workflowId = this.store.find(runId)?.workflow_id ?? null;
    this.watchers.notify({ run_id: runId, workflow_id: workflowId, status, final_status: null });
    if (status === "queued") {
      this.runs.queue.add(runId, workflowId);
      this.runs.startQueued();
    } else this.runs.start(runId, workflowId);
    return true;
  }

  get isDraining(): boolean {
    return this.runs.isDraining;
  }

  /**
   * Follows a run: first what the log holds after `after`, then what happens. It listens from the moment of the
   * call, so that nothing between the two is lost. Ends after the last event of a finished run.
   */
  follow(runId: string, after: number, signal?: AbortSignal): AsyncGenerator<RunFrame> {
    const { store, followers, frames, live } = this;
    return followRun({ store, followers, frames, live }, runId, after, signal);
  }

  /** Resolves when the run is out of this process: ended, or stopped at a limit. */
  async settled(runId: string): Promise<void> {
    if (this.live.isUnrecovered(runId)) await this.recovery.done;
    await this.live.gone(runId);
  }

  /** Stops accepting work and lets running steps finish, for at most `ms`. The rest resumes at the next start. */
  async drain(ms: number): Promise<void> {
    this.runs.freeze();
    this.recovery.stop();
    this.watchers.close();
    const end = Date.now() + ms;
    while (Date.now() < end && [...this.live.all()].some(({ engine }) => engine.inFlight > 0))
      await new Promise((resolve) => setTimeout(resolve, 20));
    while (this.writer.size > 0 && Date.now() < end) await new Promise((resolve) => setImmediate(resolve));
    await this.options.disk?.sync();
    for (const { engine } of this.live.all()) engine.stop();
    this.followers.close();
    this.frames.stop();
    clearInterval(this.clockTimer);
    this.computing.close();
  }

  /** After a start: reconnects to a run that executes in other processes. */
  private resumeRemote(runId: string): void {
    const run = this.store.find(runId);
    if (!run) return;
    if (run.held?.code === "engine_missing" && this.options.remoteEngine?.isConfigured) this.tryAgain(runId);
    else if (run.status !== "held") this.runs.start(runId, run.workflow_id);
  }
}
